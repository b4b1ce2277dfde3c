"""`deviceplugin run`: it serves until it is told to end, and waits for what is not there yet."""

import os
import re
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from tests.support.process import DEVICEPLUGIN, PATIENCE, Ended, Process, eventually

from deviceplugin.testing.kubelet import FakeKubelet, ListReceived, ResourceView
from deviceplugin.testing.sysfs import FakeSysfs

RESOURCES: Final = ("example.com/sink", "example.com/zeros", "example.com/full")
ENDING: Final = (signal.SIGTERM, signal.SIGINT)
ENDING_SECONDS: Final = 2.0
"""What is promised: a pod that takes longer to end is in the way of its successor."""
OUR_LINE: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARNING) [a-z_]+( .*)?"
)

each_ending = pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)


@pytest.fixture
def command(config: Path) -> tuple[str, ...]:
    """Return the command line that serves the three resources."""
    return (*DEVICEPLUGIN, "run", "--config", str(config))


def sockets(plugins: Path) -> list[Path]:
    return list(plugins.glob("dp-*"))


def is_listed(seen: ResourceView) -> bool:
    return seen.streams == 1 and seen.allocatable == 1


def await_all(kubelet: FakeKubelet, wanted: Callable[[ResourceView], bool] = is_listed) -> None:
    for name in RESOURCES:
        kubelet.await_resource(name, wanted, PATIENCE)


def assert_in_order(ended: Ended, plugins: Path) -> None:
    """Nothing but lines of ours was said, and no socket is left."""
    assert ended.code == 0, ended.err
    assert [line for line in ended.err.splitlines() if not OUR_LINE.fullmatch(line)] == []
    assert ended.out == ""
    assert sockets(plugins) == []


@each_ending
def test_a_signal_ends_it_in_order(
    number: signal.Signals,
    command: tuple[str, ...],
    place: Path,
    plugins: Path,
    kubelet: FakeKubelet,
) -> None:
    """With three open streams: closed, sockets removed, exit code 0, within two seconds."""
    with Process(*command, place=place) as process:
        await_all(kubelet)
        assert len(sockets(plugins)) == len(RESOURCES)
        lists = len(kubelet.history.of(ListReceived))
        process.send(number)
        assert_in_order(process.ended(within=ENDING_SECONDS), plugins)
    await_all(kubelet, lambda seen: seen.streams == 0)
    assert len(kubelet.history.of(ListReceived)) == lists


def test_further_signals_change_nothing(
    command: tuple[str, ...], place: Path, plugins: Path, kubelet: FakeKubelet
) -> None:
    """However many there are, up to the very end of the process."""
    with Process(*command, place=place) as process:
        await_all(kubelet)
        while not process.is_over:
            for number in ENDING:
                process.send(number)
            with suppress(subprocess.TimeoutExpired):
                process.ended(within=0.001)
        assert_in_order(process.ended(), plugins)


@pytest.mark.usefixtures("kubelet")
@pytest.mark.parametrize("said", ["kubelet_appeared", "inventory_changed", "resource_registered"])
def test_an_interrupt_while_it_begins_to_serve_ends_it_in_order(
    said: str, command: tuple[str, ...], place: Path, plugins: Path
) -> None:
    """Nothing that is half done is left."""
    with Process(*command, place=place) as process:
        process.await_err(said)
        process.send(signal.SIGINT)
        assert_in_order(process.ended(), plugins)


@each_ending
def test_a_signal_before_there_is_anything_to_close_ends_it_in_silence(
    number: signal.Signals, place: Path
) -> None:
    """While it still reads its configuration: with 0 as later, and no traceback."""
    pipe = place / "plugin.yaml"
    os.mkfifo(pipe)
    with Process(*DEVICEPLUGIN, "run", "--config", str(pipe), place=place) as process:
        writers: list[int] = []

        def is_reading() -> bool:
            with suppress(OSError):
                writers.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
            return bool(writers)

        eventually(is_reading)
        process.send(number)
        # A signal between the open and the read of the pipe waits for the end of the read.
        os.close(*writers)
        ended = process.ended()
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_a_directory_that_is_missing_is_awaited(
    command: tuple[str, ...], place: Path, plugins: Path
) -> None:
    """One line says which and why; when it comes, with a kubelet in it, all is served."""
    plugins.rmdir()
    with Process(*command, place=place) as process:
        process.await_err("inventory_changed")
        with FakeKubelet(plugins) as kubelet:
            await_all(kubelet)
            process.send(signal.SIGTERM)
            ended = process.ended()
    assert_in_order(ended, plugins)
    (awaited,) = [line for line in ended.err.splitlines() if "kubelet_awaited" in line]
    assert f'directory={plugins} reason="no such directory yet; is the' in awaited


def test_a_kubelet_that_is_missing_is_awaited(
    command: tuple[str, ...], place: Path, plugins: Path
) -> None:
    """One line says so, nothing is a warning, and no server is started for nobody."""
    with Process(*command, place=place) as process:
        process.await_err("inventory_changed")
        assert sockets(plugins) == []
        assert "WARNING" not in process.err
        with FakeKubelet(plugins) as kubelet:
            await_all(kubelet)
        process.send(signal.SIGTERM)
        ended = process.ended()
    assert_in_order(ended, plugins)
    (awaited,) = [line for line in ended.err.splitlines() if "kubelet_awaited" in line]
    assert f'directory={plugins} reason="there is no kubelet.sock' in awaited


def test_hardware_that_goes_and_comes_is_told(
    command: tuple[str, ...], place: Path, hardware: FakeSysfs, kubelet: FakeKubelet
) -> None:
    """Unhealthy, then Healthy again, on the stream that is open."""
    (device,) = [each for each in hardware if each.name == "null"]
    with Process(*command, place=place) as process:
        await_all(kubelet)
        hardware.remove(device)
        kubelet.await_resource(RESOURCES[0], lambda seen: seen.allocatable == 0, PATIENCE)
        hardware.child("null", subsystem="mem", number=(1, 3))
        assert kubelet.await_resource(RESOURCES[0], is_listed, PATIENCE).capacity == 1
        assert not process.is_over
