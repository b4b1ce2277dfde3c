"""The laws of reading: bounded, within the root, and never an error."""

import errno
import os
import socket
from collections.abc import Iterable
from pathlib import Path

import pytest

from deviceplugin.adapters.sysfs.files import PAGE, Files, read_page
from deviceplugin.domain.discovery.events import (
    DirectoryUnreadable,
    EntryForbidden,
    EntryUnreadable,
)
from deviceplugin.domain.discovery.withheld import NO_TEXT, UNREAD, Withheld

ALL_ERRORS = [errno.EACCES, errno.EIO, errno.EPERM, errno.EAGAIN, errno.ENOMEM, errno.EMFILE]
GONE = [errno.ENOENT, errno.ENODEV, errno.ENXIO, errno.ENOTDIR, errno.EISDIR, errno.EINVAL]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root with a directory `dir` in it, and a secret beside it."""
    (tmp_path / "sys/dir").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_text("secret\n")
    return tmp_path / "sys"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"0x8086\n", "0x8086"),
        (b"", ""),
        (b"\n", ""),
        (b" A1 B2 \t\r\n", " A1 B2"),
        (b"arm,pl011\0\n\0", "arm,pl011"),
        ("Zoë\n".encode(), "Zoë"),
        (b"x" * PAGE, "x" * PAGE),
        (b"x" * PAGE + b"\n", UNREAD),
        (b"x" * 5_000_000, UNREAD),
        (b"arm,pl011\0arm,primecell\0", NO_TEXT),
        (b"\xff\xfe\n", NO_TEXT),
        (b"\x86\x80\x16\x00", NO_TEXT),
    ],
)
def test_text_is_what_a_file_says_or_unknown(root: Path, data: bytes, text: str | None) -> None:
    """Without the newline, as udev compares it; never cut off, never guessed."""
    (root / "dir/file").write_bytes(data)
    files = Files(str(root))
    assert files.text("/dir/file") == text
    assert len(files.notes) == isinstance(text, Withheld)


def test_what_is_not_there_is_nothing_and_no_news(root: Path) -> None:
    """A device that went away is a matter of course."""
    files = Files(str(root))
    assert files.text("/dir/file") is None
    assert files.text("/gone/file") is None
    assert files.names("/gone") == ()
    assert files.directory("/gone") is None
    assert files.device("/gone/entry") is None
    assert files.link("/dir/link") is None
    assert not files.has("/dir/file")
    assert files.notes == []


@pytest.mark.parametrize("number", ALL_ERRORS)
def test_what_cannot_be_read_is_unknown_and_named(root: Path, number: int) -> None:
    """With the reason, so that a person can mend it; a warning if more rights would."""

    def broken(_: str) -> bytes:
        raise OSError(number, os.strerror(number))

    files = Files(str(root), read=broken)
    assert files.text("/dir/file") is UNREAD
    is_forbidden = number in {errno.EACCES, errno.EPERM}
    kind = EntryForbidden if is_forbidden else EntryUnreadable
    assert files.notes == [kind(path="/dir/file", reason=os.strerror(number))]
    assert files.notes[0].level == ("warning" if is_forbidden else "debug")


@pytest.mark.parametrize("number", [*ALL_ERRORS, errno.ELOOP])
def test_what_cannot_be_read_through_a_link_is_unknown(root: Path, number: int) -> None:
    """Even if what it leads to is a link again by then."""
    (root / "dir/real").touch()
    (root / "dir/file").symlink_to("real")

    def broken(path: str) -> bytes:
        raise OSError(number if path.endswith("real") else errno.ELOOP, "broken")

    expected = None if number == errno.ELOOP else UNREAD
    assert Files(str(root), read=broken).text("/dir/file") is expected


@pytest.mark.parametrize("number", GONE)
def test_what_goes_away_while_it_is_read_is_no_news(root: Path, number: int) -> None:
    def gone(_: str) -> bytes:
        raise OSError(number, os.strerror(number))

    files = Files(str(root), read=gone)
    assert files.text("/dir/file") is None
    assert files.notes == []


@pytest.mark.parametrize("number", ALL_ERRORS)
def test_a_directory_that_cannot_be_listed_is_a_warning(root: Path, number: int) -> None:
    """What is in it stays unseen, which is more than an odd entry."""

    def broken(_: str) -> Iterable[str]:
        raise OSError(number, os.strerror(number))

    files = Files(str(root), listdir=broken)
    assert files.names("/dir") == ()
    assert files.notes == [DirectoryUnreadable(path="/dir", reason=os.strerror(number))]
    assert files.notes[0].level == "warning"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_of_root_are_unknown_to_others(root: Path) -> None:
    (root / "dir/file").write_text("1\n")
    (root / "dir/file").chmod(0)
    (root / "closed").mkdir(mode=0)
    files = Files(str(root))
    assert files.text("/dir/file") is UNREAD
    assert files.names("/closed") == ()
    assert files.names("/closed/below") == ()
    assert [(note.path, note.reason) for note in files.notes] == [
        ("/dir/file", "Permission denied"),
        ("/closed", "Permission denied"),
        ("/closed/below", "Permission denied"),
    ]


def test_no_file_makes_a_scan_wait(root: Path) -> None:
    """Not a pipe without a writer, nor a socket, nor a directory."""
    os.mkfifo(root / "dir/pipe")
    (root / "dir/sub").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(root / "dir/s"))
        files = Files(str(root))
        assert files.text("/dir/pipe") in {"", None}
        assert files.text("/dir/s") is None
        assert files.text("/dir/sub") is None


def test_no_more_than_a_page_is_read(root: Path) -> None:
    """Whatever the size of a file."""
    (root / "dir/file").write_bytes(b"x" * 100_000)
    assert len(read_page(str(root / "dir/file"))) == PAGE + 1


@pytest.mark.parametrize(
    "target",
    ["../../secret", "/etc/passwd", "/real", "../../outside/file", "loop", "missing", ".", ".."],
)
def test_no_file_is_read_outside_of_the_root(root: Path, target: str) -> None:
    """Whatever a link says."""
    (root / "dir/loop").symlink_to("loop")
    (root / "dir/real").write_text("the wrong one\n")
    (root / "dir/file").symlink_to(target)
    assert Files(str(root)).text("/dir/file") is None


@pytest.mark.parametrize("target", ["../../outside", "/", "loop", "missing"])
def test_no_directory_is_entered_outside_of_the_root(root: Path, target: str) -> None:
    (root / "dir/loop").symlink_to("loop")
    (root / "dir/out").symlink_to(target)
    files = Files(str(root))
    assert files.directory("/dir/out") is None
    assert files.names("/dir/out") == ()
    assert files.text("/dir/out/file") is None


def test_a_link_within_the_root_is_followed(root: Path) -> None:
    """As `device/vendor` needs it, however many links there are."""
    (root / "other").mkdir()
    (root / "other/real").write_text("1\n")
    (root / "dir/device").symlink_to("../other")
    (root / "dir/again").symlink_to("device/real")
    files = Files(str(root))
    assert files.text("/dir/device/real") == "1"
    assert files.text("/dir/again") == "1"
    assert files.directory("/dir/device") == "/other"


def test_a_root_may_itself_be_reached_by_a_link(root: Path) -> None:
    """As where a container has the host's /sys."""
    (root / "dir/file").write_text("1\n")
    (root.parent / "link").symlink_to(root)
    assert Files(f"{root.parent}/link/").text("/dir/file") == "1"


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("../devices/a/b", "/devices/a/b"),
        ("../devices/./a/../a/b", "/devices/a/b"),
        ("hop", "/devices/a/b"),
        ("../devices/link", "/devices/a/b"),
        ("../devices/a/file", None),
        ("../devices/gone", None),
        ("../kernel", None),
        ("../devices", None),
        ("../../outside", None),
        ("../../devices/a/b", None),
        ("../devices/out/outside", None),
        ("/", None),
        ("entry", None),
    ],
)
def test_an_entry_stands_for_a_directory_below_devices(
    root: Path, target: str, found: str | None
) -> None:
    """And for nothing else: what is odd is named, not followed."""
    (root / "devices/a/b").mkdir(parents=True)
    (root / "devices/a/file").touch()
    (root / "devices/link").symlink_to("a/b")
    (root / "devices/out").symlink_to("../..")
    (root / "kernel").mkdir()
    (root / "dir/hop").symlink_to("../devices/a/b")
    (root / "dir/entry").symlink_to(target)
    files = Files(str(root))
    assert files.device("/dir/entry") == found
    assert [note.path for note in files.notes if "no device" in note.reason] == (
        [] if found else ["/dir/entry"]
    )


def test_names_are_sorted_and_shown_whatever_their_bytes(root: Path) -> None:
    (root / "dir").joinpath("b").touch()
    (root / "dir").joinpath("a").touch()
    (root / "dir").joinpath(os.fsdecode(b"\xff")).symlink_to("nowhere")
    files = Files(str(root))
    assert files.names("/dir") == ("a", "b", "\udcff")
    assert files.device("/dir/\udcff") is None
    assert files.notes == [
        EntryUnreadable(path=r"/dir/\udcff", reason="leads to no device: nowhere")
    ]
