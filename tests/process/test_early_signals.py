"""A signal that comes while the command line is still being imported."""

import json
import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from tests.support.process import DEVICEPLUGIN, Ended, Process, eventually, ran

ENDING: Final = (signal.SIGTERM, signal.SIGINT)
TOLD: Final = (sys.executable, "-X", "importtime", *DEVICEPLUGIN[1:])
"""The command line, which tells on standard error of each module that it has imported."""
MOMENTS: Final = (0, 5, 100, 250, 400)
"""Modules imported since signals were taken over. There are some 500."""

BEFORE: Final = """
import importlib, json, signal, sys
known = set(sys.modules)
def told(*_):
    print(json.dumps(sorted(set(sys.modules) - known)))
    sys.exit()
signal.signal = told
from deviceplugin.app.__main__ import main
main()
"""
"""Says what it takes, besides `signal`, before the first signal is taken over."""

each_ending = pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)


def takes(process: Process, number: signal.Signals) -> bool:
    """Say whether the process has a handler for a signal: proc_pid_status(5)."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    (caught,) = re.findall(r"^SigCgt:\t(\w+)$", status, re.MULTILINE)
    return bool(int(caught, 16) >> (number - 1) & 1)


def sent(
    number: signal.Signals, moment: int, place: Path, arguments: Sequence[str]
) -> tuple[Ended, str]:
    """Send a signal after so many imports; return how it ended, and what it said besides."""
    with Process(*TOLD, *arguments, place=place) as process:
        # Python takes the interrupt for itself before; it is ours when all are taken.
        eventually(lambda: takes(process, signal.SIGHUP) or process.is_over)
        so_far = process.err.count("\n")
        eventually(lambda: process.err.count("\n") >= so_far + moment or process.is_over)
        process.send(number)
        ended = process.ended()
    said = [line for line in ended.err.splitlines() if not line.startswith("import time:")]
    return ended, "\n".join(said)


@each_ending
def test_it_ends_a_plugin_as_later(number: signal.Signals, config: Path, place: Path) -> None:
    """With 0 and in silence, whenever it comes."""
    for moment in MOMENTS:
        ended, said = sent(number, moment, place, ["run", "--config", str(config)])
        assert (ended.code, ended.out, said) == (0, "", ""), moment


@each_ending
def test_it_ends_a_kubelet_as_later(number: signal.Signals, place: Path) -> None:
    for moment in MOMENTS[::2]:
        ended, said = sent(number, moment, place, ["kubelet", "--dir", "plugins"])
        assert (ended.code, said) == (0, ""), moment


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_it_ends_other_commands_as_later(number: signal.Signals, code: int, place: Path) -> None:
    """As a shell knows it of any command, and in silence."""
    for moment in MOMENTS[:3]:
        ended, said = sent(number, moment, place, ["scan"])
        assert (ended.code, ended.out, said) == (code, "", ""), moment


def test_a_wish_to_reload_is_not_the_end_of_a_plugin(config: Path, place: Path) -> None:
    """The configuration is about to be read anyway."""
    with Process(*DEVICEPLUGIN, "run", "--config", str(config), place=place) as process:
        eventually(lambda: takes(process, signal.SIGHUP))
        process.send(signal.SIGHUP)
        process.await_err("inventory_changed")
        process.send(signal.SIGTERM)
        assert process.ended().code == 0


def test_next_to_nothing_is_imported_before(place: Path) -> None:
    """What comes before that is Python's own start."""
    assert json.loads(ran(sys.executable, "-c", BEFORE, place=place).out) == [
        "deviceplugin",
        "deviceplugin.app",
        "deviceplugin.app.__main__",
        "deviceplugin.app.early",
    ]
