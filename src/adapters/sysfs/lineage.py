"""The devices that a device is below.

Each directory is looked at once a scan, however many devices are below it, and no file of it is
read before a rule asks for it.
"""

from collections.abc import Callable, Iterator

from deviceplugin.adapters.sysfs.files import printable
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Fact

Learn = Callable[[Folder, Candidate, frozenset[Fact]], Candidate]
"""Looks up facts of the device in a directory."""


class Lineage:
    """The devices above any device."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._known: dict[Folder, Candidate] = {}

    def above(self, folder: Folder, top: Folder | None = None) -> Iterator[Folder]:
        """Yield the directories of the devices that one is below, nearest first.

        The last one is `top`, if that is above it.
        """
        here = folder
        while here is not top and here.above is not None:
            here = here.above
            if self._is_device(here):
                yield here

    def parents(self, folder: Folder) -> tuple[Candidate, ...]:
        """Return what is known so far of the devices that the one in a directory is below."""
        return tuple(map(self._at, self.above(folder)))

    def learn(self, folder: Folder, level: int, facts: frozenset[Fact], learn: Learn) -> None:
        """Look up facts of the `level`-th device above one, unless they are known."""
        place = tuple(self.above(folder))[level - 1]
        parent = self._at(place)
        missing = frozenset(fact for fact in facts if fact.of(parent) is None)
        if missing:
            self._known[place] = learn(place, parent, missing)

    def _is_device(self, folder: Folder) -> bool:
        """Say whether there is a device in a directory; else it is a folder, such as "tty"."""
        folders = self._folders
        return folders.link(folder, "subsystem") is not None or folders.has(folder, "uevent")

    def _at(self, folder: Folder) -> Candidate:
        if folder not in self._known:
            self._known[folder] = self._look(folder)
        return self._known[folder]

    def _look(self, folder: Folder) -> Candidate:
        subsystem = self._folders.link(folder, "subsystem") or ""
        driver = self._folders.link(folder, "driver") or ""
        return Candidate(
            name=printable(folder.name),
            subsystem=printable(subsystem.rpartition("/")[2]),
            devpath=printable(folder.path),
            driver=printable(driver.rpartition("/")[2]),
        )
