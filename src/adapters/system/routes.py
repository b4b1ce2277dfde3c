"""The default routes of our own network namespace, as the kernel tells through rtnetlink.

/proc shows the first interface of those in the main table; here are all, of every table.
"""

import errno
import os
import socket
import struct
from collections.abc import Iterator
from typing import Final

from deviceplugin.domain.errors import ScanError

_GET_ROUTES: Final = 26
_NEW_ROUTE: Final = 24
_ERROR, _DONE = 2, 3
_REQUEST_DUMP: Final = 0x301
_INTERRUPTED: Final = 0x10
"""Routes changed meanwhile, so that some may lack."""
_HEADER: Final = struct.Struct("=IHHII")
_ROUTE: Final = struct.Struct("=BBBBBBBBI")
_ATTRIBUTE: Final = struct.Struct("=HH")
_NEXT_HOP: Final = struct.Struct("=HBBi")
_NUMBER: Final = struct.Struct("=i")
_UNICAST: Final = 1
"""The type of a route that leads somewhere."""
_INTERFACE, _SEVERAL, _NEXT_HOP_ID = 4, 9, 30
_ROOM: Final = 1024 * 1024
_SECONDS: Final = 5.0
_TRIES: Final = 5


def default_routes() -> frozenset[str]:
    """Return the names of the interfaces by which default routes lead.

    Raises `OSError` if the kernel cannot be asked, and `ScanError` if it does not say all.
    """
    indexes = {index for family in (socket.AF_INET, socket.AF_INET6) for index in _asked(family)}
    return frozenset(name for name in map(_name, indexes) if name)


def _asked(family: int) -> frozenset[int]:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(_SECONDS)
        kernel.bind((0, 0))
        for number in range(1, _TRIES + 1):
            route = _ROUTE.pack(family, 0, 0, 0, 0, 0, 0, 0, 0)
            size = _HEADER.size + len(route)
            kernel.sendall(_HEADER.pack(size, _GET_ROUTES, _REQUEST_DUMP, number, 0) + route)
            found: set[int] = set()
            is_whole, is_last = True, False
            while not is_last:
                indexes, is_last, is_good = read(kernel.recv(_ROOM))
                found |= indexes
                is_whole = is_whole and is_good
            if is_whole:
                return frozenset(found)
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def read(data: bytes) -> tuple[frozenset[int], bool, bool]:
    """Return what a part of an answer tells.

    That are the indexes of the interfaces by which default routes lead, whether it is the last
    part, and whether nothing changed meanwhile. Raises `OSError` if it is no answer, and
    `ScanError` if there is a default route of which it tells no interface.
    """
    found: set[int] = set()
    is_last, is_whole = False, True
    while len(data) >= _HEADER.size:
        size, kind, flags, _, _ = _HEADER.unpack_from(data)
        if not _HEADER.size <= size <= len(data):
            break
        body, data = data[_HEADER.size : size], data[_aligned(size) :]
        is_whole = is_whole and not flags & _INTERRUPTED
        if kind == _NEW_ROUTE:
            found.update(_led_by(body))
        elif kind == _DONE:
            is_last = True
        elif kind == _ERROR:
            number = -_NUMBER.unpack_from(body)[0] if len(body) >= _NUMBER.size else errno.EBADMSG
            raise OSError(number, os.strerror(number))
    if data:
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG))
    return frozenset(found), is_last, is_whole


def _led_by(route: bytes) -> Iterator[int]:
    """Yield the interfaces of a route, if it is a default route."""
    if len(route) < _ROUTE.size:
        return
    _, length, _, _, _, _, _, kind, _ = _ROUTE.unpack_from(route)
    if length or kind != _UNICAST:
        return
    told = dict(_attributes(route[_ROUTE.size :]))
    if len(told.get(_INTERFACE, b"")) == _NUMBER.size:
        yield _NUMBER.unpack(told[_INTERFACE])[0]
    elif _SEVERAL in told:
        yield from _next_hops(told[_SEVERAL])
    elif _NEXT_HOP_ID in told:
        raise ScanError(
            "the kernel tells no interface of a default route by a next hop object: set the"
            " sysctl net.ipv4.nexthop_compat_mode to 1"
        )


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _ATTRIBUTE.size:
        size, what = _ATTRIBUTE.unpack_from(data)
        if size < _ATTRIBUTE.size:
            return
        yield what, data[_ATTRIBUTE.size : size]
        data = data[_aligned(size) :]


def _next_hops(data: bytes) -> Iterator[int]:
    while len(data) >= _NEXT_HOP.size:
        size, _, _, index = _NEXT_HOP.unpack_from(data)
        if size < _NEXT_HOP.size:
            return
        yield index
        data = data[_aligned(size) :]


def _aligned(size: int) -> int:
    return (size + 3) & ~3


def _name(index: int) -> str:
    """Return the name of an interface; nothing if it is gone."""
    try:
        return socket.if_indextoname(index)
    except OSError:
        return ""
