"""How long a look at the hardware takes, beside reading the same files in the plainest way.

The tree is made once: PCI functions with a driver, each with an accelerator's node below it.
"""

import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs

from benchmarks.results import Result
from deviceplugin.adapters.sysfs.files import Files, read_page
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import Machine

_DEVICES = 1000
_EVERY = rule("bench.example.com/every", {"subsystem": "accel", "pci": "8086:*"})
_SOME = rule("bench.example.com/some", {"subsystem": "accel", "pci": "8086:0bd5"})


@contextmanager
def _machine(devices: int) -> Generator[Machine]:
    with TemporaryDirectory() as directory:
        machine = Machine(directory)
        machine.sysfs.numa_online("0-1")
        for number in range(devices):
            address = f"{number >> 13:04x}:{number >> 5 & 255:02x}:{number & 31:02x}.0"
            function = machine.sysfs.pci(
                address,
                vendor="0x8086",
                device="0x0bda" if number % 10 else "0x0bd5",
                driver="xe",
                numa_node=str(number % 2),
            )
            machine.sysfs.child(
                f"accel{number}",
                subsystem="accel",
                below=function,
                number=(261, number),
                attributes={"serial": f"S{number:08}"},
            )
        yield machine


def _plainly(path: str) -> str:
    """Read a file as anybody would."""
    return Path(path).read_text().strip()


def _plain_link(path: str) -> Path:
    return Path(path).readlink()


def _barely(path: str) -> str:
    """Read a file without a `Path`, which is half of what reading it takes."""
    with open(path) as file:  # noqa: PTH123 - to know what that saves
        return file.read().strip()


_PLAIN: Final = {"read": _plainly, "link": _plain_link, "list": os.listdir}
"""How each sort of question is asked in the plainest way."""
_BARE: Final = {"read": _barely, "link": os.readlink, "list": os.listdir}
"""And with as little as the language needs."""


class _Asked:
    """What a scan asks the file system, to ask the same once more."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def reader(self, root: str) -> Files:
        """Return a reader that takes note of each question that was answered."""
        asked = self.asked

        def read(path: str) -> bytes:
            data = read_page(path)
            asked.append(("read", path))
            return data

        def listdir(path: str) -> Iterable[str]:
            asked.append(("list", path))
            return os.listdir(path)  # noqa: PTH208 - as the reader does

        class Noting(Files):
            def link(self, path: str) -> str | None:
                found = super().link(path)
                if found is not None:
                    asked.append(("link", root + path))
                return found

        return Noting(root, read=read, listdir=listdir)

    def again(self, ways: Mapping[str, Callable[[str], object]]) -> None:
        """Ask all of it again, in these ways."""
        for sort, path in self.asked:
            ways[sort](path)


def _best(calls: Iterable[Callable[[], object]], rounds: int) -> list[float]:
    """Return the shortest time of each, taken in turns: what disturbs one disturbs all."""
    made = list(calls)
    times: list[list[float]] = [[] for _ in made]
    for _ in range(rounds):
        for call, taken in zip(made, times, strict=True):
            begin = time.perf_counter()
            call()
            taken.append(time.perf_counter() - begin)
    return [min(taken) for taken in times]


@attrs.frozen(kw_only=True)
class _Times:
    """Seconds: of plain and of bare reading, of a first look and of a second one."""

    plain: float
    bare: float
    first: float
    again: float


def _looks(wanted: ResourceRule, rounds: int = 15) -> _Times:
    with _machine(_DEVICES) as machine:
        asked = _Asked()
        machine.scanner(wanted, files=asked.reader).scan()
        known = machine.scanner(wanted)
        known.scan()
        calls = (
            partial(asked.again, _PLAIN),
            partial(asked.again, _BARE),
            lambda: machine.scanner(wanted).scan(),
            known.scan,
        )
        plain, bare, first, again = _best(calls, rounds)
        return _Times(plain=plain, bare=bare, first=first, again=again)


def _scans(wanted: ResourceRule, what: str) -> list[Result]:
    """A look from nothing to a tree, and one more, when nothing has changed."""
    times, of = _looks(wanted), f"scan of {_DEVICES} devices, {what}"
    return [
        _against(of, times.plain, times.first, 1.5),
        _against(f"{of}, against open()", times.bare, times.first, None),
        _against(f"re{of}, against open()", times.bare, times.again, 0.5),
    ]


def scan_some() -> list[Result]:
    """A tenth of the devices match."""
    return _scans(_SOME, "a tenth match")


def scan_every() -> list[Result]:
    """All devices match."""
    return _scans(_EVERY, "all match")


def growth(few: int = 100, many: int = 10_000) -> list[Result]:
    """Time for each device, of few and of many: of a first look, and of one more."""
    firsts: list[float] = []
    agains: list[float] = []
    for devices in (few, many):
        with _machine(devices) as machine:
            known = machine.scanner(_EVERY)
            known.scan()
            calls = (lambda m=machine: m.scanner(_EVERY).scan(), known.scan)
            first, again = _best(calls, 15 if devices == few else 3)
            firsts.append(first / devices)
            agains.append(again / devices)
    against = f"for each of {many} devices, against {few}"
    return [
        _against(f"scan {against}", *firsts, 1.5),
        _against(f"rescan {against}", *agains, 1.5),
    ]


def many_rules(rules: int = 50) -> list[Result]:
    """Questions that the file system is asked for many resources, against one."""
    wanted = [
        rule(f"bench.example.com/r{number}", {"subsystem": "accel", "pci": f"8086:{number:04x}"})
        for number in range(rules)
    ]
    firsts: list[int] = []
    agains: list[int] = []
    with _machine(_DEVICES) as machine:
        for given in (wanted[:1], wanted):
            asked = _Asked()
            scanner = machine.scanner(*given, files=asked.reader)
            scanner.scan()
            firsts.append(len(asked.asked))
            scanner.scan()
            agains.append(len(asked.asked) - firsts[-1])
    return [
        Result(
            name=f"what {rules} resources ask of the file system{look}, against one",
            unit="",
            bare=counts[0],
            ours=counts[1],
            bound=1.0,
        )
        for look, counts in (("", firsts), (" once more", agains))
    ]


def _against(name: str, plain: float, ours: float, bound: float | None) -> Result:
    return Result(name=name, unit="ms", bare=plain * 1e3, ours=ours * 1e3, bound=bound)
