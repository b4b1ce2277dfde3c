"""The device nodes of a recorded /dev, in which files stand for nodes: making those takes root."""

import os
import stat
from typing import Final

from deviceplugin.adapters.system.device_nodes import SystemDeviceNodes
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.recording.entries import parsed_node

_BYTES: Final = 64
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RecordedDeviceNodes(SystemDeviceNodes):
    """Looks below `dev_root` at files such as `char 188:0`; a true node is one, too."""

    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path` stands for, through any link."""
        true = super().number(path)
        if true is not None:
            return true
        return parsed_node(self._text(path).decode("latin-1"))

    def _text(self, path: str) -> bytes:
        """Return what a plain file begins with; nothing if it is none."""
        try:
            place = self._here(self._followed(path))
            if not stat.S_ISREG(os.lstat(place).st_mode):
                return b""
            handle = os.open(place, _FLAGS)
        except (OSError, ValueError):
            return b""
        try:
            return os.read(handle, _BYTES)
        finally:
            os.close(handle)
