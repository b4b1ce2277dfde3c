"""The bytes and the names on the wire are the kubelet's.

The bytes were put together by hand from the numbers in the kubelet's contract, so that a slip in
our own .proto text, which the generated code would faithfully repeat, cannot hide.
"""

from collections.abc import Iterable, Iterator
from typing import cast

import pytest
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.message import Message

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as plugin
from deviceplugin.adapters.kubelet.wire import pluginregistration_pb2 as registry
from deviceplugin.adapters.kubelet.wire import podresources_pb2 as pods

FILES: tuple[FileDescriptor, ...] = (plugin.DESCRIPTOR, registry.DESCRIPTOR, pods.DESCRIPTOR)

GOLDEN: dict[str, tuple[Message, str]] = {
    "Register": (
        plugin.RegisterRequest(
            version="v1beta1",
            endpoint="w.sock",
            resource_name="example.com/widget",
            options=plugin.DevicePluginOptions(get_preferred_allocation_available=True),
        ),
        "0a07 763162657461311206 772e736f636b1a12 6578616d706c652e636f6d2f7769646765742202 1001",
    ),
    "options": (plugin.DevicePluginOptions(pre_start_required=True), "0801"),
    "empty": (plugin.Empty(), ""),
    "no devices": (plugin.ListAndWatchResponse(), ""),
    "a device on two nodes, the first of them node 0": (
        plugin.ListAndWatchResponse(
            devices=[
                plugin.Device(
                    ID="a",
                    health="Healthy",
                    topology=plugin.TopologyInfo(
                        nodes=[plugin.NUMANode(ID=0), plugin.NUMANode(ID=1)]
                    ),
                )
            ]
        ),
        (
            "0a14"  # a device of 20 bytes
            "0a01 61"
            "1207 4865616c746879"
            "1a06 0a00 0a02 0801"  # node 0 is there, and empty
        ),
    ),
    "a device whose place is known to be nowhere": (
        plugin.Device(ID="a", topology=plugin.TopologyInfo()),
        "0a01 61 1a00",
    ),
    "a device whose place is unknown": (plugin.Device(ID="a"), "0a01 61"),
    "GetPreferredAllocation asked": (
        plugin.PreferredAllocationRequest(
            container_requests=[
                plugin.ContainerPreferredAllocationRequest(
                    available_deviceIDs=["a", "b"],
                    must_include_deviceIDs=["a"],
                    allocation_size=2,
                )
            ]
        ),
        "0a0b 0a0161 0a0162 120161 1802",
    ),
    "GetPreferredAllocation answered": (
        plugin.PreferredAllocationResponse(
            container_responses=[plugin.ContainerPreferredAllocationResponse(deviceIDs=["a", "b"])]
        ),
        "0a06 0a0161 0a0162",
    ),
    "Allocate asked": (
        plugin.AllocateRequest(
            container_requests=[plugin.ContainerAllocateRequest(devices_ids=["a", "b"])]
        ),
        "0a06 0a0161 0a0162",
    ),
    "Allocate answered, with all there is to give": (
        plugin.AllocateResponse(
            container_responses=[
                plugin.ContainerAllocateResponse(
                    envs={"E": "1"},
                    mounts=[plugin.Mount(container_path="/c", host_path="/h", read_only=True)],
                    devices=[
                        plugin.DeviceSpec(container_path="/c", host_path="/h", permissions="rw")
                    ],
                    annotations={"k": "v"},
                    cdi_devices=[plugin.CDIDevice(name="v/c=0")],
                )
            ]
        ),
        (
            "0a33"  # a container of 51 bytes
            "0a06 0a0145 120131"
            "120a 0a022f63 12022f68 1801"
            "1a0c 0a022f63 12022f68 1a027277"
            "2206 0a016b 120176"
            "2a07 0a05762f633d30"
        ),
    ),
    "PreStartContainer asked": (
        plugin.PreStartContainerRequest(devices_ids=["a"]),
        "0a0161",
    ),
    "GetInfo answered": (
        registry.PluginInfo(
            type="DevicePlugin", name="e.io/w", endpoint="/s", supported_versions=["v1beta1"]
        ),
        "0a0c 446576696365506c7567696e 1206 652e696f2f77 1a02 2f73 2207 76316265746131",
    ),
    "registered": (registry.RegistrationStatus(plugin_registered=True), "0801"),
    "not registered": (registry.RegistrationStatus(error="no"), "1202 6e6f"),
    "List answered": (
        pods.ListPodResourcesResponse(
            pod_resources=[
                pods.PodResources(
                    name="p",
                    namespace="n",
                    containers=[
                        pods.ContainerResources(
                            name="c",
                            devices=[
                                pods.ContainerDevices(
                                    resource_name="e.io/w",
                                    device_ids=["a"],
                                    topology=pods.TopologyInfo(nodes=[pods.NUMANode(ID=0)]),
                                )
                            ],
                            cpu_ids=[1, 2],
                            memory=[pods.ContainerMemory(memory_type="memory", size=300)],
                            dynamic_resources=[
                                pods.DynamicResource(
                                    claim_name="cl",
                                    claim_namespace="n",
                                    claim_resources=[
                                        pods.ClaimResource(
                                            cdi_devices=[pods.CDIDevice(name="v/c=0")],
                                            driver_name="d",
                                            pool_name="p",
                                            device_name="x",
                                            share_id="s",
                                        )
                                    ],
                                )
                            ],
                        )
                    ],
                    cpu_ids=[1, 2],
                    memory=[
                        pods.ContainerMemory(
                            memory_type="memory",
                            size=300,
                            topology=pods.TopologyInfo(nodes=[pods.NUMANode(ID=1)]),
                        )
                    ],
                )
            ]
        ),
        (
            "0a64"  # a pod of 100 bytes
            "0a0170 12016e"
            "1a45"  # a container of 69 bytes
            "0a0163"
            "120f 0a06652e696f2f77 120161 1a020a00"
            "1a02 0102"  # numbers are packed
            "220b 0a066d656d6f7279 10ac02"
            "2a1e 1202636c 1a016e"  # the claim begins with field 2
            "2215 0a070a05762f633d30 120164 1a0170 220178 2a0173"
            "2202 0102"
            "2a11 0a066d656d6f7279 10ac02 1a040a020801"
        ),
    ),
    "GetAllocatableResources answered": (
        pods.AllocatableResourcesResponse(
            devices=[pods.ContainerDevices(resource_name="e.io/w", device_ids=["a", "b"])],
            cpu_ids=[0, 1, 300],
            memory=[pods.ContainerMemory(size=1)],
        ),
        "0a0e 0a06652e696f2f77 120161 120162 1204 0001ac02 1a02 1001",
    ),
    "Get asked": (
        pods.GetPodResourcesRequest(pod_name="p", pod_namespace="n"),
        "0a0170 12016e",
    ),
    "Get answered": (
        pods.GetPodResourcesResponse(pod_resources=pods.PodResources(name="p")),
        "0a03 0a0170",
    ),
}


