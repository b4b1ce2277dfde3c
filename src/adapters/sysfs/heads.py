"""NVMe namespaces with several paths: they are below their subsystem, not below a controller."""

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
