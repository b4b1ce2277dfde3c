"""Watching files through the kernel's inotify."""

from deviceplugin.adapters.inotify.directory import InotifyDirectory
from deviceplugin.adapters.inotify.file import InotifyFile
from deviceplugin.adapters.inotify.nodes import NodeHotplug

__all__ = ["InotifyDirectory", "InotifyFile", "NodeHotplug"]
