// Only marks the root of the module. Each Kubernetes has a go.mod of its own, which tests/kubelets/build writes.
module deviceplugin.example/kubelet

go 1.20
