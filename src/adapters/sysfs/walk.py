"""One walk over the parts of sysfs that rules ask for, however many rules there are."""

from collections.abc import Iterable, Iterator

import attrs

from deviceplugin.adapters.sysfs.files import Files, printable
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.adapters.sysfs.places import Places
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.rulebook import Rulebook


@attrs.define(eq=False)  # frozen, it would take three times as long to make
class Entry:
    """A device that the walk met: its directory, and what the links to it tell."""

    folder: Folder
    subsystem: str
    paths: tuple[str, ...] = ()

    def candidate(self) -> Candidate:
        """Return it as rules see it before anything is read."""
        path, name = self.folder.path, self.folder.name
        if not path.isprintable():
            path, name = printable(path), printable(name)
        return Candidate(
            name=name, subsystem=printable(self.subsystem), devpath=path, paths=self.paths
        )


def walk(files: Files, folders: Folders, rules: Rulebook, places: Places) -> Iterable[Entry]:
    """Return each device in scope once: those of the subsystems, and those asked for by path."""
    asked = places.paths
    met = {
        folder: Entry(folder, subsystem, asked.get(folder, ()))
        for subsystem in _subsystems(files, rules)
        for folder in _devices(folders, subsystem)
    }
    for folder in asked:
        if folder not in met:
            met[folder] = _entry(folders, folder, asked[folder])
    return met.values()


def entry_at(folders: Folders, devpath: str) -> Entry | None:
    """Return the device at a place below /devices, if there is one."""
    folder = folders.at(devpath) if devpath.startswith("/devices/") else None
    return _entry(folders, folder, ()) if folder else None


def _entry(folders: Folders, folder: Folder, paths: tuple[str, ...]) -> Entry:
    link = folders.link(folder, "subsystem") or ""
    return Entry(folder, link.rpartition("/")[2], paths)


def _subsystems(files: Files, rules: Rulebook) -> Iterator[str]:
    """Yield the names of the subsystems to go through; all that exist if a rule leaves it open."""
    scope = rules.scope
    names = set(scope.subsystems)
    if scope.everywhere:
        names.update(files.names("/class"), files.names("/bus"))
    return (name for name in sorted(names) if rules.concerns(name) and "/" not in name)


def _devices(folders: Folders, subsystem: str) -> Iterator[Folder]:
    """Yield the directories of a subsystem's devices. One name may be a class and a bus."""
    yield from folders.devices(f"/class/{subsystem}")
    yield from folders.devices(f"/bus/{subsystem}/devices")
