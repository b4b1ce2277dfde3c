"""What a configuration may say of health, and how it is told what it may not."""

import pytest

from deviceplugin.app.settings.document import compose
from deviceplugin.app.settings.reader import Reader
from deviceplugin.app.settings.resources import read_resources
from deviceplugin.domain.discovery.health import Probe
from deviceplugin.domain.discovery.matching import ResourceRule

BEGIN = "- name: x\n  match:\n    - subsystem: tty\n"


def read(text: str) -> tuple[tuple[ResourceRule, ...], list[str]]:
    """Return the rules of a resource that says this, too, and the faults."""
    reader = Reader("file")
    node = compose(BEGIN + text, "file")
    assert node is not None
    rules = read_resources(reader, node, "example.com")
    return rules, [str(fault) for fault in reader.faults]


def test_a_resource_says_when_its_devices_are_well() -> None:
    (found,), faults = read(
        "  healthy_when:\n"
        "    - attributes: {temp1_input: {lt: 90000}}\n"
        "      driver: xe\n"
        "  probe: {command: [/usr/bin/check, '{node}'], interval: 30, timeout: 2.5}\n"
        "  unhealthy_after: 3\n"
        "  healthy_after: 2\n"
        "  changing: [power/runtime_status]\n"
    )
    assert faults == []
    assert str(found.healthy_when[0]) == "driver: xe, attributes.temp1_input: lt 90000"
    assert found.probe == Probe(command=("/usr/bin/check", "{node}"), interval=30, timeout=2.5)
    assert (found.unhealthy_after, found.healthy_after) == (3, 2)
    assert found.read_each_time == {"temp1_input", "power/runtime_status"}


def test_one_word_is_a_list_of_one() -> None:
    (found,), _ = read("  probe: {command: /usr/bin/check}\n  changing: state\n")
    assert found.probe == Probe(command=("/usr/bin/check",))
    assert found.changing == {"state"}


def test_a_program_with_a_blank_in_its_path_is_the_first_of_a_list() -> None:
    """Where each entry is one word, whatever is in it."""
    (found,), faults = read("  probe: {command: [/opt/my tools/check, -v, a b]}\n")
    assert faults == []
    assert found.probe == Probe(command=("/opt/my tools/check", "-v", "a b"))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("  probe: {}\n", "4:10: probe: needs either 'command' or 'file'"),
        ("  probe: {command: []}\n", "4:10: probe: needs either 'command' or 'file'"),
        ("  probe: {command: check}\n", "4:10: probe: must be an absolute path"),
        (
            "  probe: {command: '/bin/test -e {node}'}\n",
            'write a list, the program first, as in ["/bin/test", "-e", "{node}"]',
        ),
        (f"  probe: {{command: /bin/x {'y' * 160}}}\n", "4:20: command: no shell takes a text"),
        ("  probe: {file: '/run/{what}'}\n", "4:10: probe: {what} must be one of {id}, {name}"),
        ("  probe: {file: /run/x, every: 5}\n", "4:25: unknown key 'every'"),
        ("  probe: {file: /run/x, interval: soon}\n", "4:35: must be a number"),
        ("  probe: {file: /run/x, timeout: 0}\n", "4:34: probe: 0 must be 0.1 to 86400 seconds"),
        ("  probe: /bin/check\n", "4:10: must have keys and values"),
        ("  unhealthy_after: 0\n", "4:20: '0' must be a number of looks, 1 to 1000"),
        ("  healthy_after: 1.5\n", "4:18: '1.5' must be a number of looks, 1 to 1000"),
        ("  healthy_when: []\n", "4:17: needs at least one entry"),
        ("  healthy_when: [{}]\n", "4:18: needs at least one condition"),
        ("  changing: [../x]\n", "4:14: attribute '../x': must be a file below the device"),
        ("  health: good\n", "4:3: unknown key 'health'"),
    ],
)
def test_what_it_may_not_say_is_told_with_its_place(text: str, fault: str) -> None:
    rules, faults = read(text)
    assert rules == ()
    assert [each for each in faults if fault in each], faults


def test_all_faults_of_a_probe_are_told_at_once() -> None:
    """Of whatever sort each is."""
    _, faults = read("  probe: {file: /run/x, interval: 0, timeout: abc}\n")
    assert [each.split(": ")[0] for each in faults] == ["file:4:35", "file:4:47"]
