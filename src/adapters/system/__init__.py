"""What any operating system offers: clock, threads, device nodes, mounts, signals, processes."""

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
