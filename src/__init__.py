"""Give pods devices: a Kubernetes device plugin framework.

The names below are the public API; see `Manager` for how to begin. Values and rules live in
`deviceplugin.domain`, which needs attrs alone. Each name is imported when it is first asked for:
`Manager` brings gRPC along, and the command line is here before anything else is.
"""

from importlib import import_module

# As `typing` has it, which takes longer than all else here.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from deviceplugin.app.manager import Manager
    from deviceplugin.domain.allocation import Grant, Request
    from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health, Mount
    from deviceplugin.domain.errors import DevicePluginError, ScanError, StoppedError
    from deviceplugin.domain.ports.driven.device_source import DeviceSource
    from deviceplugin.domain.ports.driven.plugin import (
        Allocator,
        ContainerPreStarter,
        PostAllocator,
        PreferredAllocator,
        Scanner,
    )
    from deviceplugin.domain.ports.driving.notifier import Notifier
    from deviceplugin.domain.preference import Wish
    from deviceplugin.domain.resources import ResourceName
    from deviceplugin.domain.tree import DeviceTree

__all__ = [
    "Allocator",
    "ContainerPreStarter",
    "DeviceId",
    "DeviceInfo",
    "DeviceNode",
    "DevicePluginError",
    "DeviceSource",
    "DeviceTree",
    "Grant",
    "Health",
    "Manager",
    "Mount",
    "Notifier",
    "PostAllocator",
    "PreferredAllocator",
    "Request",
    "ResourceName",
    "ScanError",
    "Scanner",
    "StoppedError",
    "Wish",
]

_MODULES = {
    "Allocator": "domain.ports.driven.plugin",
    "ContainerPreStarter": "domain.ports.driven.plugin",
    "DeviceId": "domain.devices",
    "DeviceInfo": "domain.devices",
    "DeviceNode": "domain.devices",
    "DevicePluginError": "domain.errors",
    "DeviceSource": "domain.ports.driven.device_source",
    "DeviceTree": "domain.tree",
    "Grant": "domain.allocation",
    "Health": "domain.devices",
    "Manager": "app.manager",
    "Mount": "domain.devices",
    "Notifier": "domain.ports.driving.notifier",
    "PostAllocator": "domain.ports.driven.plugin",
    "PreferredAllocator": "domain.ports.driven.plugin",
    "Request": "domain.allocation",
    "ResourceName": "domain.resources",
    "ScanError": "domain.errors",
    "Scanner": "domain.ports.driven.plugin",
    "StoppedError": "domain.errors",
    "Wish": "domain.preference",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
