"""The laws of asking: a look asks the file system little, and nothing twice.

Questions are counted, not time: each of them is a system call or a few.
"""

from collections import Counter
from collections.abc import Collection
from functools import partial
from typing import TypeVar

import pytest

from deviceplugin.adapters.sysfs.files import Files, Identity
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeDevice, Machine

ALL = rule("x.local/x", {"subsystem": "accel", "pci": "8086:*"})
NONE = rule("x.local/x", {"subsystem": "accel", "pci": "1234:*"})

Questions = Counter[tuple[str, str]]
_Answer = TypeVar("_Answer")


class Asking(Files):
    """Counts questions by what is asked for and path, and those in vain by directory."""

    def __init__(self, root: str, *, asked: Questions, in_vain: Counter[str]) -> None:
        super().__init__(root)
        self._asked, self._in_vain = asked, in_vain

    def link(self, path: str) -> str | None:
        return self._noted("link", path, super().link(path))

    def has(self, path: str) -> bool:
        return bool(self._noted("has", path, super().has(path) or None))

    def data(self, path: str) -> bytes | None:
        return self._noted("data", path, super().data(path))

    def identity(self, path: str) -> Identity | None:
        return self._noted("identity", path, super().identity(path))

    def entries(self, directory: str) -> Collection[str] | None:
        return self._noted("entries", directory, super().entries(directory))

    def _noted(self, how: str, path: str, answer: _Answer) -> _Answer:
        self._asked[how, path] += 1
        if answer is None:
            self._in_vain[path.rpartition("/")[0]] += 1
        return answer


def card(machine: Machine, number: int) -> FakeDevice:
    """Add an accelerator with a driver, a NUMA node and a serial number to the machine."""
    address = f"0000:00:{number >> 3:02x}.{number & 7}"
    function = machine.sysfs.pci(address, vendor="0x8086", driver="xe", numa_node="0")
    return machine.sysfs.child(
        f"accel{number}",
        subsystem="accel",
        below=function,
        number=(261, number),
        attributes={"serial": f"S{number}"},
    )


def look(machine: Machine, wanted: ResourceRule) -> tuple[Questions, Counter[str]]:
    """Return what a first look asks, and how often in vain."""
    asked, in_vain = Questions(), Counter[str]()
    machine.scanner(wanted, files=partial(Asking, asked=asked, in_vain=in_vain)).scan()
    return asked, in_vain


@pytest.mark.parametrize("wanted", [ALL, NONE])
def test_nothing_is_asked_twice(machine: Machine, wanted: ResourceRule) -> None:
    for number in range(3):
        card(machine, number)
    asked, _ = look(machine, wanted)
    assert {question: count for question, count in asked.items() if count > 1} == {}


@pytest.mark.parametrize("wanted", [ALL, NONE])
def test_a_directory_is_asked_in_vain_once(machine: Machine, wanted: ResourceRule) -> None:
    """From then on what is in it is known: absent files are not asked for one by one."""
    for number in range(3):
        card(machine, number)
    _, in_vain = look(machine, wanted)
    assert in_vain
    assert max(in_vain.values()) == 1


@pytest.mark.parametrize(("wanted", "most"), [(NONE, 9), (ALL, 16)])
def test_each_device_costs_as_much_as_any_other(
    machine: Machine, wanted: ResourceRule, most: int
) -> None:
    """A few questions if no rule matches it, twice as many for all that there is to know."""
    counts: list[int] = []
    for number in range(40):
        card(machine, number)
        if number in {1, 2, 39}:
            counts.append(look(machine, wanted)[0].total())
    second, third, last = counts
    each = third - second
    assert each <= most
    assert last - third == 37 * each


def test_what_siblings_are_part_of_is_asked_once(machine: Machine) -> None:
    """A thousand devices of one card share what is to be known of that."""
    function = machine.sysfs.pci("0000:01:00.0", vendor="0x8086", driver="xe", numa_node="0")
    costs: list[int] = []
    for number in range(3):
        machine.sysfs.child(
            f"accel{number}", subsystem="accel", below=function, number=(261, number)
        )
        costs.append(look(machine, ALL)[0].total())
    first, second, third = costs
    assert third - second == second - first
    assert third - second < first / 2
