"""`deviceplugin validate`: is a configuration valid, and what does it come to."""

import json
import shlex
from pathlib import Path

from tests.support.process import DEVICEPLUGIN, Ended, ran

from deviceplugin.app.settings.schema import schema

BROKEN = """\
version: 1
rescan_secs: 3
resources:
  - name: x
    match: [{subsystem: usb, attributes: {idVendor: 0403}}]
  - name: y
    match: [{nmae: z}]
"""


def validated(place: Path, text: str) -> Ended:
    """Return what is said of a file with this text, whatever the environment says."""
    (place / "plugin.yaml").write_text(text)
    variables = {"DEVICEPLUGIN_RESCAN_SECONDS": "never", "DEVICEPLUGIN_SYS_ROOT": "/nowhere"}
    return ran(*DEVICEPLUGIN, "validate", "plugin.yaml", place=place, variables=variables)


def test_a_valid_file_is_said_to_be_so_with_all_that_it_says(place: Path) -> None:
    """Each alternative of each resource by its full name, and each setting but the defaults."""
    ended = validated(
        place,
        "version: 1\ndomain: example.com\nrescan_seconds: 2.5\nlog_level: info\nresources:\n"
        "  - {name: kvm, match: [{subsystem: misc, name: kvm}]}\n"
        "  - {name: tty, match: [{name: ttyUSB*}, {node: /dev/ttyS0}]}\n",
    )
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "plugin.yaml: valid, 2 resources",
        "resource example.com/kvm: subsystem: misc, name: kvm",
        "resource example.com/tty: name: ttyUSB*",
        "resource example.com/tty: node: /dev/ttyS0",
        "setting domain: example.com",
        "setting rescan_seconds: 2.5",
    ]


def test_all_faults_are_told_at_once_each_with_its_place_and_a_hint(place: Path) -> None:
    ended = validated(place, BROKEN)
    assert (ended.code, ended.out) == (2, "")
    told = [line.partition(": ")[::2] for line in ended.err.splitlines()]
    assert [where for where, _ in told] == [
        "plugin.yaml:2:1",
        "plugin.yaml:5:53",
        "plugin.yaml:7:14",
    ]
    hints = ("did you mean 'rescan_seconds'?", "quote it: '0403'", "did you mean 'name'?")
    assert all(hint in text for hint, (_, text) in zip(hints, told, strict=True))


def test_standard_input_is_a_file_as_well(place: Path) -> None:
    """Whatever made it: a template, or another tool."""
    (place / "plugin.yaml").write_text(BROKEN)
    command = f"cat plugin.yaml | {shlex.join(DEVICEPLUGIN)} validate -"
    ended = ran("sh", "-c", command, place=place)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("/dev/stdin:2:1: unknown key 'rescan_secs'")


def test_that_a_container_can_have_but_one_of_several_is_said(place: Path) -> None:
    """It is valid: one modem for each, wherever it is plugged in."""
    ended = validated(
        place,
        "version: 1\nresources:\n"
        "  - {name: any, match: [{name: ttyUSB*}], container_path: /dev/modem}\n"
        "  - {name: one, match: [{node: /dev/ttyS0}], container_path: /dev/console}\n"
        "  - {name: all, match: [{name: ttyACM*}], container_path: /dev/modems/}\n",
    )
    assert (ended.code, ended.err) == (0, "")
    (note,) = [line for line in ended.out.splitlines() if "a container can have one" in line]
    assert note.startswith("resource devices.local/any: ")
    assert "/dev/modem there" in note


def test_a_text_that_seems_a_regular_expression_is_said_to_be_none(place: Path) -> None:
    """It is valid: a network card may be called so."""
    ended = validated(
        place,
        "version: 1\nresources:\n"
        "  - {name: a, match: [{name: 'ttyUSB(0|1)'}, {node: ['/dev/x', '/dev/tty$']}]}\n"
        "  - {name: b, match: [{name: {regex: 'tty(a|b)'}}, {name: '0000:3b:00.*'}]}\n"
        "  - {name: c, match: [{attributes: {model: 'a|b'}}]}\n",
    )
    assert (ended.code, ended.err) == (0, "")
    notes = [line for line in ended.out.splitlines() if "letter by letter" in line]
    assert [note.split(" is looked for")[0] for note in notes] == [
        "resource devices.local/a: 'ttyUSB(0|1)'",
        "resource devices.local/a: '/dev/tty$'",
    ]
    assert notes[0].endswith("write {regex: 'ttyUSB(0|1)'}, or a list")
    assert notes[1].endswith(": write a list")


def test_a_file_that_is_not_there_is_named(place: Path) -> None:
    ended = ran(*DEVICEPLUGIN, "validate", "none.yaml", place=place)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "none.yaml: cannot be read: No such file or directory\n"


def test_the_schema_is_a_document_for_programs(place: Path) -> None:
    """That it agrees with what is read is held where it is made."""
    ended = ran(*DEVICEPLUGIN, "schema", place=place)
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == schema()


# --- what is shipped ----------------------------------------------------------------------------


def test_presets_are_listed_a_line_each(place: Path) -> None:
    """With what a pod gets."""
    ended = ran(*DEVICEPLUGIN, "presets", place=place)
    assert (ended.code, ended.err) == (0, "")
    lines = dict(line.split(maxsplit=1) for line in ended.out.splitlines())
    assert list(lines) == sorted(lines)
    assert lines["kvm"] == "/dev/kvm"
    assert lines["serial"] == "one USB serial port, /dev/ttyUSB* or /dev/ttyACM*"


def test_a_preset_is_printed_as_the_file_that_it_is(place: Path) -> None:
    """It can be saved, changed and used."""
    ended = ran(*DEVICEPLUGIN, "presets", "tpm", place=place)
    assert (ended.code, ended.err) == (0, "")
    again = validated(place, ended.out)
    assert (again.code, again.err) == (0, "")
    assert "resource devices.local/tpm: " in again.out


def test_a_preset_that_is_not_there_is_a_mistake_with_a_hint(place: Path) -> None:
    ended = ran(*DEVICEPLUGIN, "presets", "kvmm", place=place)
    assert (ended.code, ended.out) == (2, "")
    assert "no preset 'kvmm': did you mean 'kvm'?" in ended.err
