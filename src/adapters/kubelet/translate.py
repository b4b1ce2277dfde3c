"""The one place where the kubelet's messages and the domain's values meet."""

from collections.abc import Iterable
from typing import Final

from deviceplugin.adapters.kubelet.held import HeldByName, collected
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2 import (
    AllocateResponse,
    CDIDevice,
    ContainerAllocateResponse,
    ContainerPreferredAllocationRequest,
    ContainerPreferredAllocationResponse,
    Device,
    DevicePluginOptions,
    DeviceSpec,
    ListAndWatchResponse,
    Mount,
    NUMANode,
    PreferredAllocationResponse,
    RegisterRequest,
    TopologyInfo,
)
from deviceplugin.adapters.kubelet.wire.pluginregistration_pb2 import PluginInfo
from deviceplugin.adapters.kubelet.wire.podresources_pb2 import ListPodResourcesResponse
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import InvalidDeviceError, UnknownDeviceError
from deviceplugin.domain.inventory import ListedDevice, Listing
from deviceplugin.domain.ports.driven.kubelet import Registration
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.preference import Wish
from deviceplugin.domain.resources import ResourceName

API_VERSION: Final = "v1beta1"
"""The only version that any kubelet since 1.10 speaks."""

PLUGIN_TYPE: Final = "DevicePlugin"
"""What a device plugin is in plugins_registry, where other kinds are, too."""


def to_device_ids(texts: Iterable[str]) -> tuple[DeviceId, ...]:
    """Return the ids; a text that cannot be an id is one that was never advertised."""
    ids: list[DeviceId] = []
    for text in texts:
        try:
            ids.append(DeviceId(text))
        except InvalidDeviceError as error:
            raise UnknownDeviceError([text]) from error
    return tuple(ids)


def from_listing(listing: Listing) -> ListAndWatchResponse:
    """Return the list as one message, in the listing's order, which is by id."""
    return ListAndWatchResponse(devices=[_from_listed(device) for device in listing])


def _from_listed(device: ListedDevice) -> Device:
    """Leave topology out when it is unknown: an empty one would count as "fits nowhere"."""
    message = Device(ID=device.id.value, health=device.health.value)
    if device.numa_nodes:
        nodes = [NUMANode(ID=node) for node in device.numa_nodes]
        message.topology.CopyFrom(TopologyInfo(nodes=nodes))
    return message


def from_options(options: Options) -> DevicePluginOptions:
    """Return the options as a message."""
    return DevicePluginOptions(
        pre_start_required=options.pre_start_required,
        get_preferred_allocation_available=options.preferred_allocation_available,
    )


def from_registration(registration: Registration) -> RegisterRequest:
    """Return the registration as a message, with the options that the plugin answers too."""
    return RegisterRequest(
        version=API_VERSION,
        endpoint=registration.endpoint,
        resource_name=str(registration.resource),
        options=from_options(registration.options),
    )


def from_introduced(resource: ResourceName) -> PluginInfo:
    """Return who we are, to a kubelet that found us.

    Without an endpoint, which means the socket that was found: a path would have to be the one
    that the kubelet sees, which a container does not know.
    """
    return PluginInfo(type=PLUGIN_TYPE, name=str(resource), supported_versions=[API_VERSION])


def from_grants(grants: Iterable[Grant]) -> AllocateResponse:
    """Return one response for each container's grant."""
    return AllocateResponse(container_responses=[_from_grant(grant) for grant in grants])


def _from_grant(grant: Grant) -> ContainerAllocateResponse:
    return ContainerAllocateResponse(
        envs=grant.envs,
        annotations=grant.annotations,
        devices=[
            DeviceSpec(
                container_path=node.container_path,
                host_path=node.host_path,
                permissions=node.permissions,
            )
            for node in grant.nodes
        ],
        mounts=[
            Mount(
                container_path=mount.container_path,
                host_path=mount.host_path,
                read_only=mount.read_only,
            )
            for mount in grant.mounts
        ],
        cdi_devices=[CDIDevice(name=name) for name in grant.cdi_devices],
    )


def to_wish(request: ContainerPreferredAllocationRequest) -> Wish:
    """Return what the kubelet wants to know for one container."""
    return Wish(
        available=to_device_ids(request.available_deviceIDs),
        must_include=to_device_ids(request.must_include_deviceIDs),
        size=request.allocation_size,
    )


def to_held(answer: ListPodResourcesResponse) -> HeldByName:
    """Return which devices the containers of an answer hold, each once however many its nodes.

    Raises `HoldersUnknownError`.
    """
    entries = (
        (entry.resource_name, text, [node.ID for node in entry.topology.nodes])
        for pod in answer.pod_resources
        for container in pod.containers
        for entry in container.devices
        for text in entry.device_ids
    )
    return collected(entries, complete=True)


def from_preferences(choices: Iterable[Iterable[DeviceId]]) -> PreferredAllocationResponse:
    """Return a response for each container's preference; none leaves the kubelet the choice."""
    return PreferredAllocationResponse(
        container_responses=[
            ContainerPreferredAllocationResponse(deviceIDs=[key.value for key in ids])
            for ids in choices
        ]
    )
