"""A scanner that is told of other rules: between two looks, never within one."""

from collections.abc import Callable

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.domain.discovery.events import ResourceUnmatched
from deviceplugin.domain.discovery.rulebook import Rulebook
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeSysfs, Machine

OLD = [
    rule("example.com/widget", {"subsystem": "widget"}),
    rule("example.com/gadget", {"subsystem": "gadget"}),
]
NEW = [
    rule("example.com/other", {"subsystem": "widget"}),
    rule("example.com/gadget", {"subsystem": "gadget"}),
]


def _scanner(
    tree: FakeSysfs, journal: MemoryJournal, meanwhile: Callable[[], None] = lambda: None
) -> SysfsScanner:
    """Return a scanner that does something whenever a look begins to read."""

    def reader(root: str) -> Files:
        meanwhile()
        return Files(root)

    return SysfsScanner(
        OLD, nodes=tree.nodes, journal=journal, sys_root=str(tree.root), files=reader
    )


def _resources(scanner: SysfsScanner) -> set[str]:
    return {str(name) for name in scanner.scan().freeze("example.com").resources}


def test_a_look_that_is_under_way_keeps_to_its_rules(machine: Machine) -> None:
    """To all of them, to its end; the next one goes by the new ones alone."""
    machine.sysfs.child("a", subsystem="widget", number=(200, 0))
    scanner = _scanner(machine.sysfs, MemoryJournal(), lambda: scanner.follow(Rulebook(NEW)))
    assert _resources(scanner) == {"example.com/widget", "example.com/gadget"}
    assert _resources(scanner) == {"example.com/other", "example.com/gadget"}


def test_what_did_not_change_is_not_told_again(machine: Machine) -> None:
    """Why the same rule still has no device is known; of a new or changed one it is told."""
    journal = machine.journal
    scanner = _scanner(machine.sysfs, machine.journal)
    for rules in (OLD, NEW, OLD):
        scanner.follow(Rulebook(rules))
        scanner.scan()
    told = [str(event.resource) for event in journal.of(ResourceUnmatched)]
    assert sorted(told) == sorted(
        ["example.com/widget", "example.com/gadget", "example.com/other", "example.com/widget"]
    )


def test_a_rule_that_changed_and_has_no_device_is_told_with_its_own_reasons(
    machine: Machine,
) -> None:
    """Those of the older rule would send people the wrong way."""
    scanner = _scanner(machine.sysfs, machine.journal)
    scanner.scan()
    other = rule("example.com/widget", {"subsystem": "net"})
    scanner.follow(Rulebook([other, OLD[1]]))
    scanner.scan()
    told = [
        event.reasons
        for event in machine.journal.of(ResourceUnmatched)
        if str(event.resource) == "example.com/widget"
    ]
    assert len(told) == 2
    assert "net" in str(told[1])
