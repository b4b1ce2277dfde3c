"""The laws of what the kernel tells of default routes."""

import errno
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

import attrs
import pytest

from deviceplugin.adapters.system.routes import default_routes, read
from deviceplugin.domain.errors import ScanError

UNICAST, UNREACHABLE = 1, 7


def attribute(kind: int, data: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


def message(kind: int, body: bytes, flags: int = 0) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 7) + body + bytes(-len(body) % 4)


def route(
    *interfaces: int,
    length: int = 0,
    kind: int = UNICAST,
    table: int = 254,
    flags: int = 0,
) -> bytes:
    """Return what the kernel tells of a route: one interface, or several next hops."""
    gateway = attribute(5, socket.inet_aton("192.0.2.1"))
    head = struct.pack("=BBBBBBBBI", socket.AF_INET, length, 0, 0, table, 3, 0, kind, 0)
    if len(interfaces) == 1:
        hops = attribute(4, struct.pack("=i", interfaces[0])) + gateway
    else:
        each = [struct.pack("=HBBi", 8 + len(gateway), 0, 0, one) + gateway for one in interfaces]
        hops = attribute(9, b"".join(each))
    return message(24, head + attribute(15, struct.pack("=I", table)) + hops, flags)


DONE = message(3, bytes(4))


def test_each_interface_of_each_default_route_is_told() -> None:
    """Of several next hops, and of other tables than the main one."""
    data = route(2) + route(3, 4, 5) + route(6, table=100) + route(7, length=24) + DONE
    assert read(data) == (frozenset({2, 3, 4, 5, 6}), True, True)


def test_a_route_that_leads_nowhere_is_none() -> None:
    assert read(route(2, kind=UNREACHABLE)) == (frozenset(), False, True)


def test_a_route_by_an_object_alone_cannot_be_told() -> None:
    """The kernel can be told to name nothing else of it: which card that is, nobody knows."""
    hop = attribute(30, struct.pack("=I", 10))
    head = struct.pack("=BBBBBBBBI", socket.AF_INET, 0, 0, 0, 254, 3, 0, UNICAST, 0)
    with pytest.raises(ScanError, match="nexthop_compat_mode to 1"):
        read(message(24, head + hop))
    told = attribute(4, struct.pack("=i", 3))
    assert read(message(24, head + hop + told))[0] == {3}


def test_an_answer_that_changed_meanwhile_is_not_taken_for_whole() -> None:
    assert read(route(2, flags=0x10) + DONE) == (frozenset({2}), True, False)


def test_an_error_is_raised() -> None:
    with pytest.raises(OSError, match="Operation not permitted") as caught:
        read(message(2, struct.pack("=i", -errno.EPERM) + bytes(16)))
    assert caught.value.errno == errno.EPERM


@pytest.mark.parametrize("end", range(1, len(route(3, 4))))
def test_what_is_cut_off_is_an_error_or_tells_less(end: int) -> None:
    """It never ends in anything else, and it is never made up."""
    whole = route(3, 4)
    with pytest.raises(OSError, match="Bad message"):
        read(whole[:end])
    short = struct.pack("=I", end) + whole[4:end]
    if end >= 16:
        assert read(short)[0] <= {3, 4}


def test_this_machine_can_be_asked() -> None:
    """Whatever routes it has."""
    names = {name for _, name in socket.if_nameindex()}
    assert default_routes() <= names


ROUTES = """
set -e
for card in net1 net2 net3 net4 net5; do
    ip link add name $card type dummy 2>/dev/null || ip tuntap add dev $card mode tap
    ip link set $card up
done
ip addr add 192.0.2.2/24 dev net1
ip addr add 198.51.100.2/24 dev net2
ip addr add 203.0.113.2/24 dev net3
ip route add default nexthop via 192.0.2.1 dev net1 nexthop via 198.51.100.1 dev net2
ip route add default via 203.0.113.1 dev net3 table 100
ip -6 route add default dev net4 table 100 || ip route add default dev net4 table 101
"""


def test_a_kernel_tells_of_what_proc_does_not() -> None:
    """Two next hops and other tables, in a network of its own."""
    unshare = ["unshare", "--user", "--map-root-user", "--net", "sh", "-c"]
    if not shutil.which("ip") or not shutil.which("unshare"):
        pytest.skip("there is no ip or unshare here")
    if not _ran([*unshare, ROUTES]).ok:
        pytest.skip("no network of our own can be had here")
    code = (
        f"from {default_routes.__module__} import default_routes; print(*sorted(default_routes()))"
    )
    done = _ran([*unshare, f'{ROUTES}\nexec "$0" -c "$1"', sys.executable, code])
    assert done.ok, done.errors
    assert done.output.split() == ["net1", "net2", "net3", "net4"]


@attrs.frozen
class _Ran:
    ok: bool
    output: str
    errors: str


def _ran(command: Sequence[str]) -> _Ran:
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603
    return _Ran(done.returncode == 0, done.stdout, done.stderr)
