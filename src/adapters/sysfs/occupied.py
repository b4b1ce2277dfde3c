"""Which devices of sysfs the host uses itself; looked at once a scan, if a rule asks at all."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.hardware import Hardware
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.occupancy import taken_places, uses_of
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.host_use import HostUse

_NOBODY_ASKED: Final = "cannot be told: nobody was asked what the host uses"


class Occupied:
    """Follows what the host uses down to the hardware: through arrays, mappings, bonds and VLANs.

    Where it cannot be told, every disk and network card counts as in use: giving one away that is
    not free can cost the node.
    """

    def __init__(self, files: Files, hardware: Hardware, host: HostUse | None) -> None:
        self._files = files
        self._hardware = hardware
        self._host = host

    def uses(self, path: str, candidate: Candidate) -> tuple[str, ...]:
        """Return what the host uses the device in a directory for."""
        function = self._hardware.pci(path)
        numbers = self._files.text(f"{function}/sriov_numvfs") if function else None
        found = uses_of(path, candidate.subsystem, numbers, self._taken)
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
        for number, use in self._host.disks().items():
            entry = f"/dev/{number.kind}/{number.major}:{number.minor}"
            yield from self._with_lower(self._files.device(entry), use, self._slaves)

    def _interfaces(self) -> Iterable[tuple[str, str]]:
        if self._host is None:
            raise ScanError(_NOBODY_ASKED)
        for name, use in self._host.interfaces().items():
            entry = self._files.device(f"/class/net/{name}")
            yield from self._with_lower(entry, use, self._lower)

    def _slaves(self, path: str) -> tuple[str, ...]:
        return self._files.linked(f"{path}/slaves")

    def _lower(self, path: str) -> tuple[str, ...]:
        """Return what a bond, a VLAN or a bridge is made of."""
        return (*self._files.linked(path, "lower_"), *self._ports(path))

    def _ports(self, path: str) -> Iterator[str]:
        """Yield the ports of a bridge; each has its interface one folder up."""
        for name in self._files.names(f"{path}/brif"):
            port = self._files.device(f"/class/net/{name}")
            if port:
                yield port

    def _with_lower(
        self, path: str | None, use: str, lower: Callable[[str], Iterable[str]]
    ) -> Iterator[tuple[str, str]]:
        """Yield the device and all that it is made of, whatever the number of layers."""
        ahead, met = [path] if path else [], set[str]()
        while ahead:
            each = ahead.pop()
            if each not in met:
                met.add(each)
                yield each, use
                ahead += lower(each)
