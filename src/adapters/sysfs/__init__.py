"""Devices as /sys shows them."""

from deviceplugin.adapters.sysfs.scanner import SysfsScanner

__all__ = ["SysfsScanner"]
