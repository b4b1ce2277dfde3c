"""`deviceplugin explain`: why a resource has its devices, and who has a device."""

import os
import re
from pathlib import Path
from subprocess import run

import pytest
from tests.support.machines import on_disk
from tests.support.process import DEVICEPLUGIN, Ended, ran, unprivileged

from deviceplugin.testing.sysfs import FakeSysfs, Oddity

RULES = """\
version: 1
domain: example.com
resources:
  - {name: kvm, match: [{subsystem: misc, name: kvm}]}
  - {name: modem, match: [{subsystem: tty, driver: ftdi_sio}, {subsystem: tty, name: ttyUSB1}]}
  - {name: all, match: [{subsystem: tty, name: "tty*"}]}
"""


@pytest.fixture
def sysfs(place: Path) -> FakeSysfs:
    """Return a machine with two modems and eight consoles; a configuration lies beside it."""
    tree = FakeSysfs(place / "machine")
    tree.serial_port("ttyUSB0", serial="A1")
    tree.serial_port("ttyUSB1", minor=1)
    for minor in range(8):
        tree.child(f"console{minor}", subsystem="tty", number=(4, minor))
    (place / "plugin.yaml").write_text(RULES)
    return tree


def explained(place: Path, sysfs: FakeSysfs, *arguments: str) -> Ended:
    """Run it on the machine."""
    root = str(on_disk(sysfs))
    command = (*DEVICEPLUGIN, "explain", "--config", "plugin.yaml", "--root", root)
    return ran(*command, *arguments, place=place)


def test_a_resource_says_what_it_has_and_what_ruled_out_the_others(
    place: Path, sysfs: FakeSysfs
) -> None:
    """Those that one condition ruled out are told together, with what was seen."""
    ended = explained(place, sysfs, "modem")
    assert (ended.code, ended.err) == (0, "")
    title, *lines = ended.out.splitlines()
    assert title == "example.com/modem: 1 of 10 devices that were looked at"
    assert lines[:2] == [
        "  wants subsystem: tty, driver: ftdi_sio",
        "  wants subsystem: tty, name: ttyUSB1",
    ]
    assert lines[2].startswith("  + ttyUSB1 (/devices/pci0000:02/")
    assert lines[2].endswith(", /dev/ttyUSB1")
    (missed,) = lines[3:]
    assert missed == (
        "  - driver: wanted ftdi_sio; 9 devices: ttyUSB0 (cp210x), console0 (nothing), "
        "console1 (nothing), console2 (nothing), console3 (nothing) and 4 more"
    )
    assert "\x1b" not in ended.out


def test_each_device_is_named_if_asked_for(place: Path, sysfs: FakeSysfs) -> None:
    """By its full name, too."""
    ended = explained(place, sysfs, "example.com/modem", "--all")
    missed = [line for line in ended.out.splitlines() if line.startswith("  - ")]
    assert len(missed) == 9
    assert (
        "  - console7 (/devices/virtual/tty/console7): driver: wanted ftdi_sio, seen nothing"
        in missed
    )


def test_a_node_says_which_device_it_is_and_who_has_it(place: Path, sysfs: FakeSysfs) -> None:
    """And why each of the others does not: by a condition, or because it is taken."""
    ended = explained(place, sysfs, "/dev/ttyUSB1")
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("ttyUSB1 (/devices/pci0000:02/")
    facts = dict(line.split(maxsplit=1) for line in lines if line.startswith("  "))
    assert facts["subsystem"] == "tty"
    assert facts["driver"] == "cp210x"
    assert facts["node"] == "/dev/ttyUSB1 (char 188:1)"
    assert lines[-3].startswith("+ example.com/modem has it")
    assert lines[-2:] == [
        "- example.com/kvm: subsystem: wanted misc, seen 'tty'",
        "- example.com/all: its device node already belongs to example.com/modem",
    ]


def test_a_device_that_nobody_has_is_explained_by_each_resource(
    place: Path, sysfs: FakeSysfs
) -> None:
    """Even if no resource would look where it is; by its path below /sys, through a link."""
    sysfs.misc("fuse", 229)
    ended = explained(place, sysfs, "/sys/class/misc/fuse")
    assert ended.out.splitlines()[0] == "fuse (/devices/virtual/misc/fuse)"
    assert ended.out.splitlines()[-4:] == [
        "no resource has it",
        "- example.com/kvm: name: wanted kvm, seen 'fuse'",
        "- example.com/modem: subsystem: wanted tty, seen 'misc'",
        "- example.com/all: subsystem: wanted tty, seen 'misc'",
    ]


