"""What a device is made of and not below: disks of an array or volume, controllers of a namespace.

An NVMe namespace with several paths is below its subsystem, not below a controller.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder

_HOME: Final = "nvme-subsystem"
_BELOW: Final = f"/{_HOME}/"


def controllers(folders: Folders, folder: Folder) -> tuple[Folder, ...]:
    """Return the controllers by which the namespace in a directory, or a part of it, is reached.

    Nothing is asked of any other device.
    """
    if _BELOW not in folder.path:
        return ()
    here = folder
    while here.above is not None and here.above.name != _HOME:
        here = here.above
    return () if here is folder else folders.linked(here, "nvme")


def lower(folders: Folders, folder: Folder) -> tuple[Folder, ...]:
    """Return what a disk is made of, or by what it is reached; of a partition, its disk's."""
    is_part = folders.text(folder, "partition") is not None
    disk = folder.above if is_part and folder.above else folder
    return (*folders.linked(folders.within(disk, "slaves")), *controllers(folders, disk))


def layers(folder: Folder, below: Callable[[Folder], Iterable[Folder]]) -> Iterator[Folder]:
    """Yield a device and all that it is made of, each once, whatever the number of layers."""
    ahead, met = [folder], set[Folder]()
    while ahead:
        each = ahead.pop()
        if each not in met:
            met.add(each)
            yield each
            ahead += below(each)


def made_of(folders: Folders, folder: Folder) -> Iterator[Folder]:
    """Yield what a disk or partition is made of, in all layers: a volume in an array of disks."""
    everything = layers(folder, partial(lower, folders))
    return (each for each in everything if each is not folder)
