"""What a pod that asks for a device gets, and what it does not get."""

from pathlib import Path
from typing import Final

from tests.node.node import Node
from tests.node.plugin import Operator

FUSE: Final = "devices.local/fuse"
"""As the preset and the default domain name it."""
SHARES: Final = 110
"""How many pods may have it by the preset."""

# A line for each thing that is tried; the last one is "done".
TRY: Final = """\
try() { (eval "exec 3$1 $2") 2> /tmp/why && echo "$1 $2 opened" || cat /tmp/why; }
try '<' /dev/fuse
try '>' /dev/fuse
mknod /tmp/kmsg c 1 11
try '<' /tmp/kmsg
ls /dev
echo done
"""
READ_ONLY: Final = """\
version: 1
resources:
  - name: read-only
    match: [{subsystem: misc, name: fuse}]
    permissions: r
"""


def test_a_pod_opens_its_device_and_no_other(node: Node, operator: Operator) -> None:
    """With nothing configured: for reading and writing, as the preset says.

    A node of another device, which the container makes itself, cannot be opened.
    """
    operator.start()
    node.await_allocatable(FUSE, SHARES)
    node.run("asking", {FUSE: 1}, TRY)
    node.run("other", {}, "ls /dev; echo done")
    reading, writing, forbidden, *present = node.heard("asking", "done")
    assert (reading, writing) == ("< /dev/fuse opened", "> /dev/fuse opened")
    assert forbidden.endswith("can't open /tmp/kmsg: Operation not permitted")
    assert "fuse" in present
    assert "fuse" not in node.heard("other", "done")


def test_a_pod_can_do_no_more_than_is_configured(
    node: Node, operator: Operator, tmp_path: Path
) -> None:
    """With the permission `r`, it can read and not write."""
    (tmp_path / "plugin.yaml").write_text(READ_ONLY)
    operator.start("--config=plugin.yaml", "--domain=node.example.com")
    resource = "node.example.com/read-only"
    node.await_allocatable(resource, 1)
    node.run("asking", {resource: 1}, TRY)
    reading, writing, *_ = node.heard("asking", "done")
    assert reading == "< /dev/fuse opened"
    assert writing.endswith("can't create /dev/fuse: Operation not permitted")


def test_a_pod_is_refused_when_there_is_none_left(node: Node, operator: Operator) -> None:
    """Until the one that has all shares ends; PodResources tells who that is."""
    operator.start()
    ids = node.await_allocatable(FUSE, SHARES)
    assert node.holders(FUSE) == {}
    node.run("first", {FUSE: SHARES})
    node.running("first")
    node.run("second", {FUSE: 1})
    assert FUSE in node.refused("second").message
    assert node.holders(FUSE) == {"first": ids}
    assert node.allocatable(FUSE).keys() == ids
    node.remove("first")
    node.run("third", {FUSE: 1})
    node.running("third")
    (held,) = node.holders(FUSE)["third"]
    assert held in ids
