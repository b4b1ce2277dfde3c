"""A /sys and a /dev to test against: like the kernel's, with everything odd that is in them."""

from deviceplugin.testing.sysfs.fake import FakeSysfs
from deviceplugin.testing.sysfs.machine import Machine, found, names
from deviceplugin.testing.sysfs.oddities import Oddity
from deviceplugin.testing.sysfs.tree import FakeDevice

__all__ = ["FakeDevice", "FakeSysfs", "Machine", "Oddity", "found", "names"]
