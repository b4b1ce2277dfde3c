"""Watching files through the kernel's inotify.

Each is imported when it is asked for: an author's own plugin needs the directory alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deviceplugin.adapters.inotify.directory import InotifyDirectory
    from deviceplugin.adapters.inotify.file import InotifyFile
    from deviceplugin.adapters.inotify.nodes import NodeHotplug

__all__ = ["InotifyDirectory", "InotifyFile", "NodeHotplug"]

_MODULES = {"InotifyDirectory": "directory", "InotifyFile": "file", "NodeHotplug": "nodes"}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
