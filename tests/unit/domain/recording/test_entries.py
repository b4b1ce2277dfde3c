"""The laws of recordings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.recording.entries import (
    Directory,
    File,
    Link,
    Recording,
    node_text,
    parsed_node,
)


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


@pytest.mark.parametrize("entry", [Link("/etc"), NodeNumber("char", 1, 3)])
def test_nothing_is_below_a_link(entry: Link | NodeNumber) -> None:
    """Or writing it would follow the link to wherever that leads."""
    with pytest.raises(InvalidValueError, match="leads through what is no directory"):
        Recording({"/sys/a": entry, "/sys/a/b": File()})


def test_failures_are_known_by_path() -> None:
    recording = Recording({"/sys/a": File(failure="EACCES"), "/sys/b": Directory("EIO")})
    assert recording.failures == {"/sys/a": "EACCES", "/sys/b": "EIO"}


@given(st.builds(NodeNumber, st.sampled_from(["char", "block"]), *[st.integers(0, 2**20)] * 2))
def test_a_node_is_read_as_it_is_written(number: NodeNumber) -> None:
    """With or without a newline at its end."""
    assert parsed_node(node_text(number)) == parsed_node(f"{node_text(number)}\n") == number


@pytest.mark.parametrize(
    "text", ["", "char", "char 1", "char 1:2:3", "pipe 1:3", "char \u0661:\u0663"]
)
def test_other_texts_are_no_nodes(text: str) -> None:
    assert parsed_node(text) is None
