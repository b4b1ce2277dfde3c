"""`deviceplugin kubelet`: a simulated kubelet in a process of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.process import DEVICEPLUGIN, PATIENCE, Process, ran

KUBELET = (*DEVICEPLUGIN, "kubelet")


def script(place: Path, *lines: str) -> Path:
    path = place / "script"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_a_script_drives_a_plugin_through_its_life(
    place: Path, plugins: Path, config: Path
) -> None:
    """Registration, pods, a cut stream, refusals and restarts; then it ends well."""
    sink = "example.com/sink"
    played = script(
        place,
        f"wait {sink} allocatable 1 within {PATIENCE:g}",
        f"allocate {sink} 1 --init 1 --pod p",
        f"fails allocate {sink} 1",
        "pod-resources",
        f"cut {sink}",
        f"wait {sink} registrations 2 within {PATIENCE:g}",
        f"wait {sink} streams 1 within {PATIENCE:g}",
        f"reject 2 of {sink} not now",
        "restart",
        f"wait {sink} allocatable 1 within {PATIENCE:g}",
        "show",
    )
    directory = ("--dir", str(plugins), "--root", str(place))
    with (
        Process(*DEVICEPLUGIN, "run", "--config", str(config), place=place) as plugin,
        Process(*KUBELET, *directory, "--script", str(played), place=place) as kubelet,
    ):
        ended = kubelet.ended()
        plugin.send(signal.SIGTERM)
        assert plugin.ended().code == 0
    assert (ended.code, ended.err) == (0, "")
    for said in (
        "p admitted",
        "as it must, this failed: pod-1 rejected: UnexpectedAdmissionError",
        "* StreamEnded resource=example.com/sink",
        "reason=not now",
        "* Stopped",
    ):
        assert said in ended.out
    assert ended.out.count("* Started") == 2
    (held,) = [line for line in ended.out.splitlines() if "default" in line]
    assert [cell.strip() for cell in held.split("│")[1:5]] == ["default", "p", "main", sink]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
@pytest.mark.parametrize("busy", ["", "sleep 3600", "restart"], ids=["idle", "busy", "starting"])
def test_a_signal_ends_it(
    place: Path,
    number: signal.Signals,
    busy: str,
) -> None:
    """Without a script it lives on after the end of its input; a busy one ends as well."""
    played = script(place, "delay 3600", "show", busy)
    flags = ["--script", str(played)] if busy else []
    with Process(*KUBELET, "--dir", "new/device-plugins", *flags, place=place) as kubelet:
        kubelet.await_out("runs" if busy else "* Started")
        assert (place / "new" / "device-plugins" / "kubelet.sock").is_socket()
        assert (place / "new" / "pod-resources" / "kubelet.sock").is_socket()
        kubelet.send(number)
        ended = kubelet.ended(within=PATIENCE)
    assert (ended.code, ended.err) == (0, "")
    assert "* Stopped" in ended.out


def test_a_command_that_fails_ends_the_script(place: Path) -> None:
    """With its file and line, and exit code 1; what comes after it is not played."""
    played = script(place, "stop", "# comment", "cut a.b/c", "show")
    ended = ran(*KUBELET, "--dir", "plugins", "--script", str(played), place=place)
    assert ended.code == 1
    assert ended.err == f"{played}:3: a.b/c has no stream to cut\n"
    assert "is dead" not in ended.out


def test_a_script_that_cannot_be_read_is_not_begun(place: Path) -> None:
    """Each bad line is told, with the way out, and exit code 2."""
    played = script(place, "shwo", "stop", "cut")
    ended = ran(*KUBELET, "--dir", "plugins", "--script", str(played), place=place)
    assert ended.code == 2
    assert f"{played}:1: there is no command 'shwo'; did you mean show?" in ended.err
    assert f"{played}:3: RESOURCE is missing; write: cut RESOURCE" in ended.err
    assert ended.out == ""
    assert not (place / "plugins").exists()


def test_a_script_may_begin_with_a_byte_order_mark(place: Path) -> None:
    """As editors of other systems write it; the second line is at fault here, and told as such."""
    played = place / "script"
    played.write_text("show\nshwo\n", encoding="utf-8-sig")
    ended = ran(*KUBELET, "--dir", "plugins", "--script", str(played), place=place)
    assert ended.code == 2
    assert f"{played}:2: there is no command 'shwo'" in ended.err
    assert f"{played}:1:" not in ended.err


@pytest.mark.parametrize(
    "line",
    ["sleep 1e300", "restart 1e300", f"allocate a/b {'1' * 5000}", f"{'fails ' * 2000}show"],
    ids=lambda line: line[:12],
)
def test_a_number_beyond_all_bounds_is_told_with_its_line(place: Path, line: str) -> None:
    """Before anything is done, as any other bad line."""
    played = script(place, "show", line)
    ended = ran(*KUBELET, "--dir", "plugins", "--script", str(played), place=place)
    assert (ended.code, ended.out) == (2, "")
    assert f"{played}:2: " in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "Missing option '--dir'"),
        (["--dir", "p", "--profile", "1.20"], "is not one of '1.28', '1.34', '1.36', '1.37'"),
        (["--dir", "p", "--script", "missing"], "No such file or directory"),
        (["--dir", "p", "--script", "/bin/true"], "is no text in UTF-8"),
        *(
            (["--dir", "p", "--clock", factor], f"{factor} is not in the range 0.001<=x<=1000")
            for factor in ("0.0", "-1.0", "inf", "1e+300")
        ),
        (["--dir", "p", "--clock", "nan"], "'nan' is not a valid number"),
        (["--dir", "p", "--clock", "fast"], "'fast' is not a valid number"),
    ],
)
def test_what_cannot_be_used_is_refused(place: Path, flags: list[str], said: str) -> None:
    ended = ran(*KUBELET, *flags, place=place)
    assert ended.code == 2
    assert said in ended.err


def test_a_directory_that_cannot_be_served_is_an_error(place: Path) -> None:
    """As one whose path is too long for a socket. It is named, and nothing of it is left."""
    for name in ("x" * 120, "y" * 300, "/".join("z" * 60)):
        ended = ran(*KUBELET, "--dir", name, place=place)
        assert ended.code == 2
        said = " ".join(ended.err.split())
        assert f"{place / name}/kubelet.sock has " in said
        assert "give a directory with a shorter path" in said
        assert "Traceback" not in ended.err
        assert list(place.iterdir()) == []


@pytest.mark.parametrize("path", ["/proc/nope", "/proc", "/dev/null/nope"])
def test_a_directory_that_the_system_does_not_let_us_have_is_an_error(
    place: Path, path: str
) -> None:
    ended = ran(*KUBELET, "--dir", path, place=place)
    assert ended.code == 2
    assert f"{path} cannot be the plugin directory: " in ended.err
    assert "give one that you may make and write to" in ended.err
    assert "Traceback" not in ended.err


def test_help_tells_what_is_removed_from_the_directory(place: Path) -> None:
    ended = ran(*KUBELET, "--help", place=place)
    said = " ".join(ended.out.split())
    assert "with --profile 1.28 all plain files and links as well" in said
    assert "`delete-directory` removes the directory with all that is in it" in said


HIDDEN = """
import sys
sys.modules["pytest"] = sys.modules["hypothesis"] = None
from deviceplugin.app.__main__ import main
sys.argv = ["deviceplugin", "kubelet", *sys.argv[1:]]
main()
"""


def test_commands_come_through_a_pipe_without_a_test_framework(place: Path) -> None:
    """A bad one is told, and the next is read; `quit` ends it with 0."""
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", HIDDEN, "--dir", "plugins", "--profile", "1.28"],
        input="shwo\nshow\nquit",
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
    )
    assert done.returncode == 0
    assert done.stderr == "there is no command 'shwo'; did you mean show?\n"
    assert "Kubernetes 1.28 at" in done.stdout


def test_a_person_is_prompted(place: Path) -> None:
    """And ends it by the end of input, as in a shell; a bad command is told in between."""
    ours, theirs = os.openpty()
    with os.fdopen(ours, "wb", buffering=0) as keyboard, os.fdopen(theirs) as terminal:
        keyboard.write(b"shwo\nshow\n\x04")
        done = subprocess.run(  # noqa: S603 - our own
            [*KUBELET, "--dir", "plugins"],
            stdin=terminal,
            capture_output=True,
            text=True,
            check=False,
            cwd=place,
        )
    assert done.returncode == 0
    assert done.stdout.count("kubelet> ") == 3
    assert done.stderr == "there is no command 'shwo'; did you mean show?\n"


def test_a_script_comes_through_a_pipe(place: Path) -> None:
    """Named -, and held to the rules of scripts."""
    done = subprocess.run(  # noqa: S603 - our own
        [*KUBELET, "--dir", "plugins", "--script", "-"],
        input="stop\nstart\nremove p\n",
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
    )
    assert done.returncode == 1
    assert done.stderr == "<stdin>:3: there is no pod p; there is none\n"
