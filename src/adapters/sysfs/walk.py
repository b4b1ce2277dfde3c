"""One walk over the parts of sysfs that rules ask for, however many rules there are."""

from collections.abc import Iterable, Iterator

import attrs

from deviceplugin.adapters.sysfs.files import Files, printable
from deviceplugin.adapters.sysfs.places import Places
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.rulebook import Rulebook


@attrs.frozen
class Entry:
    """A device that the walk met: its directory, and what the links to it tell."""

    path: str
    subsystem: str
    paths: tuple[str, ...] = ()

    def candidate(self) -> Candidate:
        """Return it as rules see it before anything is read."""
        return Candidate(
            name=printable(self.path.rpartition("/")[2]),
            subsystem=printable(self.subsystem),
            devpath=printable(self.path),
            paths=self.paths,
        )


def walk(files: Files, rules: Rulebook, places: Places) -> Iterable[Entry]:
    """Return each device in scope once: those of the subsystems, and those asked for by path."""
    met = {
        path: Entry(path, subsystem, places.paths.get(path, ()))
        for subsystem in _subsystems(files, rules)
        for path in _devices(files, subsystem)
    }
    for path in places.paths:
        if path not in met:
            met[path] = Entry(path, _subsystem_of(files, path), places.paths[path])
    return met.values()


def _subsystems(files: Files, rules: Rulebook) -> Iterator[str]:
    """Yield the names of the subsystems to go through; all that exist if a rule leaves it open."""
    scope = rules.scope
    names = set(scope.subsystems)
    if scope.everywhere:
        names.update(files.names("/class"), files.names("/bus"))
    return (name for name in sorted(names) if rules.concerns(name) and "/" not in name)


def _devices(files: Files, subsystem: str) -> Iterator[str]:
    """Yield the directories of a subsystem's devices. One name may be a class and a bus."""
    yield from files.devices(f"/class/{subsystem}")
    yield from files.devices(f"/bus/{subsystem}/devices")


def _subsystem_of(files: Files, path: str) -> str:
    return (files.link(f"{path}/subsystem") or "").rpartition("/")[2]
