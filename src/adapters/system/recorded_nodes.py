"""The device nodes of a recorded /dev, in which files stand for nodes: making those takes root."""

import errno
import os
import stat
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from deviceplugin.adapters.system.device_nodes import SystemDeviceNodes
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.recording.entries import parsed_node

_NO_FAILURES: Final[Mapping[str, str]] = MappingProxyType({})
_BYTES: Final = 64
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class RecordedDeviceNodes(SystemDeviceNodes):
    """Looks below `dev_root` at files such as `char 188:0`; a true node is one, too.

    `failures` are the names of the errors that looking into directories met, by the host's path.
    """

    def __init__(
        self, dev_root: str = "/dev", *, failures: Mapping[str, str] = _NO_FAILURES
    ) -> None:
        super().__init__(dev_root)
        self._failures = failures

    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path` stands for, through any link."""
        true = super().number(path)
        if true is not None:
            return true
        return parsed_node(self._text(path).decode("latin-1"))

    def _names(self, folder: str) -> list[str]:
        self._check(folder, folder)
        return super()._names(folder)

    def _target(self, path: str) -> str | None:
        self._check(path.rpartition("/")[0], path)
        return super()._target(path)

    def _check(self, folder: str, path: str) -> None:
        """Raise the `OSError` that looking into a folder met, if it met one."""
        name = self._failures.get(folder)
        if name is not None:
            number = getattr(errno, name, errno.EIO)
            raise OSError(number, os.strerror(number), self._here(path))

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
