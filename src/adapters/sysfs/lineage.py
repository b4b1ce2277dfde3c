"""The devices that a device is below, by directory.

Each directory is looked at once a scan, however many devices are below it, and no file of it is
read before a rule asks for it.
"""

from collections.abc import Callable

from deviceplugin.adapters.sysfs.files import Files, printable
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.facts import Fact

Learn = Callable[[str, Candidate, frozenset[Fact]], Candidate]
"""Looks up facts of the device in a directory."""


class Lineage:
    """The devices above any device."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[str, Candidate | None] = {}

    def above(self, path: str, top: str = "") -> tuple[str, ...]:
        """Return the directories of the devices that the one at `path` is below, nearest first.

        The last one is `top`, if that is above it.
        """
        found: list[str] = []
        while path != top and (path := path.rpartition("/")[0]).startswith("/devices/"):
            if self._at(path):
                found.append(path)
        return tuple(found)

    def parents(self, path: str) -> tuple[Candidate, ...]:
        """Return what is known so far of the devices that the one at `path` is below."""
        return tuple(each for place in self.above(path) if (each := self._at(place)))

    def learn(self, path: str, level: int, facts: frozenset[Fact], learn: Learn) -> None:
        """Look up facts of the `level`-th device above `path`, unless they are known."""
        place = self.above(path)[level - 1]
        parent = self._at(place)
        missing = frozenset(fact for fact in facts if parent and fact.of(parent) is None)
        if parent and missing:
            self._known[place] = learn(place, parent, missing)

    def _at(self, path: str) -> Candidate | None:
        """Return the device in a directory; None if it is just a folder, such as "tty"."""
        if path not in self._known:
            self._known[path] = self._look(path)
        return self._known[path]

    def _look(self, path: str) -> Candidate | None:
        subsystem = self._files.link(f"{path}/subsystem")
        if subsystem is None and not self._files.has(f"{path}/uevent"):
            return None
        driver = self._files.link(f"{path}/driver") or ""
        return Candidate(
            name=printable(path.rpartition("/")[2]),
            subsystem=printable((subsystem or "").rpartition("/")[2]),
            devpath=printable(path),
            driver=printable(driver.rpartition("/")[2]),
        )
