"""Give pods devices: a Kubernetes device plugin framework.

The names below are the public API; see `Manager` for how to begin. Values and rules live in
`deviceplugin.domain`, which needs attrs alone; `Manager` is imported when it is first asked for,
because it brings gRPC along.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

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

if TYPE_CHECKING:
    from deviceplugin.app.manager import Manager

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

_LAZY: Final = {"Manager": "deviceplugin.app.manager"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - what a module holds can be anything
    """Import what needs more than the domain when it is asked for."""
    if name not in _LAZY:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_LAZY[name]), name)
