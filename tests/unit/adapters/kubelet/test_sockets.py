"""The plugin directory as a place for sockets."""

import errno
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.support import nobody as support

from deviceplugin.adapters.kubelet.sockets import (
    MAX_PATH,
    SocketDirectory,
    connect_error,
)
from deviceplugin.domain.errors import (
    KubeletForbiddenError,
    KubeletUnreachableError,
    ServingError,
    ServingForbiddenError,
)
from deviceplugin.domain.resources import ResourceName

LONGEST = ResourceName("d" * 200 + ".example.com", "n" * 63)


def test_the_longest_path_is_what_the_system_takes(tmp_path: Path) -> None:
    """One byte more is refused: what we refuse ourselves is nothing that could be had."""
    with socket.socket(socket.AF_UNIX) as fits, socket.socket(socket.AF_UNIX) as exceeds:
        fits.bind(str(tmp_path / "x").ljust(MAX_PATH, "x"))
        with pytest.raises(OSError, match="too long"):
            exceeds.bind(str(tmp_path / "y").ljust(MAX_PATH + 1, "y"))


def test_names_have_one_length_whatever_the_resource() -> None:
    """The longest resource name costs no more of the path than the shortest."""
    short = SocketDirectory.new_name(ResourceName("a", "b"))
    assert len(SocketDirectory.new_name(LONGEST)) == len(short) < 30


def test_names_are_never_used_twice() -> None:
    """Neither a kubelet nor a server that stops can take one socket for another."""
    names = {SocketDirectory.new_name(LONGEST) for _ in range(1000)}
    assert len(names) == 1000


@pytest.mark.parametrize("spare", [3, 2, 1, 0])
def test_the_longest_path_that_fits_can_be_bound(spare: int, tmp_path: Path) -> None:
    """A path of 104 to 107 bytes is accepted, and Linux agrees."""
    directory = _directory_for(tmp_path, MAX_PATH - spare)
    name = SocketDirectory.new_name(LONGEST)
    place = SocketDirectory(str(directory))
    assert len(os.fsencode(place.file(name))) == MAX_PATH - spare
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place.file(name)))


@pytest.mark.parametrize("excess", [1, 50])
def test_a_longer_path_is_refused_with_both_numbers(excess: int, tmp_path: Path) -> None:
    """It says how long, how long is allowed, and how much shorter it must be."""
    directory = _directory_for(tmp_path, MAX_PATH + excess)
    with pytest.raises(ServingError, match=rf"{MAX_PATH + excess} bytes.*{MAX_PATH}.* {excess} b"):
        SocketDirectory(str(directory))


def test_bytes_count_not_characters(tmp_path: Path) -> None:
    """A name beyond ASCII is as long as it is on disk."""
    with pytest.raises(ServingError, match="shorter"):
        SocketDirectory(str(tmp_path / ("é" * 40)))


@pytest.mark.parametrize("character", list("%#?,"))
def test_characters_that_grpc_reads_otherwise_are_refused(character: str) -> None:
    """The error names the directory and the character."""
    with pytest.raises(ServingError) as refused:
        SocketDirectory(f"/tmp/a{character}b")  # noqa: S108 - nothing is made there
    assert f"/tmp/a{character}b" in str(refused.value)  # noqa: S108
    assert f"reads {character} " in str(refused.value)


@pytest.mark.parametrize("name", ["a b", "a:b", "a=b", "naïve"])
def test_other_characters_work(name: str, tmp_path: Path) -> None:
    """What gRPC takes as it is, is taken."""
    (tmp_path / name).mkdir()
    SocketDirectory(str(tmp_path / name)).check()