@pytest.mark.parametrize(("message", "octets"), GOLDEN.values(), ids=GOLDEN)
def test_a_message_is_written_as_the_kubelet_writes_it(message: Message, octets: str) -> None:
    assert message.SerializeToString(deterministic=True).hex() == octets.replace(" ", "")


@pytest.mark.parametrize(("message", "octets"), GOLDEN.values(), ids=GOLDEN)
def test_a_message_of_the_kubelet_is_read(message: Message, octets: str) -> None:
    assert type(message).FromString(bytes.fromhex(octets)) == message


def fields(message: Message) -> Iterator[str]:
    """Yield the full name of each field that is set, at any depth."""
    for field, value in message.ListFields():
        yield field.full_name
        parts = cast("Iterable[object]", value) if isinstance(value, Iterable) else [value]
        for each in parts:
            if isinstance(each, Message):
                yield from fields(each)


def test_the_bytes_cover_every_field() -> None:
    """A field that no sample sets is a field whose number nobody has checked."""
    known = {
        field.full_name
        for file in FILES
        for message in file.message_types_by_name.values()
        for field in message.fields
    }
    covered = {name for message, _ in GOLDEN.values() for name in fields(message)}
    assert known - covered == set()


def test_an_absent_topology_differs_from_an_empty_one() -> None:
    """The kubelet reads "don't know" from one and "nowhere" from the other."""
    assert not plugin.Device.FromString(b"").HasField("topology")
    assert plugin.Device.FromString(bytes.fromhex("1a00")).HasField("topology")


def test_what_a_newer_kubelet_adds_is_passed_over() -> None:
    unknown = bytes.fromhex("0a0161 fa0101 78")  # field 31
    assert plugin.ContainerAllocateRequest.FromString(unknown).devices_ids == ["a"]


def test_the_methods_are_the_kubelets() -> None:
    """Full names as HTTP/2 paths, with what goes in and comes out; > marks a stream."""
    methods = {
        f"/{service.full_name}/{method.name}": (
            f"{method.input_type.name} -> {'>' * method.server_streaming}{method.output_type.name}"
        )
        for file in FILES
        for service in file.services_by_name.values()
        for method in service.methods
    }
    assert methods == {
        "/v1beta1.Registration/Register": "RegisterRequest -> Empty",
        "/v1beta1.DevicePlugin/GetDevicePluginOptions": "Empty -> DevicePluginOptions",
        "/v1beta1.DevicePlugin/ListAndWatch": "Empty -> >ListAndWatchResponse",
        "/v1beta1.DevicePlugin/GetPreferredAllocation": (
            "PreferredAllocationRequest -> PreferredAllocationResponse"
        ),
        "/v1beta1.DevicePlugin/Allocate": "AllocateRequest -> AllocateResponse",
        "/v1beta1.DevicePlugin/PreStartContainer": (
            "PreStartContainerRequest -> PreStartContainerResponse"
        ),
        "/pluginregistration.Registration/GetInfo": "InfoRequest -> PluginInfo",
        "/pluginregistration.Registration/NotifyRegistrationStatus": (
            "RegistrationStatus -> RegistrationStatusResponse"
        ),
        "/v1.PodResourcesLister/List": "ListPodResourcesRequest -> ListPodResourcesResponse",
        "/v1.PodResourcesLister/GetAllocatableResources": (
            "AllocatableResourcesRequest -> AllocatableResourcesResponse"
        ),
        "/v1.PodResourcesLister/Get": "GetPodResourcesRequest -> GetPodResourcesResponse",
    }
