"""Watching files through the kernel's inotify."""

from deviceplugin.adapters.inotify.directory import InotifyDirectory

__all__ = ["InotifyDirectory"]
