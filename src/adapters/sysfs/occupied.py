"""Which devices of sysfs the host uses itself; looked at once a scan, if a rule asks at all."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import Final

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.heads import layers, lower
from deviceplugin.adapters.sysfs.kinship import Kinship
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.adapters.sysfs.pools import pools
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.occupancy import taken_places, uses_of
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.host_use import HostUse

_NOBODY_ASKED: Final = "cannot be told: nobody was asked what the host uses"


class Occupied:
    """Follows what the host uses down to the hardware: through arrays, pools, bonds and VLANs.

    Where it cannot be told, every disk and network card counts as in use: giving one away that is
    not free can cost the node.
    """

    def __init__(self, folders: Folders, kinship: Kinship, host: HostUse | None) -> None:
        self._folders = folders
        self._kinship = kinship
        self._host = host

    def uses(self, folder: Folder, candidate: Candidate) -> tuple[str, ...]:
        """Return what the host uses the device in a directory for."""
        function = self._kinship(folder).pci
        numbers = self._folders.text(function, "sriov_numvfs") if function else None
        found = uses_of(folder.path, candidate.subsystem, numbers, self._taken)
        return (*found, *self._unknown)

    @cached_property
    def _answers(self) -> tuple[Mapping[str, str], tuple[str, ...]]:
        """What is used, by place, and what cannot be told."""
        uses: list[tuple[str, str]] = []
        unknown: list[str] = []
        for look in (self._disks, self._interfaces):
            try:
                uses += look()
            except ScanError as error:
                unknown.append(f"cannot be told: {error}")
        return taken_places(uses), tuple(dict.fromkeys(unknown))

    @property
    def _taken(self) -> Mapping[str, str]:
        return self._answers[0]

    @property
    def _unknown(self) -> tuple[str, ...]:
        return self._answers[1]

    def _disks(self) -> Iterable[tuple[str, str]]:
        if self._host is None:
            raise ScanError(_NOBODY_ASKED)
        told: dict[str, str] = {}
        for number, use in self._host.disks().items():
            entry = f"/dev/{number.kind}/{number.major}:{number.minor}"
            folder = self._folders.device(entry)
            if folder is not None:
                told.setdefault(folder.path, use)
                yield from self._with_lower(folder, use, partial(lower, self._folders))
        for kind, members in pools(self._folders):
            uses = (told[each.path] for each in members if each.path in told)
            use = next(uses, f"in use by {kind}")
            for each in members:
                yield from self._with_lower(each, use, partial(lower, self._folders))

    def _interfaces(self) -> Iterable[tuple[str, str]]:
        if self._host is None:
            raise ScanError(_NOBODY_ASKED)
        for name, use in self._host.interfaces().items():
            entry = self._folders.device(f"/class/net/{name}")
            yield from self._with_lower(entry, use, self._lower)

    def _lower(self, folder: Folder) -> tuple[Folder, ...]:
        """Return what a bond, a VLAN or a bridge is made of."""
        return (*self._folders.linked(folder, "lower_"), *self._ports(folder))

    def _ports(self, folder: Folder) -> Iterator[Folder]:
        """Yield the ports of a bridge; each has its interface one folder up."""
        ports = self._folders.within(folder, "brif")
        for name in self._folders.names(ports) if ports else ():
            port = self._folders.device(f"/class/net/{name}")
            if port:
                yield port

    def _with_lower(
        self, folder: Folder | None, use: str, below: Callable[[Folder], Iterable[Folder]]
    ) -> Iterator[tuple[str, str]]:
        """Yield the device and all that it is made of."""
        for each in layers(folder, below) if folder else ():
            yield each.path, use
