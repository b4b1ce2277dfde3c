package main

import (
	"errors"
	"fmt"
	"os"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	watcherapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
)

const (
	kubeletDir         = "/var/lib/kubelet/"
	registryDir        = kubeletDir + "plugins_registry"
	podResourcesDir    = kubeletDir + "pod-resources"
	podResourcesSocket = podResourcesDir + "/kubelet.sock"
)

// What the kubelet's sources of pods are asked: whether all have been heard.
type sourcesReady struct{}

func (sourcesReady) AddSource(string) {}
func (sourcesReady) AllReady() bool   { return true }

// The device plane of one kubelet. The container manager of the real one puts it together the
// same way, and in this order.
type plane struct {
	pods     pods
	topology topologymanager.Manager
	devices  *devicemanager.ManagerImpl
	// Pods are admitted one after the other.
	admission sync.Mutex
}

func (p *plane) do(asked command) (interface{}, error) {
	if asked.Do == "start" {
		return "started", p.start(asked)
	}
	if p.devices == nil {
		return nil, errors.New("start it first")
	}
	switch asked.Do {
	case "admit":
		return p.admit(asked.Pod.spec()), nil
	case "remove":
		p.pods.remove(types.UID(asked.Pod.UID))
		return "removed", nil
	case "run":
		return p.run(asked.Pod.spec(), asked.Container)
	case "resource":
		return p.resource(asked.Resource), nil
	case "node":
		return p.node(), nil
	case "hints":
		return p.hints(asked.Pod.spec(), asked.Container)
	case "cut":
		return cut()
	case "health":
		return p.health(), nil
	}
	return nil, fmt.Errorf("unknown command %q", asked.Do)
}

func (p *plane) start(asked command) (err error) {
	for _, each := range asked.Active {
		p.pods.add(each.spec())
	}
	if p.topology, err = newTopologyManager(asked.Nodes, asked.Policy); err != nil {
		return err
	}
	devices, err := newDeviceManager(asked.Nodes, p.topology)
	if err != nil {
		return err
	}
	if err := startDeviceManager(devices, &p.pods); err != nil {
		return err
	}
	p.devices = devices
	if err := p.startPlugins(); err != nil {
		return err
	}
	return p.startPodResources()
}

func (p *plane) startPlugins() error {
	if err := os.MkdirAll(registryDir, 0o755); err != nil {
		return err
	}
	plugins := pluginmanager.NewPluginManager(registryDir, &record.FakeRecorder{})
	plugins.AddHandler(watcherapi.DevicePlugin, p.devices.GetWatcherHandler())
	go runPlugins(plugins)
	return nil
}

type verdict struct {
	Admitted bool                           `json:"admitted"`
	Reason   string                         `json:"reason"`
	Message  string                         `json:"message"`
	Devices  map[string]map[string][]string `json:"devices"`
}

// Admits a pod as the kubelet does: through the topology manager, whose policy may be none.
func (p *plane) admit(pod *v1.Pod) verdict {
	p.admission.Lock()
	defer p.admission.Unlock()
	p.pods.add(pod)
	result := admit(p.topology, pod, p.pods.GetPods())
	if !result.Admit {
		p.pods.remove(pod.UID)
		return verdict{Reason: result.Reason, Message: result.Message}
	}
	held := map[string]map[string][]string{}
	for _, list := range [][]v1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, each := range list {
			held[each.Name] = map[string][]string{}
			for resource, devices := range p.devices.GetDevices(string(pod.UID), each.Name) {
				for id := range devices {
					held[each.Name][resource] = append(held[each.Name][resource], id)
				}
			}
		}
	}
	return verdict{Admitted: true, Devices: held}
}

type node struct {
	Host       string `json:"host"`
	Container  string `json:"container"`
	Permission string `json:"permissions"`
}

type mount struct {
	Host      string `json:"host"`
	Container string `json:"container"`
	ReadOnly  bool   `json:"read_only"`
}

type runOptions struct {
	Envs        map[string]string `json:"envs"`
	Annotations map[string]string `json:"annotations"`
	Devices     []node            `json:"devices"`
	Mounts      []mount           `json:"mounts"`
	CDI         []string          `json:"cdi"`
}

// Returns what a container is made with. The plugin's PreStartContainer is called on the way.
func (p *plane) run(pod *v1.Pod, name string) (*runOptions, error) {
	container := containerOf(pod, name)
	if container == nil {
		return nil, fmt.Errorf("no container %q", name)
	}
	given, err := runContainer(p.devices, pod, container)
	if err != nil {
		return nil, err
	}
	made := &runOptions{Envs: map[string]string{}, Annotations: map[string]string{}}
	if given == nil {
		return made, nil
	}
	for _, each := range given.Envs {
		made.Envs[each.Name] = each.Value
	}
	for _, each := range given.Annotations {
		made.Annotations[each.Name] = each.Value
	}
	for _, each := range given.Devices {
		made.Devices = append(made.Devices, node{each.PathOnHost, each.PathInContainer, each.Permissions})
	}
	for _, each := range given.Mounts {
		made.Mounts = append(made.Mounts, mount{each.HostPath, each.ContainerPath, each.ReadOnly})
	}
	for _, each := range given.CDIDevices {
		made.CDI = append(made.CDI, each.Name)
	}
	return made, nil
}

type quantity struct {
	Capacity    int64 `json:"capacity"`
	Allocatable int64 `json:"allocatable"`
}

type resourceView struct {
	quantity
	Known bool `json:"known"`
	// The NUMA nodes of each healthy device; null if it has no topology.
	Healthy map[string][]int64 `json:"healthy"`
}

// Returns what the node shows of each resource. A kubelet asks this every ten seconds or so.
func (p *plane) node() map[string]quantity {
	full, free := capacity(p.devices)
	shown := map[string]quantity{}
	for name, size := range full {
		left := free[name]
		shown[string(name)] = quantity{size.Value(), left.Value()}
	}
	return shown
}

func (p *plane) resource(name string) resourceView {
	shown, known := p.node()[name]
	view := resourceView{quantity: shown, Known: known, Healthy: map[string][]int64{}}
	for id, device := range allocatable(p.devices)[name] {
		view.Healthy[id] = nil
		if device.Topology != nil {
			view.Healthy[id] = []int64{}
			for _, node := range device.Topology.Nodes {
				view.Healthy[id] = append(view.Healthy[id], node.ID)
			}
		}
	}
	return view
}

type hint struct {
	Nodes     []int `json:"nodes"`
	Preferred bool  `json:"preferred"`
}

// Returns the hints for a container by resource; null stands for "no preference".
func (p *plane) hints(pod *v1.Pod, name string) (map[string][]hint, error) {
	container := containerOf(pod, name)
	if container == nil {
		return nil, fmt.Errorf("no container %q", name)
	}
	made := map[string][]hint{}
	for resource, given := range hints(p.devices, pod, container) {
		made[resource] = nil
		if given != nil {
			made[resource] = []hint{}
		}
		for _, each := range given {
			made[resource] = append(made[resource], hint{each.NUMANodeAffinity.GetBits(), each.Preferred})
		}
	}
	return made, nil
}

type health struct {
	Healthy bool   `json:"healthy"`
	Problem string `json:"problem"`
}

func (p *plane) health() health {
	if err := check(p.devices); err != nil {
		return health{Problem: err.Error()}
	}
	return health{Healthy: true}
}
