"""The laws of what a file says of conditions: operators, hardware, parents, exclusions."""

from pathlib import Path

import pytest

from deviceplugin.app.settings import InvalidConfigurationError, load
from deviceplugin.domain.discovery.matching import ResourceRule


def loaded(tmp_path: Path, match: str, rest: str = "") -> ResourceRule:
    """Return the rule of a file with one resource; `match` begins in line 4, column 13."""
    path = tmp_path / "config.yaml"
    path.write_text(f"version: 1\nresources:\n  - name: x\n    match: [{match}]\n{rest}")
    (rule,) = load(str(path), {}, {}).rules
    return rule


def faults(tmp_path: Path, match: str, rest: str = "") -> list[str]:
    """Return what is wrong with a file, each without the file's name."""
    with pytest.raises(InvalidConfigurationError) as caught:
        loaded(tmp_path, match, rest)
    return [str(fault).removeprefix(f"{tmp_path}/config.yaml:") for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("{name: {in: [a*, b]}}", "name: a* or b"),
        ("{name: {not_in: [a, b]}}", "name: not a or b"),
        ("{name: {glob: a*}}", "name: a*"),
        ("{name: {regex: 'a|b+'}}", "name: a|b+"),
        ("{driver: {exists: true}}", "driver: any value"),
        ("{driver: {exists: false}}", "driver: no value"),
        ("{attributes: {size: {gt: 5}}}", "attributes.size: gt 5"),
        ("{attributes: {size: {ge: '5', lt: 0x10}}}", "attributes.size: ge 5 and lt 0x10"),
        ("{attributes: {t: {range: [-1, 2.5]}}}", "attributes.t: ge -1 and le 2.5"),
        (
            "{name: {not_in: [a], regex: '.*', exists: true}}",
            "name: not a and .* and any value",
        ),
        ("{properties: {PRODUCT: 10c4/*}}", "properties.PRODUCT: 10c4/*"),
        ("{pci: '8086:56C0'}", "pci.id: 8086:56c0"),
        ("{pci: ['8086:*', '0x10de:*']}", "pci.id: 8086:* or 10de:*"),
        (
            "{pci: {id: '8086:*', class: '03*', subsystem: '1028:*'}}",
            "pci.id: 8086:*, pci.class: 03*, pci.subsystem: 1028:*",
        ),
        ("{pci: {not_in: ['8086:*']}}", "pci.id: not 8086:*"),
        (
            "{usb: {id: 10c4:ea60, serial: 'A*', interface: '1'}}",
            "usb.id: 10c4:ea60, usb.serial: A*, usb.interface: 01",
        ),
        ("{usb: {serial: {exists: true}}}", "usb.serial: any value"),
        (
            "{parents: {driver: usb, attributes: {idVendor: '0403'}}}",
            "parents: {driver: usb, attributes.idVendor: 0403}",
        ),
        (
            "{parents: [{driver: a}, {driver: {not_in: [b]}}]}",
            "parents: {driver: a}, parents: {driver: not b}",
        ),
        ("{node: {in: [/dev/a, /dev/b*]}}", "node: /dev/a or /dev/b*"),
        ("{node: {glob: /dev/a}}", "node: /dev/a"),
    ],
)
def test_a_condition_means_what_it_says(tmp_path: Path, match: str, said: str) -> None:
    """Shown as a miss shows what was wanted."""
    (alternative,) = loaded(tmp_path, match).match
    assert str(alternative) == said


