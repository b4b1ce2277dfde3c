"""What any operating system offers: clock, threads, device nodes, mounts, signals, processes.

Each is imported when it is asked for: most plugins need a few.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deviceplugin.adapters.system.clock import SystemChance, SystemClock
    from deviceplugin.adapters.system.device_nodes import SystemDeviceNodes
    from deviceplugin.adapters.system.host_use import ProcHostUse
    from deviceplugin.adapters.system.prober import SystemProber
    from deviceplugin.adapters.system.worker import ThreadWorker

__all__ = [
    "ProcHostUse",
    "SystemChance",
    "SystemClock",
    "SystemDeviceNodes",
    "SystemProber",
    "ThreadWorker",
]

_MODULES = {
    "ProcHostUse": "host_use",
    "SystemChance": "clock",
    "SystemClock": "clock",
    "SystemDeviceNodes": "device_nodes",
    "SystemProber": "prober",
    "ThreadWorker": "worker",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
