"""`deviceplugin scan`: it shows what would be advertised, and touches nothing."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.process import DEVICEPLUGIN, Ended, ran, unprivileged

from deviceplugin.testing.sysfs import FakeSysfs, Oddity

AUDITED = """
import os, sys

CHANGES = {
    "os.chmod", "os.chown", "os.fork", "os.forkpty", "os.link", "os.mkdir", "os.posix_spawn",
    "os.remove", "os.rename", "os.rmdir", "os.setxattr", "os.symlink", "os.system", "os.truncate",
    "os.utime", "socket.bind", "socket.connect", "subprocess.Popen",
}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

def watch(event, arguments):
    if event in CHANGES or (event == "open" and arguments[2] & WRITES):
        print(event, *arguments, file=sys.stderr)

sys.dont_write_bytecode = True
from deviceplugin.app.__main__ import main
sys.addaudithook(watch)
main()
"""
"""Says on standard error whatever changes anything outside the process."""


def rows(ended: Ended) -> list[list[str]]:
    """Return the rows of the table that was printed, without its heading."""
    assert ended.code == 0, ended.err
    lines = [line for line in ended.out.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def tree(path: Path) -> Mapping[str, tuple[int, int, int, bytes]]:
    """Return all that is below a path: mode, inode, time of change and content."""
    found: dict[str, tuple[int, int, int, bytes]] = {}
    for folder, folders, files in os.walk(path):
        for each in (Path(folder, name) for name in (*folders, *files)):
            status = each.lstat()
            content = each.read_bytes() if each.is_file() and not each.is_symlink() else b""
            found[str(each)] = (status.st_mode, status.st_ino, status.st_ctime_ns, content)
    return found


def test_it_prints_a_row_for_each_device(config: Path, place: Path) -> None:
    """With its resource, name, health, NUMA nodes and device nodes.

    In a pipe it is plain text, whatever terminal the environment speaks of.
    """
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": "20"}
    command = (*DEVICEPLUGIN, "scan", "--config", str(config))
    ended = ran(*command, place=place, variables=terminal)
    assert rows(ended) == [
        ["example.com/full", "full", "Healthy", "-", "/dev/full (rw)"],
        ["example.com/sink", "null", "Healthy", "-", "/dev/null (rw)"],
        ["example.com/zeros", "zero", "Healthy", "-", "/dev/zero (rw)"],
    ]
    assert "\x1b" not in ended.out
    assert ended.err == ""


def test_roots_may_be_elsewhere(place: Path, hardware: FakeSysfs) -> None:
    """--sys-root and --dev-root are the host's; a node that is not there makes it Unhealthy."""
    (place / "dev").mkdir()
    roots = ("--sys-root", str(hardware.root), "--dev-root", str(place / "dev"))
    ended = ran(*DEVICEPLUGIN, "scan", *roots, place=place)
    assert rows(ended) == [["devices.local/full", "full", "Unhealthy", "-", "/dev/full (rw)"]]


def test_a_name_is_shown_as_it_is(place: Path, hardware: FakeSysfs) -> None:
    """However long the line, and whatever a library for terminals may take a name for."""
    names = ["0000:ab:00.0", "[red]x", "y" * 60]
    for minor, name in enumerate(names):
        hardware.bus_device(name, bus="pci", number=(240, minor))
    config, resource = place / "plugin.yaml", "card-" * 12 + "x"
    config.write_text(
        f"version: 1\nresources: [{{name: {resource}, match: [{{subsystem: pci}}]}}]\n"
        f"sys_root: {hardware.root}\n"
    )
    shown = rows(ran(*DEVICEPLUGIN, "scan", "--config", str(config), place=place))
    assert shown[0][0] == f"devices.local/{resource}"
    assert {row[4] for row in shown} == {f"/dev/{name} (rw)" for name in names}
    assert {names[0], names[2]} < {row[1] for row in shown}


def test_it_touches_nothing(config: Path, place: Path, plugins: Path) -> None:
    """No file is opened to be written to, none is made, moved or removed, nobody is called."""
    (plugins / "kubelet.sock").touch()
    (plugins / "dp-0123456789ab-01234567.sock").touch()
    before = tree(place)
    ended = ran(*(sys.executable, "-c", AUDITED, "scan", "--config", str(config)), place=place)
    assert len(rows(ended)) == 3
    assert ended.err == ""
    assert tree(place) == before