@pytest.mark.parametrize(
    ("match", "said"),
    [
        ("{name: {}}", "4:20: needs at least one operator"),
        (
            "{name: {inn: [a]}}",
            "4:21: unknown key 'inn': did you mean 'in'? allowed are in, not_in",
        ),
        ("{name: {in: a}}", "4:25: must be a list, each entry after a '- '"),
        ("{name: {in: []}}", "4:25: needs at least one value"),
        ("{name: {not_in: [1]}}", "4:30: 1 without quotes is the number 1"),
        ("{name: {regex: '(a'}}", "4:28: regular expression '(a': a '(' is not closed, at char"),
        ("{name: {regex: '(?=a)'}}", "4:28: regular expression '(?=a)': of groups only"),
        ("{name: {regex: [a]}}", "4:28: must be text, not a list"),
        ("{name: {exists: 1}}", "4:29: must be true or false"),
        ("{name: {gt: many}}", "4:25: must be a number such as 5, -1, 0.5 or 0x1f, not 'many'"),
        ("{name: {gt: 010}}", "4:25: 010 without quotes is the number 8; quote it: '010'"),
        ("{name: {gt: 0o10}}", "4:25: must be a number such as 5, -1, 0.5 or 0x1f, not '0o10'"),
        (
            f"{{name: {{gt: 0{'7' * 24}}}}}",
            f"4:25: 0{'7' * 24} without quotes is the number {8**24 - 1}; quote it: '0{'7' * 24}'",
        ),
        ("{name: {gt: 1:30}}", "4:25: must be a number"),
        ("{name: {gt: }}", "4:24: must be a number"),
        ("{name: {range: [1]}}", "4:28: must be a list of two numbers"),
        ("{name: {range: 5}}", "4:28: must be a list"),
        ("{name: {range: [a, 5]}}", "4:29: must be a number"),
        ("{name: {range: [5, 1]}}", "4:28: the range begins with 5, which is more than 1"),
        ("{node: {regex: a}}", "4:21: unknown key 'regex': allowed are in, glob"),
        ("{pci: {gt: 5}}", "4:20: unknown key 'gt': "),
        (
            "{pci: {vendor: '8086'}}",
            "4:20: unknown key 'vendor': allowed are id, subsystem, class",
        ),
        ("{usb: {class: '03'}}", "4:20: unknown key 'class': "),
        ("{pci: {}}", "4:13: needs at least one condition"),
        ("{pci: 8086}", "4:19: '8086' must be 'vendor:device'"),
        ("{pci: '8086'}", "4:19: '8086' must be 'vendor:device'"),
        ("{usb: '1f403:6001'}", "4:19: '1f403:6001' must be 'vendor:device'"),
        ("{usb: 10:20}", "4:19: '10:20' must be 'vendor:device'"),
        ("{usb: {id: 0403:6001, interface: 01}}", "4:46: 01 without quotes is the number 1"),
        ("{usb: {interface: '0x100'}}", "4:31: '0x100' must be an interface's number"),
        ("{properties: {A=B: c}}", "4:27: property 'A=B': must be a key of the device's uevent"),
        ("{properties: x}", "4:26: must have keys and values"),
        ("{parents: []}", "4:23: needs at least one entry"),
        ("{parents: {}}", "4:23: needs at least one condition"),
        ("{parents: x}", "4:23: must be a list"),
        ("{parents: {node: /dev/x}}", "4:24: unknown key 'node': "),
        ("{parents: [{parents: {name: x}}]}", "4:25: unknown key 'parents': "),
        ("{in_use: true}", "4:14: unknown key 'in_use': "),
    ],
)
def test_a_fault_says_where_what_is_wrong_and_what_is_allowed(
    tmp_path: Path, match: str, said: str
) -> None:
    """The file, the line, the column; and what to do."""
    (fault,) = faults(tmp_path, match)
    assert fault.startswith(said)


def test_several_faults_of_operators_are_told_at_once(tmp_path: Path) -> None:
    match = "{name: {gt: a, regex: '[', in: []}, pci: {id: x, class: y}}"
    assert [fault.split(": ")[0] for fault in faults(tmp_path, match)] == [
        "4:25",
        "4:35",
        "4:44",
        "4:59",
        "4:69",
    ]


def test_exclusions_are_in_the_same_language(tmp_path: Path) -> None:
    rest = (
        "    exclude:\n      - usb: 10c4:*\n      - {name: {regex: 'ttyS.'}}\n"
        "    exclude_in_use: true\n"
    )
    rule = loaded(tmp_path, "{subsystem: tty}", rest)
    assert [str(each) for each in rule.exclude] == ["usb.id: 10c4:*", "name: ttyS."]
    assert rule.exclude_in_use


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        ("    exclude: {name: x}\n", "5:14: must be a list"),
        ("    exclude: []\n", "5:14: needs at least one entry"),
        ("    exclude: [{}]\n", "5:15: needs at least one condition"),
        ("    exclude: [{name: [1]}]\n", "5:23: 1 without quotes"),
        ("    exclude_in_use: mounted\n", "5:21: must be true or false"),
    ],
)
def test_a_fault_of_an_exclusion_has_its_place(tmp_path: Path, rest: str, said: str) -> None:
    (fault,) = faults(tmp_path, "{name: x}", rest)
    assert fault.startswith(said)


def test_without_exclusions_nothing_is_left_out(tmp_path: Path) -> None:
    """What a file said before there were any means the same."""
    rule = loaded(tmp_path, "{name: x}")
    assert (rule.exclude, rule.exclude_in_use, rule.exclusions) == ((), False, ())
