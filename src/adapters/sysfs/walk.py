"""One walk over the parts of sysfs that rules ask for, however many rules there are."""

from collections.abc import Iterable, Iterator

import attrs

from deviceplugin.adapters.sysfs.files import Files, printable
from deviceplugin.adapters.sysfs.places import Places
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.rulebook import Rulebook


@attrs.frozen
class Entry:
    """A device that the walk met: its directory, and what the directory's links tell of it."""

    path: str
    candidate: Candidate


def walk(files: Files, rules: Rulebook, places: Places) -> Iterable[Entry]:
    """Return each device in scope once: those of the subsystems, and those asked for by path."""
    met = {
        path: _entry(path, subsystem, places)
        for subsystem in _subsystems(files, rules)
        for path in _devices(files, subsystem)
    }
    for path in places.paths:
        if path not in met:
            met[path] = _entry(path, _subsystem_of(files, path), places)
    return met.values()


def _subsystems(files: Files, rules: Rulebook) -> Iterator[str]:
    """Yield the names of the subsystems to go through; all that exist if a rule leaves it open."""
    scope = rules.scope
    names = set(scope.subsystems)
    if scope.everywhere:
        names.update(files.names("/class"), files.names("/bus"))
    return (name for name in sorted(names) if rules.about(name) and "/" not in name)


def _devices(files: Files, subsystem: str) -> Iterator[str]:
    """Yield the directories of a subsystem's devices. One name may be a class and a bus."""
    for directory in (f"/class/{subsystem}", f"/bus/{subsystem}/devices"):
        real = files.directory(directory)
        for name in files.names(directory):
            path = files.device(f"{real}/{name}")
            if path is not None:
                yield path


def _subsystem_of(files: Files, path: str) -> str:
    return (files.link(f"{path}/subsystem") or "").rpartition("/")[2]


def _entry(path: str, subsystem: str, places: Places) -> Entry:
    candidate = Candidate(
        name=printable(path.rpartition("/")[2]),
        subsystem=printable(subsystem),
        devpath=printable(path),
        paths=places.paths.get(path, ()),
    )
    return Entry(path, candidate)