def test_entries_that_may_not_be_read_hide_no_others(
    config: Path, place: Path, hardware: FakeSysfs
) -> None:
    """As a user without root's powers."""
    user = unprivileged()
    (device,) = [each for each in hardware if each.name == "zero"]
    hardware.spoil(device, Oddity.UNREADABLE)
    ended = ran(*user, *DEVICEPLUGIN, "scan", "--config", str(config), place=place)
    assert [row[0] for row in rows(ended) if row[2] == "Healthy"] == [
        "example.com/full",
        "example.com/sink",
    ]


def test_a_directory_on_the_way_that_may_not_be_entered_is_said_once_by_name(
    config: Path, place: Path, hardware: FakeSysfs
) -> None:
    """However many devices are below it, of which nothing is known then."""
    user = unprivileged()
    for minor in (1, 2):
        hardware.child(f"x{minor}", subsystem="closed", number=(250, minor))
    text = config.read_text()
    config.write_text(f"{text}  - {{name: x, match: [{{subsystem: closed}}]}}\n")
    closed = hardware.at("/devices/virtual/closed")
    closed.chmod(0)
    ended = ran(*user, *DEVICEPLUGIN, "scan", "--config", str(config), place=place)
    closed.chmod(0o755)
    told = [line for line in ended.err.splitlines() if "directory_unreadable" in line]
    assert len(told) == 1, ended
    assert "/devices/virtual/closed" in told[0]


def test_a_folder_of_dev_that_may_not_be_entered_is_said_once_by_name(
    config: Path, place: Path
) -> None:
    """However many rules ask for what is in it; what is beside it is found as ever."""
    user = unprivileged()
    text = config.read_text()
    rules = "".join(
        f"  - {{name: x{each}, match: [{{node: '/dev/closed/{each}*'}}]}}\n" for each in "ab"
    )
    config.write_text(f"{text}{rules}")
    closed = place / "dev" / "closed"
    closed.mkdir(parents=True)
    closed.chmod(0)
    command = (*DEVICEPLUGIN, "scan", "--config", str(config), "--dev-root", str(place / "dev"))
    ended = ran(*user, *command, place=place)
    closed.chmod(0o755)
    told = [line for line in ended.err.splitlines() if "directory_unreadable" in line]
    assert len(told) == 1, ended
    assert "/dev/closed" in told[0]
    assert ended.code == 0


def test_a_sysfs_that_is_missing_is_a_failure(place: Path) -> None:
    """One line says which and why, and the exit code is that of what failed, not of a mistake."""
    ended = ran(*DEVICEPLUGIN, "scan", "--sys-root", str(place / "sys"), place=place)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == f"cannot read {place / 'sys'}: No such file or directory\n"


# --- for programs -------------------------------------------------------------------------------


def test_json_says_all_that_a_container_would_get(
    config: Path, place: Path, hardware: FakeSysfs
) -> None:
    """Resources and devices in order, and what was odd; the log stays on standard error."""
    hardware.pci("0000:00:01.0", numa_node="1")
    config.write_text(
        config.read_text() + "  - {name: card, match: [{subsystem: pci, name: '0000:*'}]}\n"
    )
    ended = ran(*DEVICEPLUGIN, "scan", "--json", "--config", str(config), place=place)
    assert ended.code == 0
    document = json.loads(ended.out)
    assert document["version"] == 1
    card, full, *_ = document["resources"]
    assert card == {"name": "example.com/card", "devices": []}
    assert full == {
        "name": "example.com/full",
        "devices": [
            {
                "id": "full",
                "health": "Healthy",
                "numa_nodes": [],
                "parent": "",
                "share_of": "",
                "attributes": full["devices"][0]["attributes"],
                "container": {
                    "nodes": [
                        {
                            "host_path": "/dev/full",
                            "container_path": "/dev/full",
                            "permissions": "rw",
                        }
                    ],
                    "mounts": [],
                    "envs": {},
                    "env_separator": None,
                    "annotations": {},
                    "cdi_devices": [],
                },
            }
        ],
    }
    (skipped,) = [each for each in document["problems"] if each["event"] == "device_skipped"]
    assert skipped["resource"] == "example.com/card"
    assert "resource_unmatched" in ended.err


# --- a machine in one directory ------------------------------------------------------------------


