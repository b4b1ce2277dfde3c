"""The command line as a whole: how it is called, what goes before what, what it writes where."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from subprocess import PIPE, run
from typing import IO

import pytest
from tests.support.process import DEVICEPLUGIN, Process, ran

from deviceplugin.app.settings import OPTIONS
from deviceplugin.testing.sysfs import FakeSysfs


def test_the_script_and_the_modules_are_the_same(place: Path) -> None:
    script = str(Path(sys.executable).with_name("deviceplugin"))
    package = (sys.executable, "-m", "deviceplugin")
    by_module, by_package, by_script = (
        ran(*each, "--version", place=place) for each in (DEVICEPLUGIN, package, (script,))
    )
    assert by_module.code == by_package.code == by_script.code == 0
    assert by_module.out.split()[-1] == by_package.out.split()[-1] == by_script.out.split()[-1]


def test_the_command_line_is_there_before_grpc(place: Path) -> None:
    """Which reads its environment when it is imported, and would talk of each lost connection."""
    look = "import sys, deviceplugin.app.cli; print('grpc' in sys.modules)"
    ended = ran(sys.executable, "-c", look, place=place)
    assert (ended.code, ended.out) == (0, "False\n")


def test_a_flag_goes_before_the_environment_before_the_file_before_the_default(
    place: Path, hardware: FakeSysfs
) -> None:
    """Of the domain, said thrice, the flag's counts; of the roots, the variable's, and the file's.

    The file's sys_root is not there, and in the file's dev_root is no node, which is told.
    """
    config = place / "plugin.yaml"
    config.write_text(
        f"version: 1\ndomain: file.example.com\nsys_root: {place}/none\ndev_root: {place}\n"
    )
    ended = ran(
        *(*DEVICEPLUGIN, "scan", "--domain", "flag.example.com"),
        place=place,
        variables={
            "DEVICEPLUGIN_CONFIG": str(config),
            "DEVICEPLUGIN_DOMAIN": "variable.example.com",
            "DEVICEPLUGIN_SYS_ROOT": str(hardware.root),
        },
    )
    assert ended.code == 0
    (told,) = ended.err.splitlines()
    assert "device_unwell resource=flag.example.com/full" in told
    (line,) = [line for line in ended.out.splitlines() if "example.com" in line]
    assert "flag.example.com/full" in line
    assert "Unhealthy" in line


def test_without_any_of_them_the_default_counts(place: Path, hardware: FakeSysfs) -> None:
    ended = ran(*DEVICEPLUGIN, "scan", "--sys-root", str(hardware.root), place=place)
    (line,) = [line for line in ended.out.splitlines() if "/full" in line]
    assert "devices.local/full" in line
    assert "Unhealthy" not in line


@pytest.mark.parametrize("command", ["run", "scan"])
def test_help_lists_every_flag_and_its_variable(command: str, place: Path) -> None:
    ended = ran(*DEVICEPLUGIN, command, "--help", place=place)
    assert (ended.code, ended.err) == (0, "")
    words = ended.out.split()
    for option in OPTIONS.values():
        assert option.flag in words
        assert f"[{option.variable}]" in words
    assert {"--config", "[DEVICEPLUGIN_CONFIG]", "--help"} <= set(words)


def test_help_lists_every_command(place: Path) -> None:
    ended = ran(*DEVICEPLUGIN, "-h", place=place)
    assert (ended.code, ended.err) == (0, "")
    listed = ended.out.partition("Commands:")[2].splitlines()
    assert {line.split()[0] for line in listed if line} == {
        "demo",
        "explain",
        "kubelet",
        "presets",
        "record",
        "run",
        "scan",
        "schema",
        "validate",
    }


def test_the_demo_helps_itself(place: Path) -> None:
    ended = ran(*DEVICEPLUGIN, "demo", "--help", place=place)
    assert (ended.code, ended.err) == (0, "")
    assert "Needs no root." in " ".join(ended.out.split())


def test_json_is_an_object_a_line_with_promised_keys(config: Path, place: Path) -> None:
    """`time`, `level`, `logger`, and then the event's name and facts."""
    command = (*DEVICEPLUGIN, "run", "--config", str(config), "--log-format", "json")
    with Process(*command, place=place) as process:
        process.await_err("inventory_changed")
        process.send(signal.SIGTERM)
        ended = process.ended()
    lines = [json.loads(line) for line in ended.err.splitlines()]
    assert all(set(line) >= {"time", "level", "logger", "event"} for line in lines)
    (awaited,) = [line for line in lines if line["event"] == "kubelet_awaited"]
    assert awaited["level"] == "info"
    assert awaited["directory"] == str(place / "plugins")
    assert awaited["reason"]


@pytest.mark.parametrize("arguments", [["scan"], ["demo"]], ids=" ".join)
def test_a_reader_that_has_gone_is_no_news(arguments: Sequence[str], place: Path) -> None:
    """As with `| head`: it ends, and says nothing."""
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as gone:
        code, said = _written_to(gone, arguments, place)
    assert code == 1
    assert said == ""


def test_a_full_disk_is_told_in_a_line(place: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        code, said = _written_to(full, ["scan"], place)
    assert code == 1
    assert said == "[Errno 28] No space left on device\n"


def _written_to(out: IO[bytes], arguments: Sequence[str], place: Path) -> tuple[int, str]:
    """Return the exit code and standard error of a command that writes there."""
    command = [*DEVICEPLUGIN, *arguments]
    ended = run(command, stdout=out, stderr=PIPE, text=True, cwd=place, check=False)  # noqa: S603 - ours
    return ended.returncode, ended.stderr


def test_a_closed_standard_output_is_no_failure(place: Path) -> None:
    """A service manager may start us so."""
    ended = ran("sh", "-c", 'exec "$@" >&-', "sh", *DEVICEPLUGIN, "scan", place=place)
    assert (ended.code, ended.err) == (0, "")
