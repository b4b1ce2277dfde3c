"""Only sockets of our own dead are swept away; everything else in the directory stays."""

import fcntl
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.nobody import nobody

from deviceplugin.adapters.kubelet.claims import Claim, sweep

NAME = "dp-0123456789ab-01234567.sock"
OWNER = """
import socket, sys
from pathlib import Path
from deviceplugin.adapters.kubelet.claims import Claim
path = Path(sys.argv[1])
claim = Claim.make(path)
with socket.socket(socket.AF_UNIX) as bound:
    bound.bind(str(path))
    print("claimed", flush=True)
    sys.stdin.read()
"""


def bound(path: Path) -> Path:
    """Make a socket on which nobody listens."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    return path


@contextmanager
def owner(path: Path) -> Generator[subprocess.Popen[str]]:
    """Have another process claim and bind `path`, until it is killed."""
    process = subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-c", OWNER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def in_between(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen between the opening of a claim and its lock."""
    lock = fcntl.flock

    def flock(descriptor: int, operation: int) -> None:
        happens()
        lock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)


def test_a_claim_that_was_swept_away_before_its_lock_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its maker is told, and makes another one: nobody would know this one by its name."""
    path = tmp_path / NAME
    in_between(monkeypatch, (tmp_path / f".{NAME}.lock").unlink)
    open_before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(FileNotFoundError):
        Claim.make(path)
    assert len(list(Path("/proc/self/fd").iterdir())) == open_before


def test_a_sweep_takes_no_socket_of_a_claim_made_after_the_one_that_it_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another sweep was faster, and the name was taken again."""
    path = tmp_path / NAME
    with owner(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()

    def taken_again() -> None:
        monkeypatch.undo()
        sweep(tmp_path)
        assert list(tmp_path.iterdir()) == []
        claims.append(Claim.make(path))
        bound(path)

    claims: list[Claim] = []
    in_between(monkeypatch, taken_again)
    sweep(tmp_path)
    assert path.is_socket()
    assert claims[0].path.exists()
    claims[0].release()


def test_what_a_killed_owner_left_goes(tmp_path: Path) -> None:
    with owner(tmp_path / NAME) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(list(tmp_path.iterdir())) == 2
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_belongs_to_the_living_stays(tmp_path: Path) -> None:
    """Of another process, even one that does not listen yet, and of this one."""
    with owner(tmp_path / NAME):
        mine = Claim.make(tmp_path / "dp-mine.sock")
        bound(tmp_path / "dp-mine.sock")
        before = sorted(tmp_path.iterdir())
        sweep(tmp_path)
        assert sorted(tmp_path.iterdir()) == before
        (tmp_path / "dp-mine.sock").unlink()
        mine.release()


def test_a_socket_without_a_claim_stays(tmp_path: Path) -> None:
    """It may be another plugin's that is about to listen, whatever its name looks like."""
    stranger = bound(tmp_path / NAME)
    sweep(tmp_path)
    assert stranger.exists()


def test_what_is_no_socket_stays_although_it_was_claimed(tmp_path: Path) -> None:
    """Somebody else's file or link in its place is not ours."""
    (tmp_path / f".{NAME}.lock").touch()
    (tmp_path / NAME).write_text("theirs")
    (tmp_path / ".dp-b.sock.lock").touch()
    (tmp_path / "dp-b.sock").symlink_to(tmp_path / NAME)
    sweep(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == [NAME, "dp-b.sock"]


def test_a_claim_of_the_dead_without_a_socket_goes(tmp_path: Path) -> None:
    """The kubelet never sees it, but it must not pile up either."""
    (tmp_path / f".{NAME}.lock").touch()
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_claim_that_is_being_swept_is_not_swept_again(tmp_path: Path) -> None:
    claim = tmp_path / f".{NAME}.lock"
    bound(tmp_path / NAME)
    with claim.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        sweep(tmp_path)
        assert claim.exists()
        assert (tmp_path / NAME).exists()
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_are_claimed_once(tmp_path: Path) -> None:
    claim = Claim.make(tmp_path / NAME)
    with pytest.raises(FileExistsError):
        Claim.make(tmp_path / NAME)
    claim.release()
    assert list(tmp_path.iterdir()) == []


def test_a_claim_that_may_not_be_removed_is_given_up_all_the_same(tmp_path: Path) -> None:
    """It costs no descriptor, and whoever may remove it finds it to be a dead one's."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    claim = Claim.make(tmp_path / NAME)
    tmp_path.chmod(0o555)
    with nobody(), pytest.raises(PermissionError):
        claim.release()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    tmp_path.chmod(0o755)
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_claim_hides_from_the_kubelet_and_costs_no_descriptor_in_the_end(
    tmp_path: Path,
) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    claim = Claim.make(tmp_path / NAME)
    assert claim.path.name[0] == "."
    claim.release()
    for _ in range(3):
        (tmp_path / f".{NAME}.lock").touch()
        sweep(tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_directory_that_is_not_there_has_nothing_to_sweep(tmp_path: Path) -> None:
    sweep(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
