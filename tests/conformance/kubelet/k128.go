//go:build k128

package main

import (
	cadvisor "github.com/google/cadvisor/info/v1"
	"google.golang.org/grpc"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	api "k8s.io/kubelet/pkg/apis/podresources/v1"
	"k8s.io/kubernetes/pkg/kubelet/apis/podresources"
	podgrpc "k8s.io/kubernetes/pkg/kubelet/apis/podresources/grpc"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
)

func machine(nodes []int) (topology []cadvisor.Node) {
	for _, id := range nodes {
		topology = append(topology, cadvisor.Node{Id: id})
	}
	return topology
}

func newTopologyManager(nodes []int, policy string) (topologymanager.Manager, error) {
	return topologymanager.NewManager(machine(nodes), policy, "container", nil)
}

func newDeviceManager(nodes []int, topology topologymanager.Manager) (*devicemanager.ManagerImpl, error) {
	devices, err := devicemanager.NewManagerImpl(machine(nodes), topology)
	if err == nil {
		topology.AddHintProvider(devices)
	}
	return devices, err
}

func startDeviceManager(devices *devicemanager.ManagerImpl, pods *pods) error {
	known, running := pods.running()
	return devices.Start(pods.GetActivePods, sourcesReady{}, known, sets.NewString(running...))
}

func runPlugins(plugins pluginmanager.PluginManager) {
	plugins.Run(sourcesReady{}, wait.NeverStop)
}

func admit(topology topologymanager.Manager, pod *v1.Pod, others []*v1.Pod) lifecycle.PodAdmitResult {
	return topology.Admit(&lifecycle.PodAdmitAttributes{Pod: pod, OtherPods: others})
}

func runContainer(devices *devicemanager.ManagerImpl, pod *v1.Pod, container *v1.Container) (*devicemanager.DeviceRunContainerOptions, error) {
	return devices.GetDeviceRunContainerOptions(pod, container)
}

func capacity(devices *devicemanager.ManagerImpl) (v1.ResourceList, v1.ResourceList) {
	full, free, _ := devices.GetCapacity()
	return full, free
}

func allocatable(devices *devicemanager.ManagerImpl) devicemanager.ResourceDeviceInstances {
	return devices.GetAllocatableDevices()
}

func hints(devices *devicemanager.ManagerImpl, pod *v1.Pod, container *v1.Container) map[string][]topologymanager.TopologyHint {
	return devices.GetTopologyHints(pod, container)
}

func check(*devicemanager.ManagerImpl) error {
	return nil // this release has no such check
}

func rateLimit() grpc.ServerOption {
	return podgrpc.WithRateLimiter(podgrpc.DefaultQPS, podgrpc.DefaultBurstTokens)
}

func podResources(of *plane) api.PodResourcesListerServer {
	return podresources.NewV1PodResourcesServer(podresources.PodResourcesProviders{
		Pods: &of.pods, Devices: shown{of}, Cpus: nothing{}, Memory: nothing{}, DynamicResources: nothing{},
	})
}

type shown struct{ *plane }

func (s shown) UpdateAllocatedDevices() { s.devices.UpdateAllocatedDevices() }

func (s shown) GetDevices(pod, container string) []*api.ContainerDevices {
	return containerDevices(s.devices.GetDevices(pod, container))
}

func (s shown) GetAllocatableDevices() []*api.ContainerDevices {
	return containerDevices(allocatable(s.devices))
}

// Other managers of resources: none.
type nothing struct{}

func (nothing) GetCPUs(string, string) []int64 { return nil }
func (nothing) GetAllocatableCPUs() []int64    { return nil }

func (nothing) GetMemory(string, string) []*api.ContainerMemory { return nil }
func (nothing) GetAllocatableMemory() []*api.ContainerMemory    { return nil }

func (nothing) GetDynamicResources(*v1.Pod, *v1.Container) []*api.DynamicResource { return nil }
