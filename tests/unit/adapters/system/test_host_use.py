"""The laws of reading /proc, beyond the contract: what else can stand there."""

import errno
import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from deviceplugin.adapters.memory.device_nodes import MemoryDeviceNodes
from deviceplugin.adapters.system import ProcHostUse, SystemDeviceNodes
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber


def host(root: Path, files: dict[str, str], nodes: MemoryDeviceNodes | None = None) -> ProcHostUse:
    """Return a view of a /proc with these files."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return ProcHostUse(nodes=nodes or MemoryDeviceNodes(), proc_root=str(root))


def test_a_file_system_with_a_number_of_its_own_is_known_by_its_source(tmp_path: Path) -> None:
    """As with btrfs: the number is nobody's, the source is a device."""
    nodes = MemoryDeviceNodes()
    nodes.add_node("/dev/vda2", NodeNumber("block", 254, 2))
    nodes.add_node("/dev/null", NodeNumber("char", 1, 3))
    lines = (
        "30 1 0:26 /root / rw - btrfs /dev/vda2 rw\n"
        "31 1 0:27 / /tmp rw - tmpfs tmpfs rw\n"
        "32 1 0:28 / /odd rw - odd /dev/null rw\n"
        "33 1 0:29 / /none rw -\n"
    )
    found = host(tmp_path, {"1/mountinfo": lines}, nodes).disks()
    assert found == {NodeNumber("block", 254, 2): "mounted at /"}


@pytest.mark.parametrize(
    "line",
    [
        "30 1 0:26 / / rw - bcachefs /dev/sda:/dev/my\\040disk:/dev/by-path/pci-0000:01:00.0 rw",
        "30 1 8:0 / / rw - xfs /dev/root a=/dev/my\\040disk,b=/dev/by-path/pci-0000:01:00.0,c=8",
        "30 1 0:26 / / rw - odd /dev/by-path/pci-0000:01:00.0 a=/dev/sda,b=/dev/my\\040disk",
    ],
)
def test_each_device_that_a_mount_names_is_used(tmp_path: Path, line: str) -> None:
    """Several of one source, and those of options; a colon in a path is no end of it."""
    nodes = MemoryDeviceNodes()
    for minor, name in ((0, "sda"), (16, "my disk"), (32, "by-path/pci-0000:01:00.0")):
        nodes.add_node(f"/dev/{name}", NodeNumber("block", 8, minor))
    found = host(tmp_path, {"1/mountinfo": f"{line}\n"}, nodes).disks()
    assert found == {NodeNumber("block", 8, each): "mounted at /" for each in (0, 16, 32)}


def test_what_is_mounted_several_times_is_told_once(tmp_path: Path) -> None:
    lines = "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n31 1 8:1 /x /x rw - ext4 /dev/sda1 rw\n"
    found = host(tmp_path, {"1/mountinfo": lines}).disks()
    assert found == {NodeNumber("block", 8, 1): "mounted at /"}


@pytest.mark.parametrize("line", ["", "x", "1 2 3", "1 2 8:1 / / rw", "1 2 a:b / / rw - x y z"])
def test_a_line_that_is_none_is_passed_over(tmp_path: Path, line: str) -> None:
    good = "30 1 8:1 / / rw - ext4 /dev/sda1 rw"
    found = host(tmp_path, {"1/mountinfo": f"{line}\n{good}\n"}).disks()
    assert found == {NodeNumber("block", 8, 1): "mounted at /"}


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("eth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0", "eth0"),
        ("eth0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0", "eth0"),
        ("eth0\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0", None),
        ("eth0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0", None),
        ("*\t00000000\t00000000\t0200\t0\t0\t0\t00000000\t0\t0\t0", None),
        ("eth0\t00000000\t00000000\tx\t0\t0\t0\t00000000\t0\t0\t0", None),
        ("eth0", None),
    ],
)
def test_a_default_route_is_to_everywhere(tmp_path: Path, line: str, name: str | None) -> None:
    """And leads somewhere."""
    found = host(tmp_path, {"1/net/route": f"Iface\n{line}\n"}).interfaces()
    assert list(found) == ([name] if name else [])


def test_a_default_route_may_be_of_ipv6_alone(tmp_path: Path) -> None:
    nowhere, rest = "0" * 32, "00000001 00000000"
    lines = (
        f"{nowhere} 00 {nowhere} 00 fe80{'0' * 28} 00000400 {rest} 00000003 eth1\n"
        f"{nowhere} 00 {nowhere} 00 {nowhere} ffffffff {rest} 00200200 lo\n"
        f"fe80{'0' * 28} 40 {nowhere} 00 {nowhere} 00000100 {rest} 00000001 eth2\n"
    )
    files = {"1/net/route": "Iface\n", "1/net/ipv6_route": lines}
    assert host(tmp_path, files).interfaces().keys() == {"eth1"}


@pytest.mark.parametrize("name", ["1/net/route", "net/route"])
def test_the_kernel_is_asked_for_the_routes_of_our_own_network(tmp_path: Path, name: str) -> None:
    """Of another one than that of which /proc tells it would tell nothing of use."""
    line = "eth0\t00000000\t0102A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
    host(tmp_path, {name: f"Iface\n{line}", "other": ""})

    def asked(own_routes: str, routes: Callable[[], Iterable[str]]) -> set[str]:
        made = ProcHostUse(
            nodes=MemoryDeviceNodes(),
            proc_root=str(tmp_path),
            routes=routes,
            own_routes=f"{tmp_path}/{own_routes}",
        )
        return set(made.interfaces())

    def refused() -> Iterable[str]:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    assert asked(name, lambda: ["eth1"]) == {"eth0", "eth1"}
    assert asked("other", lambda: ["eth1"]) == {"eth0"}
    assert asked("gone", lambda: ["eth1"]) == {"eth0"}
    assert asked(name, refused) == {"eth0"}


def test_a_host_without_ipv6_or_swap_has_none(tmp_path: Path) -> None:
    """Their files are not there then."""
    found = host(tmp_path, {"1/net/route": "Iface\n", "1/mountinfo": ""})
    assert found.disks() == {}
    assert found.interfaces() == {}


def test_our_own_view_has_to_do_where_the_first_process_may_not_be_asked(tmp_path: Path) -> None:
    line = "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    files = {"self/mountinfo": line, "net/route": "Iface\neth0 0 0\n"}
    assert len(host(tmp_path, files).disks()) == 1


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScanError) as caught:
        host(tmp_path, {}).disks()
    reason = f"{tmp_path}/1/mountinfo: No such file or directory"
    assert str(caught.value) == f"cannot read what the host uses: {reason}"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_not_taken_for_nothing(tmp_path: Path) -> None:
    """Even of files that need not be there."""
    found = host(tmp_path, {"1/mountinfo": "", "swaps": "x\n"})
    (tmp_path / "swaps").chmod(0)
    with pytest.raises(ScanError, match="Permission denied"):
        found.disks()


@pytest.mark.skipif(not Path("/proc/self/mountinfo").exists(), reason="there is no /proc here")
def test_this_machine_can_be_asked() -> None:
    """Whatever it uses."""
    ProcHostUse(nodes=SystemDeviceNodes()).disks()