def test_a_root_has_sys_and_dev_and_paths_stay_the_host_s(
    place: Path, hardware: FakeSysfs
) -> None:
    """Given as a path from here, too; a node that is not in its dev is not there."""
    (place / "dev").mkdir()
    assert hardware.root == place / "sys"
    for root in (str(place), "."):
        ended = ran(*DEVICEPLUGIN, "scan", "--root", root, place=place)
        assert rows(ended) == [["devices.local/full", "full", "Unhealthy", "-", "/dev/full (rw)"]]
        assert str(place) not in ended.out


def test_a_root_goes_before_environment_and_file_and_behind_flags(
    config: Path, place: Path
) -> None:
    """Of three places for /sys and /dev, in the order of the settings."""
    command = (*DEVICEPLUGIN, "scan", "--config", str(config), "--root", str(place))
    variables = {"DEVICEPLUGIN_SYS_ROOT": "/nowhere"}
    ended = ran(*command, place=place, variables=variables)
    assert {row[2] for row in rows(ended)} == {"Unhealthy"}
    ended = ran(*command, "--dev-root", "/dev", place=place, variables=variables)
    assert {row[2] for row in rows(ended)} == {"Healthy"}
    ended = ran(*command, "--sys-root", "/none", place=place)
    assert ended.err.startswith("cannot read /none: ")


def test_equal_hardware_has_equal_ids_in_every_process(
    config: Path, place: Path, hardware: FakeSysfs
) -> None:
    """No id comes of a process, its time, or the order in which it meets things."""
    for number in range(3):
        hardware.serial_port(f"ttyUSB{number}", minor=number)
    config.write_text(config.read_text() + "  - {name: port, match: [{subsystem: tty}]}\n")
    command = (*DEVICEPLUGIN, "scan", "--json", "--config", str(config))
    outs = {ran(*command, place=place, variables={"PYTHONHASHSEED": seed}).out for seed in "123"}
    (out,) = outs
    assert len(json.loads(out)["resources"]) == 4


def test_a_device_that_two_resources_claim_can_be_an_error(config: Path, place: Path) -> None:
    """Which tells the device, both resources, and what to do."""
    again = "  - {name: again, match: [{node: /dev/zero}]}\n"
    config.write_text(config.read_text() + again)
    command = (*DEVICEPLUGIN, "scan", "--config", str(config), "--on-conflict")
    ended = ran(*command, "error", place=place)
    assert (ended.code, ended.out) == (1, "")
    assert "resources claim the same device: /devices/" in ended.err.splitlines()[-1]
    assert "example.com/again, but its device node already belongs to example.com/" in ended.err
    ended = ran(*command, "first", place=place)
    assert ended.code == 0
    assert ended.err.count("device_contested") == 1


def probed(config: Path, place: Path) -> Path:
    """Let the sink have a probe, which says that it is ill, and the zeros one that cannot run."""
    asked = place / "asked"
    tool = place / "probe"
    tool.write_text(f"#!/bin/sh\necho $1 >>{asked}\necho too warm\nexit 1\n")
    tool.chmod(0o755)
    text = config.read_text()
    text = text.replace(
        "- name: sink", f'- name: sink\n    probe: {{command: [{tool}, "{{node}}"]}}'
    )
    text = text.replace("- name: zeros", "- name: zeros\n    probe: {file: /nowhere/x}")
    config.write_text(text)
    return asked


def test_probes_are_asked_only_if_that_is_asked_for(config: Path, place: Path) -> None:
    """Each once; otherwise nothing is started, and it is said that they count as well."""
    asked = probed(config, place)
    command = (*DEVICEPLUGIN, "scan", "--config", str(config))
    ended = ran(*command, place=place)
    assert [row[2] for row in rows(ended)] == ["Healthy"] * 3
    assert "probes of 2 devices were not asked, and count as well: --probe asks them" in ended.err
    assert not asked.exists()
    ended = ran(*command, "--probe", place=place)
    assert [row[2] for row in rows(ended)] == ["Healthy", "Unhealthy", "Unhealthy"]
    assert "not asked" not in ended.err
    assert "too warm" in ended.err
    assert asked.read_text() == "/dev/null\n"


def test_probes_are_not_asked_about_another_machine(config: Path, place: Path) -> None:
    command = (*DEVICEPLUGIN, "scan", "--config", str(config), "--probe", "--root", str(place))
    ended = ran(*command, place=place)
    assert ended.code == 2
    assert "--probe and --root exclude each other" in ended.err
