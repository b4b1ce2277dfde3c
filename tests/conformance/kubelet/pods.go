package main

import (
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
)

type container struct {
	Name        string           `json:"name"`
	Resources   map[string]int64 `json:"resources"`
	Init        bool             `json:"init"`
	Restartable bool             `json:"restartable"`
}

type pod struct {
	Name       string      `json:"name"`
	Namespace  string      `json:"namespace"`
	UID        string      `json:"uid"`
	Containers []container `json:"containers"`
}

func (p pod) spec() *v1.Pod {
	made := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: p.Name, Namespace: p.Namespace, UID: types.UID(p.UID),
	}}
	for _, each := range p.Containers {
		if each.Init {
			made.Spec.InitContainers = append(made.Spec.InitContainers, each.spec())
		} else {
			made.Spec.Containers = append(made.Spec.Containers, each.spec())
		}
	}
	return made
}

func (c container) spec() v1.Container {
	asked := v1.ResourceList{}
	for name, size := range c.Resources {
		asked[v1.ResourceName(name)] = *resource.NewQuantity(size, resource.DecimalSI)
	}
	made := v1.Container{Name: c.Name}
	made.Resources.Limits = asked
	made.Resources.Requests = asked
	if c.Restartable {
		always := v1.ContainerRestartPolicyAlways
		made.RestartPolicy = &always
	}
	return made
}

func containerOf(of *v1.Pod, name string) *v1.Container {
	for _, list := range [][]v1.Container{of.Spec.InitContainers, of.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}

// The pods of the node. Those that are being admitted count, as in a kubelet.
type pods struct {
	mutex sync.Mutex
	byUID map[types.UID]*v1.Pod
}

func (p *pods) add(pod *v1.Pod) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.byUID == nil {
		p.byUID = map[types.UID]*v1.Pod{}
	}
	p.byUID[pod.UID] = pod
}

func (p *pods) remove(uid types.UID) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	delete(p.byUID, uid)
}

func (p *pods) GetPods() []*v1.Pod {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	all := make([]*v1.Pod, 0, len(p.byUID))
	for _, each := range p.byUID {
		all = append(all, each)
	}
	return all
}

func (p *pods) GetActivePods() []*v1.Pod { return p.GetPods() }

func (p *pods) GetPodByName(namespace, name string) (*v1.Pod, bool) {
	for _, each := range p.GetPods() {
		if each.Namespace == namespace && each.Name == name {
			return each, true
		}
	}
	return nil, false
}

// Says of each container of these pods that it was found running, and returns their ids, too.
func (p *pods) running() (containermap.ContainerMap, []string) {
	known, ids := containermap.NewContainerMap(), []string{}
	for _, each := range p.GetPods() {
		for _, of := range each.Spec.Containers {
			id := string(each.UID) + "/" + of.Name
			known.Add(string(each.UID), of.Name, id)
			ids = append(ids, id)
		}
	}
	return known, ids
}
