"""What the kernel keeps on several disks at once: of the others no mount tells.

Only what is in use now is shown below /sys/fs, whoever has mounted it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.domain.discovery.events import DirectoryUnreadable
from deviceplugin.domain.errors import ScanError


def pools(folders: Folders) -> Iterator[tuple[str, tuple[Folder, ...]]]:
    """Yield of each what it is, with the block devices that it is on, or what is below them.

    Raises `ScanError` if that cannot be read.
    """
    noted = len(folders.notes)
    for kind, disks in _KINDS.items():
        home = folders.directory(f"/fs/{kind}")
        if home is None:
            continue
        for name in folders.names(home):
            pool = folders.within(home, name)
            if pool is not None:
                yield kind, tuple(disks(folders, pool))
    for note in folders.notes[noted:]:
        if isinstance(note, DirectoryUnreadable):
            raise ScanError(f"cannot read what the host uses: {note.path}: {note.reason}")


def _of_btrfs(folders: Folders, pool: Folder) -> Iterable[Folder]:
    return folders.linked(folders.within(pool, "devices"))


def _of_bcachefs(folders: Folders, pool: Folder) -> Iterator[Folder]:
    for name in folders.names(pool):
        if name.startswith("dev-"):
            yield from folders.linked(folders.within(pool, name), "block")


def _of_bcache(folders: Folders, pool: Folder) -> Iterable[Folder]:
    """Return folders in the block devices: caches, and what they are for."""
    return (*folders.linked(pool, "cache"), *folders.linked(pool, "bdev"))


_KINDS: Final[Mapping[str, Callable[[Folders, Folder], Iterable[Folder]]]] = {
    "btrfs": _of_btrfs,
    "bcachefs": _of_bcachefs,
    "bcache": _of_bcache,
}
"""Folders of /sys/fs, with what finds the disks of one of those that are in it."""
