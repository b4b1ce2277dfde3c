"""A place in memory where the same good machine stands again and again, among odd things."""

import copy
import os
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from deviceplugin.testing.sysfs import FakeSysfs

MEMORY: Final = "/dev/shm"  # noqa: S108 - only a directory of our own below it is used
"""A file system in memory, where Linux has one."""
_AWAY: Final = "away"


def in_memory() -> "TemporaryDirectory[str]":
    """Return a directory of its own, in memory if there is such a file system."""
    return TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None)


class Ground:
    """A directory in which `plant` makes a machine once; each use leaves it as it was.

    To grow a machine takes longer than to look at it.
    """

    def __init__(self, plant: Callable[[FakeSysfs], None]) -> None:
        self._plant = plant
        self._away = ""

    @contextmanager
    def machine(self) -> Generator[FakeSysfs]:
        """Lend the machine; then remove what was added to it, and beside it."""
        planted, _ = self._planted
        # What is known of devices and their nodes grows with the tree.
        sysfs = copy.copy(planted)
        vars(sysfs).update(copy.deepcopy(vars(planted)))
        try:
            yield sysfs
        finally:
            self._put_back()
            self._sweep(self._place)

    def take_away(self, path: str) -> None:
        """Let a directory of the machine be gone, such as "sys/bus", until it is given back."""
        self._away = path
        Path(self._place, path).rename(Path(self._place, _AWAY))

    def _put_back(self) -> None:
        if self._away:
            Path(self._place, _AWAY).rename(Path(self._place, self._away))
            self._away = ""

    @property
    def _place(self) -> str:
        return self._directory.name

    @cached_property
    def _directory(self) -> "TemporaryDirectory[str]":
        return in_memory()

    @cached_property
    def _planted(self) -> tuple[FakeSysfs, Mapping[str, frozenset[str]]]:
        """The machine, and the names in each directory."""
        sysfs = FakeSysfs(self._place)
        self._plant(sysfs)
        names = {each: frozenset([*below, *files]) for each, below, files in os.walk(self._place)}
        return sysfs, names

    def _sweep(self, directory: str) -> None:
        missing = set(self._planted[1][directory])
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name in missing:
                    missing.remove(entry.name)
                    if entry.path in self._planted[1]:
                        self._sweep(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path)
                else:
                    os.unlink(entry.path)  # noqa: PTH108 - a path of many, and of any bytes
        assert not missing, f"{missing} of the machine itself were removed"