def test_a_conflict_that_is_an_error_is_explained_too(place: Path, sysfs: FakeSysfs) -> None:
    """Nobody gets the device then; who claims what is what the person has to know."""
    ended = explained(place, sysfs, "all", "--on-conflict", "error")
    assert ended.code == 0
    assert "its device node already belongs to example.com/modem, so that nobody" in ended.out
    last = ended.out.splitlines()[-1]
    assert last.startswith("not offered: resources claim the same device: ")
    modem = explained(place, sysfs, "modem", "--on-conflict", "error").out
    assert modem.startswith("example.com/modem: 0 of 10 devices")
    assert "/ttyUSB1): example.com/all claims it, too, so that nobody gets it\n" in modem
    of_node = explained(place, sysfs, "/dev/ttyUSB1", "--on-conflict", "error").out
    assert "no resource has it\n" in of_node
    assert "\nnot offered: resources claim the same device: " in of_node


@pytest.mark.parametrize("subject", ["kvm", "/sys/class/tty/console0"])
def test_a_conflict_of_others_is_told_as_that(place: Path, sysfs: FakeSysfs, subject: str) -> None:
    """A device that is offered is not called otherwise."""
    told = explained(place, sysfs, subject, "--on-conflict", "error").out.splitlines()
    assert told[-1].startswith("other devices are not offered: resources claim the same device: ")


def test_a_recording_explains_what_the_machine_does(place: Path, sysfs: FakeSysfs) -> None:
    """Each resource, and each device that was looked at, whoever has it."""
    root = str(on_disk(sysfs))
    live = ("--config", "plugin.yaml", "--root", root)
    assert ran(*DEVICEPLUGIN, "record", "copy", *live, place=place).code == 0
    ttys = [each for each in sysfs if each.subsystem == "tty"]
    paths = [*(f"/dev/{each.node}" for each in ttys[:3]), f"/sys{ttys[0].path}"]
    for subject in ("kvm", "modem", "all", *paths):
        command = (*DEVICEPLUGIN, "explain", subject, "--all")
        first = ran(*command, *live, place=place)
        assert first.code == 0
        assert ran(*command, "--root", "copy", place=place) == first


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("modme", "no resource example.com/modme is configured: did you mean example.com/modem?"),
        ("a b", "resource"),
        ("/dev/none", "/dev/none: no device of this machine is known by this path"),
        ("/dev/../etc", "/dev/../etc"),
        ("/sys/class/tty", "/sys/class/tty: no device of this machine is known by this path"),
        ("/sys/none", "/sys/none: not a device's path"),
        ("/sys/../../etc", "/sys/../../etc: not a device's path"),
        ("/etc", "/etc: not a device's path"),
        ("/", "/: not a device's path"),
    ],
)
def test_what_is_not_there_is_a_mistake(
    place: Path, sysfs: FakeSysfs, subject: str, said: str
) -> None:
    """Told in a line that names it."""
    ended = explained(place, sysfs, subject)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


@pytest.mark.parametrize("target", ["../../ttyUSB9", "/dev/none", "/etc/hostname", "gone"])
def test_a_link_whose_end_is_missing_is_told_as_one(
    place: Path, sysfs: FakeSysfs, target: str
) -> None:
    """One that was left behind, or made by hand; what lies outside of /dev is no device node."""
    links = on_disk(sysfs) / "dev/serial/by-id"
    links.mkdir(parents=True, exist_ok=True)
    (links / "gone").symlink_to(target)
    ended = explained(place, sysfs, "/dev/serial/by-id/gone")
    assert (ended.code, ended.out) == (2, "")
    said = f"/dev/serial/by-id/gone: is a link to '{target}', where there is no device node"
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_link_to_a_device_is_told_as_the_device(place: Path, sysfs: FakeSysfs) -> None:
    """Whatever the link is called."""
    links = on_disk(sysfs) / "dev/serial/by-id"
    links.mkdir(parents=True, exist_ok=True)
    (links / "there").symlink_to("../../ttyUSB1")
    ended = explained(place, sysfs, "/dev/serial/by-id/there")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("ttyUSB1 (")


