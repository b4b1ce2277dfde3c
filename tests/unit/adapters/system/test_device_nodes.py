"""What the contract cannot say of device nodes on a real machine."""

import os
import stat
from pathlib import Path

import pytest

from deviceplugin.adapters.system import SystemDeviceNodes
from deviceplugin.adapters.system.device_nodes import MAX_NAMES
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber


def test_the_nodes_that_every_linux_has_are_known() -> None:
    nodes = SystemDeviceNodes()
    assert nodes.number("/dev/null") == NodeNumber("char", 1, 3)
    assert nodes.number("/dev/zero") == NodeNumber("char", 1, 5)
    assert nodes.resolve("/dev/null") == "/dev/null"
    assert {"/dev/null", "/dev/zero"} <= set(nodes.matching("/dev/[nz]*"))


def test_a_block_device_is_told_from_a_character_device(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "sda", stat.S_IFBLK | 0o600, os.makedev(8, 0))
    except PermissionError:
        pytest.skip("mknod: this process may not make device nodes")
    assert SystemDeviceNodes(str(tmp_path)).number("/dev/sda") == NodeNumber("block", 8, 0)


def test_sockets_and_pipes_are_no_devices(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    nodes = SystemDeviceNodes(str(tmp_path))
    assert nodes.number("/dev/pipe") is None
    assert list(nodes.matching("/dev/*")) == ["/dev/pipe"]


def test_an_absolute_link_means_the_hosts_dev_not_ours(tmp_path: Path) -> None:
    """Else a container would look at its own /dev/null."""
    (tmp_path / "link").symlink_to("/dev/null")
    nodes = SystemDeviceNodes(str(tmp_path))
    assert nodes.number("/dev/link") is None
    (tmp_path / "null").touch()
    assert nodes.resolve("/dev/link") == "/dev/null"


def test_a_missing_root_has_no_devices(tmp_path: Path) -> None:
    nodes = SystemDeviceNodes(str(tmp_path / "missing"))
    assert nodes.number("/dev/null") is None
    assert list(nodes.matching("/dev/*")) == []


def test_a_folder_that_cannot_be_read_is_as_if_empty(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert list(SystemDeviceNodes(str(tmp_path)).matching("/dev/file/*")) == []


def test_a_glob_over_links_in_circles_ends(tmp_path: Path) -> None:
    """Links to the folder itself make ever more paths; few enough are looked at."""
    for name in "abcd":
        (tmp_path / name).symlink_to(".")
    found = list(SystemDeviceNodes(str(tmp_path)).matching("/dev" + "/*" * 8))
    assert len(found) <= MAX_NAMES
