"""What any operating system offers: clock, chance, threads, device nodes, signals."""

from deviceplugin.adapters.system.clock import SystemChance, SystemClock
from deviceplugin.adapters.system.device_nodes import SystemDeviceNodes
from deviceplugin.adapters.system.worker import ThreadWorker

__all__ = ["SystemChance", "SystemClock", "SystemDeviceNodes", "ThreadWorker"]
