"""The device nodes of the host's /dev, wherever it is mounted here."""

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from deviceplugin.domain.discovery.globs import Glob, path_globs
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber

MAX_LINKS: Final = 40
"""Links after which a path leads nowhere, as in Linux."""
MAX_NAMES: Final = 10_000
"""Names of one folder, and matches of one part of a pattern, beyond which none counts."""

_ROOT: Final = "/dev"
_ABSENT: Final = frozenset(
    {None, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL}
)
"""Answers of what is not there, or of another sort: nothing to tell anybody."""


class SystemDeviceNodes(DeviceNodes):
    """Looks below `dev_root`; the paths that it takes and gives are the host's, /dev/...

    It follows links itself, since the host means its own /dev by an absolute one, and never looks
    outside: there, in a container, are other files than the host's. What cannot be looked at is
    as if it were not there, and `take_refusals` tells in which directory that was.
    """

    def __init__(self, dev_root: str = _ROOT) -> None:
        self._dev_root = dev_root.rstrip("/")
        self._refused: dict[str, int] = {}

    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path` stands for, through any link."""
        try:
            found = os.lstat(self._here(self._followed(path)))
        except (OSError, ValueError) as error:
            self._met(error)
            return None
        major, minor = os.major(found.st_rdev), os.minor(found.st_rdev)
        if stat.S_ISCHR(found.st_mode):
            return NodeNumber("char", major, minor)
        return NodeNumber("block", major, minor) if stat.S_ISBLK(found.st_mode) else None

    def resolve(self, path: str) -> str:
        """Return `path` with links resolved; as it is if it leads nowhere."""
        try:
            return self._followed(path)
        except (OSError, ValueError) as error:
            self._met(error)
            return path

    def dangling(self, path: str) -> str | None:
        """Return where the link at `path` leads by its own word, if no device node is there.

        None for a link to a device node, and for what is no link.
        """
        folder, _, name = path.rpartition("/")
        try:
            target = self._target(f"{self._followed(folder)}/{name}")
        except (OSError, ValueError):
            return None
        return target if self.number(path) is None else None

    def matching(self, pattern: str) -> Iterable[str]:
        """Return the paths that match a glob, sorted: at most `MAX_NAMES`."""
        globs = path_globs(_ROOT, pattern)
        found = [_ROOT] if globs else []
        for glob in globs:
            matches = (f"{path}/{name}" for path in found for name in self._below(path, glob))
            found = list(islice(matches, MAX_NAMES))
        return sorted(found)

    def take_refusals(self) -> Mapping[str, int]:
        """Return the directories that could not be looked into since this was asked last."""
        refused, self._refused = self._refused, {}
        return refused

    def _met(self, error: OSError | ValueError, folder: str | None = None) -> None:
        """Remember the folder, or the one that has what the error is about, if it was refused."""
        if not isinstance(error, OSError) or error.errno in _ABSENT:
            return
        if folder is None:
            place = str(error.filename).removeprefix(self._dev_root)
            folder = f"{_ROOT}{place}".rpartition("/")[0]
        self._refused[folder] = error.errno or errno.EIO

    def _below(self, path: str, glob: Glob) -> list[str]:
        try:
            folder = self._followed(path)
        except (OSError, ValueError) as error:
            self._met(error)
            return []
        try:
            names = self._names(folder)
        except (OSError, ValueError) as error:
            self._met(error, folder)
            return []
        return [
            name
            for name in names
            if glob.fits(name) and name.startswith(".") <= glob.text.startswith(".")
        ]

    def _names(self, folder: str) -> list[str]:
        with os.scandir(self._here(folder)) as entries:
            return [entry.name for entry in islice(entries, MAX_NAMES)]

    def _here(self, path: str) -> str:
        """Return where the host's `path` is found here."""
        return self._dev_root + path.removeprefix(_ROOT)

    def _followed(self, path: str) -> str:
        """Return where `path` leads to in /dev. Raises `OSError` or `ValueError` if nowhere."""
        folder, links = "", 0
        parts = path.split("/")[::-1] if path.startswith("/") else []
        while parts:
            part = parts.pop()
            if part in {"", "."}:
                continue
            if part == "..":
                folder = folder.rpartition("/")[0]
                continue
            target = self._target(f"{folder}/{part}")
            if target is None:
                folder = f"{folder}/{part}"
                continue
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            folder = "" if target.startswith("/") else folder
            parts += target.split("/")[::-1]
        if not folder:
            raise FileNotFoundError(path)
        return folder

    def _target(self, path: str) -> str | None:
        """Return where the link at `path` leads; None if it is there, but no link."""
        if path == _ROOT:
            return None
        if not path.startswith(f"{_ROOT}/"):
            raise FileNotFoundError(path)
        try:
            return str(Path(self._here(path)).readlink())
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return None