def test_why_a_device_is_unhealthy_is_told_beside_it(place: Path, sysfs: FakeSysfs) -> None:
    """By whichever way one asks; here its node is not there."""
    root = on_disk(sysfs)
    (root / "dev/ttyUSB1").unlink()
    (tty,) = [each for each in sysfs if (each.subsystem, each.name) == ("tty", "ttyUSB1")]
    for subject in ("modem", f"/sys{tty.path}"):
        command = (*DEVICEPLUGIN, "explain", subject, "--config", "plugin.yaml")
        ended = ran(*command, "--root", str(root), place=place)
        assert ended.code == 0
        assert "(Unhealthy: its device node /dev/ttyUSB1 is not there)" in ended.out


def test_a_device_whose_node_is_gone_is_known_by_its_path(place: Path, sysfs: FakeSysfs) -> None:
    """Which is when one asks."""
    root = on_disk(sysfs)
    (root / "dev/ttyUSB1").unlink()
    command = (*DEVICEPLUGIN, "explain", "/dev/ttyUSB1", "--config", "plugin.yaml")
    ended = ran(*command, "--root", str(root), place=place)
    assert ended.code == 0
    title, *lines = ended.out.splitlines()
    assert title.startswith("ttyUSB1 (/devices/")
    (owner,) = [line for line in lines if line.startswith("+ ")]
    assert owner.count("its device node /dev/ttyUSB1 is not there") == 1


def test_a_device_that_is_asked_for_by_its_bare_name_is_told_how_to_ask(
    place: Path, sysfs: FakeSysfs
) -> None:
    ended = explained(place, sysfs, "ttyUSB0")
    assert ended.code == 2
    assert ended.err.rstrip().endswith("the device is asked for by its path, /dev/ttyUSB0")
    assert "/dev/" not in explained(place, sysfs, "ttyUSB9").err


def test_each_device_of_a_group_has_the_id_of_all(place: Path, sysfs: FakeSysfs) -> None:
    card = sysfs.pci("0000:09:00.0")
    for name in ("renderD128", "card0"):
        minor = 0 if name == "card0" else 128
        sysfs.child(name, subsystem="drm", below=card, number=(226, minor))
    (place / "plugin.yaml").write_text(
        "version: 1\nresources:\n  - {name: gpu, match: [{subsystem: drm}], group_by: hardware}\n"
    )
    lines = explained(place, sysfs, "gpu").out.splitlines()
    offered = [line for line in lines if line.startswith("  + ")]
    assert len(offered) == 2
    assert all(" as 0000:09:00.0, /dev/" in line for line in offered)


def test_colours_are_for_a_terminal(place: Path, sysfs: FakeSysfs) -> None:
    """The same words, with what has a device and what has not in colours of their own."""
    root = str(on_disk(sysfs))
    command = (*DEVICEPLUGIN, "explain", "modem", "--config", "plugin.yaml", "--root", root)
    plain = ran(*command, place=place).out
    ours, theirs = os.openpty()
    variables = {**os.environ, "TERM": "xterm-256color"}
    run(command, stdout=theirs, cwd=place, env=variables, check=True)  # noqa: S603 - ours
    os.close(theirs)
    with os.fdopen(ours, "rb") as terminal:
        seen = terminal.read1(100_000).decode()
    assert "\x1b[32m  + ttyUSB1" in seen
    assert re.sub(r"\x1b\[[0-9;]*m", "", seen).replace("\r\n", "\n") == plain


def test_what_may_not_be_read_is_said_once_by_name(place: Path, sysfs: FakeSysfs) -> None:
    """As a user without root's powers: by a scan and by an explanation, and nothing is hidden."""
    user = unprivileged()
    (modem,) = [each for each in sysfs if each.name == "1-1"]
    sysfs.spoil(modem, Oddity.UNREADABLE)
    rules = (
        "version: 1\nresources: [{name: x, match: [{subsystem: usb, attributes: {serial: A*}}]}]"
    )
    (place / "plugin.yaml").write_text(rules)
    root = str(on_disk(sysfs))
    for command in (("scan",), ("explain", "x")):
        arguments = (*command, "--config", "plugin.yaml", "--root", root)
        ended = ran(*user, *DEVICEPLUGIN, *arguments, place=place)
        assert ended.code == 0
        said = [line for line in ended.err.splitlines() if f"{modem.path}/serial" in line]
        assert len(said) == 1
        assert "entry_forbidden" in said[0]
        assert "Permission denied" in said[0]


