"""`deviceplugin demo`, which is `make run`: a minute that shows the main job to anybody."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support.process import DEVICEPLUGIN, Ended, Process, eventually, ran, unprivileged


@pytest.fixture
def variables(place: Path) -> Mapping[str, str]:
    """Return an environment whose temporary files are seen, and that knows no home."""
    directory = place / "tmp"
    directory.mkdir()
    directory.chmod(0o777)
    return {"TMPDIR": str(directory), "HOME": str(place / "nobody"), "PYTHONUNBUFFERED": "1"}


def assert_nothing_is_left(process: Process, place: Path) -> None:
    """Neither a file nor a process."""
    assert list((place / "tmp").iterdir()) == []
    eventually(lambda: not _lives(process.pid))


def _lives(session: int) -> bool:
    try:
        os.killpg(session, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_shows_the_main_job_and_leaves_nothing(
    place: Path, variables: Mapping[str, str]
) -> None:
    """Devices, an allocation, a restart, a loss and a return; without root's powers; exit 0."""
    user = unprivileged()
    with Process(*user, *DEVICEPLUGIN, "demo", place=place, variables=variables) as process:
        ended = process.ended()
    assert (ended.code, ended.err) == (0, "")
    for said in (
        "devices.local/full",
        "registered and listed in",
        "admitted in",
        "registered and listed again",
        "sees it Unhealthy after",
        "sees it Healthy after",
        "0 sockets left",
    ):
        assert said in ended.out
    assert "\x1b" not in ended.out
    assert_nothing_is_left(process, place)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda each: each.name)
def test_it_can_be_interrupted_and_leaves_nothing(
    number: signal.Signals, place: Path, variables: Mapping[str, str]
) -> None:
    """While it waits for the kubelet, too; it would have patience for ten seconds."""
    with Process(*DEVICEPLUGIN, "demo", place=place, variables=variables) as process:
        process.await_out("A simulated kubelet")
        process.send(number)
        ended = process.ended(within=8.0)
    assert (ended.code, ended.err.strip()) == (130, "")
    assert_nothing_is_left(process, place)


def test_it_can_be_read_where_there_is_no_utf_8(place: Path, variables: Mapping[str, str]) -> None:
    ended: Ended = ran(
        *DEVICEPLUGIN,
        "demo",
        place=place,
        variables={**variables, "PYTHONIOENCODING": "ascii"},
    )
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.isascii()
