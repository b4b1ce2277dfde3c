"""The laws of recordings."""

import pytest

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.recording.entries import Directory, File, Link, Node, Recording


def test_directories_come_by_themselves_and_before_what_is_in_them() -> None:
    """A file that others turn out to be below is one."""
    recording = Recording({"/sys/b/c": File(b"1"), "/sys/a": Link("b"), "/sys/b": File()})
    assert list(recording.entries) == ["/sys", "/sys/a", "/sys/b", "/sys/b/c"]
    assert recording.entries["/sys"] == recording.entries["/sys/b"] == Directory()


@pytest.mark.parametrize(
    "path", ["", "sys", "/", "/sys/../../etc", "/sys//a", "/sys/./a", "/sys/a/", "/sys/a\0b"]
)
def test_no_path_leads_out_of_the_tree(path: str) -> None:
    with pytest.raises(InvalidValueError, match=r"without '\.\.'"):
        Recording({path: File()})


@pytest.mark.parametrize("entry", [Link("/etc"), Node("char", 1, 3)])
def test_nothing_is_below_a_link(entry: Link | Node) -> None:
    """Or writing it would follow the link to wherever that leads."""
    with pytest.raises(InvalidValueError, match="leads through what is no directory"):
        Recording({"/sys/a": entry, "/sys/a/b": File()})


def test_failures_are_known_by_path() -> None:
    recording = Recording({"/sys/a": File(failure="EACCES"), "/sys/b": Directory("EIO")})
    assert recording.failures == {"/sys/a": "EACCES", "/sys/b": "EIO"}
