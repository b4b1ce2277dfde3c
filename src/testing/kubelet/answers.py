"""Wire messages to plain values, at the one place where they come in."""

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.testing.kubelet.values import Answer, Device, DeviceSpec, Mount, Options


def options_of(message: pb.DevicePluginOptions) -> Options:
    """Return the options that a plugin answered."""
    return Options(
        pre_start=message.pre_start_required,
        preferred=message.get_preferred_allocation_available,
    )


def devices_of(message: pb.ListAndWatchResponse) -> tuple[Device, ...]:
    """Return the devices of a list, in its order, doubles and all."""
    return tuple(
        Device(id=device.ID, health=device.health, nodes=_nodes(device))
        for device in message.devices
    )


def _nodes(device: pb.Device) -> tuple[int, ...] | None:
    if not device.HasField("topology"):
        return None
    return tuple(node.ID for node in device.topology.nodes)


def answer_of(kept: bytes) -> Answer:
    """Return what a kept answer to Allocate gives its container."""
    message = pb.ContainerAllocateResponse.FromString(kept)
    return Answer(
        envs=dict(message.envs),
        annotations=dict(message.annotations),
        devices=tuple(_spec(spec) for spec in message.devices),
        mounts=tuple(_mount(mount) for mount in message.mounts),
        cdi_devices=tuple(device.name for device in message.cdi_devices),
    )


def _spec(message: pb.DeviceSpec) -> DeviceSpec:
    return DeviceSpec(
        container_path=message.container_path,
        host_path=message.host_path,
        permissions=message.permissions,
    )


def _mount(message: pb.Mount) -> Mount:
    return Mount(
        container_path=message.container_path,
        host_path=message.host_path,
        read_only=message.read_only,
    )
