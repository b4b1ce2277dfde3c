"""The kernel's own announcements of devices, over netlink."""

from deviceplugin.adapters.uevent.hotplug import UeventHotplug

__all__ = ["UeventHotplug"]