def test_a_missing_directory_is_told_with_a_way_out(tmp_path: Path) -> None:
    """It says which, why, and what to look for."""
    with pytest.raises(ServingError, match=r"nowhere.*No such file.*--plugin-dir") as refused:
        SocketDirectory(str(tmp_path / "nowhere")).check()
    assert refused.value.errno == errno.ENOENT


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    """A regular file at the path is left alone and named."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ServingError, match="Not a directory"):
        SocketDirectory(str(tmp_path / "file")).check()
    assert (tmp_path / "file").read_text() == "mine"


@pytest.fixture
def nobody() -> Iterator[None]:
    """Be a user who owns nothing, if we are root; any other user stays who they are."""
    with support.nobody():
        yield


@pytest.mark.usefixtures("nobody")
def test_a_directory_we_may_not_write_is_told_with_the_user() -> None:
    """It says who we are, for the one who must give the right."""
    with pytest.raises(
        ServingForbiddenError,
        match=rf"plugin directory /usr/lib: access: Permission denied \(uid {os.geteuid()}\)",
    ) as refused:
        SocketDirectory("/usr/lib").check()
    assert refused.value.errno == errno.EACCES
    assert "securityContext.runAsUser: 0" in str(refused.value)
    assert "container_device_plugin_t" in str(refused.value)


class Blind(SocketDirectory):
    """A directory whose look does not find out, as with a policy that denies bind alone."""

    def check(self) -> None:
        """Find nothing."""


@pytest.mark.usefixtures("nobody")
def test_a_bind_that_is_refused_is_told_by_call_and_reason() -> None:
    """The reason that gRPC keeps to itself is found; one that only a person can mend is told."""
    reason = str(Blind("/usr/lib").unbound())
    assert reason.startswith("plugin directory /usr/lib: bind: Permission denied (uid ")
    assert isinstance(Blind("/usr/lib").unbound(), ServingForbiddenError)
    assert "container_device_plugin_t" in reason


def test_a_bind_that_would_work_by_now_leaves_nothing_behind(tmp_path: Path) -> None:
    """What refused it may have gone; then it is no matter of permission."""
    failed = SocketDirectory(str(tmp_path)).unbound()
    assert not isinstance(failed, ServingForbiddenError)
    assert failed.errno == errno.EIO
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_each_refusal_has_its_way_out(code: int) -> None:
    """Path, call, the system's own word, who we are, and what to change."""
    refused = SocketDirectory("/plugins").unreachable("kubelet.sock", code)
    assert isinstance(refused, KubeletForbiddenError)
    start = f"/plugins/kubelet.sock: connect: {os.strerror(code)} (uid {os.geteuid()}); "
    assert str(refused).startswith(start)
    ways = {errno.EACCES: "runAsUser", errno.EPERM: "seccomp", errno.EROFS: "readOnly"}
    assert ways[code] in str(refused)


def test_a_kubelet_that_just_is_not_there_is_no_matter_of_permission() -> None:
    """It may come by itself."""
    for code in (errno.ENOENT, errno.ECONNREFUSED):
        gone = SocketDirectory("/plugins").unreachable("kubelet.sock", code)
        assert type(gone) is KubeletUnreachableError


def test_a_connect_finds_who_listens(tmp_path: Path) -> None:
    """Nobody there, nobody listening and somebody listening are told apart; nothing blocks."""
    path = tmp_path / "s.sock"
    assert connect_error(str(path)) == errno.ENOENT
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        assert connect_error(str(path)) == errno.ECONNREFUSED
        server.listen(0)
        assert [connect_error(str(path)) for _ in range(5)] == [0] * 5


def _directory_for(base: Path, length: int) -> Path:
    """Return a directory in which the path of a socket has `length` bytes."""
    name = len(SocketDirectory.new_name(LONGEST))
    directory = base / ("d" * (length - name - 1 - len(os.fsencode(base)) - 1))
    directory.mkdir(exist_ok=True)
    return directory


def test_no_descriptor_left_is_a_reason_not_a_crash(tmp_path: Path) -> None:
    """It may pass; what it says of the kubelet is that it cannot be reached now."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        code = connect_error(str(tmp_path / "kubelet.sock"))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert code == errno.EMFILE


def test_a_path_is_read_as_the_kernel_reads_it() -> None:
    """A link before `..` leads elsewhere than its text says; all must mean one directory."""
    with TemporaryDirectory() as base:
        (Path(base) / "far" / "deep").mkdir(parents=True)
        (Path(base) / "far" / "plugins").mkdir()
        (Path(base) / "link").symlink_to(Path(base) / "far" / "deep")
        place = SocketDirectory(f"{base}/link/../plugins")
        place.check()
        assert place.file("x").parent.samefile(Path(base) / "far" / "plugins")
