"""`deviceplugin record`: what a scan reads becomes a small tree that says the same elsewhere."""

import json
from pathlib import Path

from tests.support.machines import on_disk
from tests.support.process import DEVICEPLUGIN, ran

from deviceplugin.testing.sysfs import FakeSysfs

RULES = """\
version: 1
domain: example.com
resources:
  - {name: modem, match: [{subsystem: tty, name: ttyUSB*}]}
"""


def machine(place: Path) -> Path:
    """Return a machine with a modem, on disk, and beside it a configuration, plugin.yaml."""
    sysfs = FakeSysfs(place / "machine")
    sysfs.serial_port("ttyUSB0", serial="A50285BI")
    (place / "plugin.yaml").write_text(RULES)
    return on_disk(sysfs)


def scanned(place: Path, *arguments: str) -> object:
    """Return what a scan says for programs."""
    ended = ran(*DEVICEPLUGIN, "scan", "--json", *arguments, place=place)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_a_recording_is_looked_at_by_its_name_alone(place: Path) -> None:
    """Its configuration comes along, and the result is that of the machine."""
    live = ("--root", str(machine(place)), "--config", "plugin.yaml")
    ended = ran(*DEVICEPLUGIN, "record", "copy", *live, place=place)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("copy: ")
    assert "deviceplugin scan --root copy" in ended.out
    assert scanned(place, "--root", "copy") == scanned(place, *live)


def test_a_configuration_that_can_be_read_but_once_comes_along(place: Path) -> None:
    """From a pipe: what a shell hands over has been read when the machine was looked at."""
    live = ("--root", str(machine(place)))
    piped = ("sh", "-c", 'cat plugin.yaml | "$@"', "sh", *DEVICEPLUGIN)
    for more in ((), ("--mask",)):
        copy = f"copy{''.join(more)}"
        arguments = ("record", copy, *more, *live, "--config", "/dev/stdin")
        ended = ran(*piped, *arguments, place=place)
        assert (ended.code, ended.err) == (0, "")
        assert (place / copy / "plugin.yaml").read_text() == RULES
    assert scanned(place, "--root", "copy") == scanned(place, *live, "--config", "plugin.yaml")


def test_this_machine_can_be_recorded(place: Path) -> None:
    """By anybody; with the shipped configurations, what is found in the copy is found live."""
    ended = ran(*DEVICEPLUGIN, "record", "copy", place=place)
    assert (ended.code, ended.err) == (0, "")
    assert scanned(place, "--root", "copy") == scanned(place)


def test_a_masked_recording_holds_no_serial_number(place: Path) -> None:
    live = ("--root", str(machine(place)), "--config", "plugin.yaml")
    ended = ran(*DEVICEPLUGIN, "record", "copy", "--mask", *live, place=place)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[0].endswith(", masked")
    held = [each.read_bytes() for each in (place / "copy").rglob("*") if each.is_file()]
    assert held
    assert not [data for data in held if b"A50285BI" in data]


def test_a_directory_that_is_not_empty_is_refused_as_it_is(place: Path) -> None:
    (place / "copy").mkdir()
    (place / "copy/mine").write_text("mine")
    ended = ran(*DEVICEPLUGIN, "record", "copy", place=place)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("copy is not empty: ")
    assert [each.name for each in (place / "copy").iterdir()] == ["mine"]


def test_nothing_that_a_recording_says_is_run(place: Path) -> None:
    """It may come from anybody: commands of its configuration are not for this machine."""
    live = machine(place)
    probe = f"probe: {{command: [/bin/touch, {place}/run]}}"
    (place / "plugin.yaml").write_text(RULES.replace("{name: modem", f"{{name: modem, {probe}"))
    arguments = ("--root", str(live), "--config", "plugin.yaml")
    assert ran(*DEVICEPLUGIN, "record", "copy", *arguments, place=place).code == 0
    for command in (
        ("scan",),
        ("scan", "--json"),
        ("explain", "modem"),
        ("explain", "/dev/ttyUSB0"),
    ):
        ended = ran(*DEVICEPLUGIN, *command, "--root", "copy", place=place)
        assert ended.code == 0, ended.err
    assert not (place / "run").exists()
