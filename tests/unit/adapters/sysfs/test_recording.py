"""The laws of keeping what is asked of /sys, and of answering as it did."""

import os
import stat
from pathlib import Path

import pytest

from deviceplugin.adapters.sysfs.recording import Questions, replaying, taken
from deviceplugin.domain.discovery.events import DirectoryUnreadable, EntryForbidden
from deviceplugin.domain.discovery.withheld import UNREAD
from deviceplugin.domain.recording.entries import Directory, File, Link


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root with a directory, a file, and links to it, to nowhere and to the outside."""
    (tmp_path / "sys/devices/x").mkdir(parents=True)
    (tmp_path / "sys/devices/x/serial").write_text("A1\n")
    (tmp_path / "sys/class").mkdir()
    (tmp_path / "sys/class/x").symlink_to("../devices/x")
    (tmp_path / "sys/class/far").symlink_to("../../outside")
    (tmp_path / "outside").mkdir()
    return tmp_path / "sys"


def test_what_was_asked_is_taken_with_all_that_leads_there(root: Path) -> None:
    """And the content of what was read alone."""
    asked = Questions()
    files = asked.reader(str(root))
    assert files.names("/class") == ("far", "x")
    assert files.text("/class/x/serial") == "A1"
    assert files.link("/class/x") == "../devices/x"
    assert taken(str(root), asked) == {
        "/devices": Directory(),
        "/devices/x": Directory(),
        "/devices/x/serial": File(b"A1\n"),
        "/class": Directory(),
        "/class/x": Link("../devices/x"),
        "/class/far": Link("../../outside"),
    }


def test_what_could_not_be_read_is_no_empty_file(root: Path) -> None:
    """A socket in the place of a file fails for everybody, root too; so does its replay."""
    (root / "devices/x/serial").unlink()
    os.mknod(root / "devices/x/serial", stat.S_IFSOCK | 0o600)
    asked = Questions()
    assert asked.reader(str(root)).text("/devices/x/serial") is None
    entry = taken(str(root), asked)["/devices/x/serial"]
    assert entry == File(failure="ENXIO")
    (root / "devices/x/serial").unlink()
    (root / "devices/x/serial").touch()
    replayed = replaying({"/devices/x/serial": "ENXIO"})(str(root))
    assert replayed.text("/devices/x/serial") is None
    assert replayed.notes == []


def test_errors_are_met_again_by_their_names(root: Path) -> None:
    """Of a file and of a directory; one that is not known here is an error all the same."""
    failures = {"/devices/x/serial": "EACCES", "/class": "EIO", "/devices/x/other": "EALIEN"}
    (root / "devices/x/other").touch()
    files = replaying(failures)(str(root))
    assert files.text("/devices/x/serial") is files.text("/devices/x/other") is UNREAD
    assert files.names("/class") == ()
    forbidden, other, unlisted = files.notes
    assert forbidden == EntryForbidden(path="/devices/x/serial", reason="Permission denied")
    assert other.reason == "Input/output error"
    assert unlisted == DirectoryUnreadable(path="/class", reason="Input/output error")