def test_what_the_machine_has_nothing_of_is_said_beside_what_is_wanted(
    place: Path, sysfs: FakeSysfs
) -> None:
    """A subsystem whose module is not loaded, and links that udev has not made."""
    more = "  - {name: x, match: [{subsystem: foo, name: x}, {node: /dev/serial/by-id/x}]}\n"
    (place / "plugin.yaml").write_text(RULES + more)
    lines = explained(place, sysfs, "x").out.splitlines()
    assert (
        "  - sysfs shows no device of [subsystem: foo]: there is no such hardware"
        in (lines[2].partition(",")[0])
    )
    assert lines[4].startswith("  - no device is at [node: /dev/serial/by-id/x]: such links are")


def test_shares_of_a_device_are_counted_not_listed(place: Path, sysfs: FakeSysfs) -> None:
    """Under the id of the device; a preset that anybody may share has a hundred of them."""
    sysfs.misc("kvm", 232)
    (place / "plugin.yaml").write_text("version: 1\nresources: [{preset: kvm}]\n")
    ended = explained(place, sysfs, "kvm")
    assert ended.code == 0
    (line,) = [line for line in ended.out.splitlines() if line.startswith("  + ")]
    assert re.search(r" as kvm \(\d+ shares\), /dev/kvm$", line)


def test_what_comes_along_is_told_and_what_is_missing_too(place: Path, sysfs: FakeSysfs) -> None:
    """Of a resource and of a path; a device that lacks something says what."""
    for number in (0, 1):
        card = sysfs.pci(f"0000:0{number + 3}:00.0")
        sysfs.child(f"renderD{number}", subsystem="drm", below=card, number=(226, 128 + number))
        if number == 0:
            sysfs.child("card0", subsystem="drm", below=card, number=(226, 0))
    (place / "plugin.yaml").write_text(
        "version: 1\ndomain: example.com\nresources:\n"
        "  - name: gpu\n"
        '    match: [{subsystem: drm, name: "renderD*"}]\n'
        '    with: [{siblings: {subsystem: drm, name: "card*"}}]\n'
        "    count: 2\n"
    )
    _, _, first, second, along = explained(place, sysfs, "gpu").out.splitlines()
    assert first.endswith(" as 0000:03:00.0-renderD (2 shares), /dev/renderD0")
    assert second.endswith(
        " as 0000:04:00.0-renderD (2 shares; Unhealthy: nothing is there that fits "
        "siblings: {subsystem: drm, name: card*}), /dev/renderD1"
    )
    assert along.startswith("  & card0 (/devices/")
    assert along.endswith(" comes along with renderD0")
    assert explained(place, sysfs, "/dev/card0").out.splitlines()[-1] == (
        "& example.com/gpu: it comes along with renderD0"
    )


def test_a_node_that_all_of_a_preset_share_is_told_by_both_commands(
    place: Path, sysfs: FakeSysfs
) -> None:
    """It comes along with each group, whether the resource is asked after or the node."""
    sysfs.iommu_group(7, sysfs.pci("0000:3b:00.0", driver="vfio-pci"))
    sysfs.child("7", subsystem="vfio", number=(511, 7), node="vfio/7")
    sysfs.misc("vfio", 196, node="vfio/vfio")
    (place / "plugin.yaml").write_text("version: 1\nresources: [{preset: vfio}]\n")
    along = explained(place, sysfs, "vfio").out.splitlines()[-1]
    assert along == "  & vfio (/devices/virtual/misc/vfio) comes along with 7"
    last = explained(place, sysfs, "/dev/vfio/vfio").out.splitlines()[-1]
    assert last == "& devices.local/vfio: it comes along with 7"


def test_a_probe_is_asked_only_if_that_is_asked_for(config: Path, place: Path) -> None:
    """Of a resource and of a path; it is told which of the two."""
    probe = f"- name: sink\n    probe: {{file: {place}/health}}"
    config.write_text(config.read_text().replace("- name: sink", probe))
    for subject in ("sink", "/dev/null"):
        command = (*DEVICEPLUGIN, "explain", subject, "--config", str(config))
        assert (
            " as null (probe: not asked (use --probe)), /dev/null"
            in ran(*command, place=place).out
        )
        (place / "health").write_text("worn out\n")
        ill = ran(*command, "--probe", place=place).out
        assert " as null (Unhealthy: probe: " in ill
        assert "worn out" in ill
        (place / "health").write_text("healthy\n")
        assert " as null, /dev/null" in ran(*command, "--probe", place=place).out
