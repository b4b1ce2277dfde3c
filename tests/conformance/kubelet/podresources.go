package main

import (
	"net"
	"os"

	"google.golang.org/grpc"
	api "k8s.io/kubelet/pkg/apis/podresources/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
)

// Serves the real pod resources API; kubelet/server does the same, and needs all of the kubelet.
func (p *plane) startPodResources() error {
	if err := os.MkdirAll(podResourcesDir, 0o750); err != nil {
		return err
	}
	if err := os.RemoveAll(podResourcesSocket); err != nil {
		return err
	}
	listener, err := net.Listen("unix", podResourcesSocket)
	if err != nil {
		return err
	}
	server := grpc.NewServer(rateLimit())
	api.RegisterPodResourcesListerServer(server, podResources(p))
	go func() { _ = server.Serve(listener) }()
	return nil
}

// Copied from the container manager, which keeps it to itself: one entry per device and node.
func containerDevices(of devicemanager.ResourceDeviceInstances) []*api.ContainerDevices {
	var all []*api.ContainerDevices
	for resource, devices := range of {
		for id, device := range devices {
			topology := device.GetTopology()
			if topology == nil {
				all = append(all, &api.ContainerDevices{ResourceName: resource, DeviceIds: []string{id}})
				continue
			}
			for _, node := range topology.GetNodes() {
				all = append(all, &api.ContainerDevices{
					ResourceName: resource,
					DeviceIds:    []string{id},
					Topology:     &api.TopologyInfo{Nodes: []*api.NUMANode{{ID: node.GetID()}}},
				})
			}
		}
	}
	return all
}
