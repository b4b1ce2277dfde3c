"""Each source of devices obeys the laws of `DeviceSource`, and of `RuledSource`."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from deviceplugin.adapters.memory.device_source import MemoryDeviceSource
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.holds import NOTHING_HELD, Hold, Holds
from deviceplugin.testing.contracts.device_source import NAMES
from deviceplugin.testing.contracts.ruled_source import (
    WIDGET,
    RuledSourceContract,
    RuledSourceWorld,
)
from deviceplugin.testing.rules import Conditions, rule
from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs, Oddity


class _SysfsWorld:
    """A tree in a directory."""

    def __init__(self, directory: Path, match: Callable[..., list[Conditions]]) -> None:
        self._sysfs = FakeSysfs(directory)
        self._devices: dict[str, FakeDevice] = {}
        self._away = directory / "away"
        self._match = match
        self._holds: Holds = NOTHING_HELD
        self.source = SysfsScanner(
            [self.rule(WIDGET)],
            nodes=self._sysfs.nodes,
            journal=MemoryJournal(),
            sys_root=str(self._sysfs.root),
            held=lambda: self._holds,
        )

    def hold(self, *holds: Hold) -> None:
        self._holds = frozenset(holds)

    def appear(self, name: str) -> str:
        number = (200, NAMES.index(name))
        self._devices[name] = self._sysfs.child(name, subsystem="widget", number=number)
        return f"/dev/{name}"

    def vanish(self, name: str) -> None:
        self._sysfs.remove(self._devices.pop(name))

    def lose_node(self, name: str) -> None:
        self._sysfs.nodes.remove(f"/dev/{name}")

    def add_odd(self) -> None:
        for number, oddity in enumerate([Oddity.DANGLING, Oddity.LOOPING, Oddity.NO_UEVENT]):
            odd = self._sysfs.child(f"odd{number}", subsystem="widget", number=(201, number))
            self._sysfs.spoil(odd, oddity)

    def break_down(self) -> None:
        self._sysfs.root.rename(self._away)

    def recover(self) -> None:
        self._away.rename(self._sysfs.root)

    def rule(self, resource: str, *names: str) -> ResourceRule:
        return rule(resource, *self._match(*names))


def _by_subsystem(*names: str) -> list[Conditions]:
    return [{"subsystem": "widget", "name": name} for name in names or "*"]


def _by_node(*names: str) -> list[Conditions]:
    return [{"node": f"/dev/{name}"} for name in names or "?"]


class TestSysfsScanner(RuledSourceContract):
    """By subsystem, on a tree like the kernel's."""

    @contextmanager
    def world(self) -> Generator[RuledSourceWorld]:
        with TemporaryDirectory() as directory:
            yield _SysfsWorld(Path(directory), _by_subsystem)


class TestSysfsScannerByNode(RuledSourceContract):
    """By path below /dev: what has no node is not there, then."""

    sees_nodes = False

    @contextmanager
    def world(self) -> Generator[RuledSourceWorld]:
        with TemporaryDirectory() as directory:
            yield _SysfsWorld(Path(directory), _by_node)


class _MemoryWorld:
    """Candidates that are just said to be there."""

    def __init__(self) -> None:
        self._candidates: dict[str, Candidate] = {}
        self._holds: Holds = NOTHING_HELD
        self.source = MemoryDeviceSource(
            [self.rule(WIDGET)], journal=MemoryJournal(), held=lambda: self._holds
        )

    def hold(self, *holds: Hold) -> None:
        self._holds = frozenset(holds)

    def appear(self, name: str) -> str:
        node = Node(path=f"/dev/{name}", number=f"200:{NAMES.index(name)}")
        self._put(Candidate(name=name, subsystem="widget", devpath=f"/devices/{name}", node=node))
        return node.path

    def vanish(self, name: str) -> None:
        self.source.remove(self._candidates.pop(name).identity)

    def lose_node(self, name: str) -> None:
        found = self._candidates[name]
        assert found.node
        self._put(attrs.evolve(found, node=attrs.evolve(found.node, present=False)))

    def add_odd(self) -> None:
        self._put(Candidate(name="odd", subsystem="widget", devpath="/devices/odd"))
        self._put(Candidate(name="\udcff", subsystem="other", devpath="/devices/\udcff"))

    def break_down(self) -> None:
        self.source.fail("on purpose")

    def recover(self) -> None:
        self.source.fail("")

    def rule(self, resource: str, *names: str) -> ResourceRule:
        return rule(resource, *_by_subsystem(*names))

    def _put(self, candidate: Candidate) -> None:
        self._candidates[candidate.name] = candidate
        self.source.put(candidate)


class TestMemoryDeviceSource(RuledSourceContract):
    """Without a file system."""

    @contextmanager
    def world(self) -> Generator[RuledSourceWorld]:
        yield _MemoryWorld()
