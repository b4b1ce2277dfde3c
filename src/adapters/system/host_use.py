"""What the host does with its devices, as its /proc tells."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from deviceplugin.adapters.system.routes import default_routes
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber
from deviceplugin.domain.ports.driven.host_use import HostUse

_MAX_BYTES: Final = 16 * 1024 * 1024
_MOUNTS: Final = ("1/mountinfo", "self/mountinfo")
_SWAPS: Final = ("swaps",)
_ROUTES: Final = ("1/net/route", "net/route")
_ROUTES_6: Final = ("1/net/ipv6_route", "net/ipv6_route")
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")
_NUMBER: Final = re.compile(r"([0-9]{1,7}):([0-9]{1,7})")
_SEVERAL: Final = re.compile(r":(?=/)")
"""Between the devices of one source; paths have colons, too."""
_NAMED: Final = re.compile(r"=(/dev/[^,]+)")
"""A device in the options of a mount, such as `logdev` of xfs."""
_MOUNT_POINT, _MOUNT_FIELDS = 4, 6
_REJECT: Final = 0x200
"""A route that leads nowhere."""


class ProcHostUse(HostUse):
    """Reads /proc at `proc_root`; `nodes` tells which device a path below /dev is.

    The first process is asked, since it sees the host's mounts and network where we, in a
    container, do not; where we may not ask it, our own view has to do. If its network is our own,
    of which `own_routes` is a file, the kernel is asked for `routes` as well: /proc does not show
    all of them.
    """

    def __init__(
        self,
        *,
        nodes: DeviceNodes,
        proc_root: str = "/proc",
        routes: Callable[[], Iterable[str]] = default_routes,
        own_routes: str = "/proc/self/net/route",
    ) -> None:
        self._nodes = nodes
        self._root = proc_root.rstrip("/")
        self._routes = routes
        self._own_routes = own_routes

    def disks(self) -> Mapping[NodeNumber, str]:
        """Return what is mounted or swapped to."""
        found: dict[NodeNumber, str] = {}
        for line in self._lines(_MOUNTS):
            for number, use in self._mount(line.split(" ")):
                found.setdefault(number, use)
        for line in self._lines(_SWAPS, optional=True)[1:]:
            swap = self._nodes.number(_plain(line.split(" ")[0].split("\t")[0]))
            if swap:
                found.setdefault(swap, "used as swap space")
        return found

    def interfaces(self) -> Mapping[str, str]:
        """Return by which interfaces default routes lead."""
        four = _default_routes(self._lines(_ROUTES)[1:])
        six = _default_routes_6(self._lines(_ROUTES_6, optional=True))
        return dict.fromkeys((*four, *six, *self._more()), "the default route leads by it")

    def _more(self) -> Iterable[str]:
        """Return what the kernel tells of our own network, if that is the host's."""
        if not self._is_own_network():
            return ()
        try:
            return self._routes()
        except OSError:  # not every sandbox has netlink
            return ()

    def _is_own_network(self) -> bool:
        """Say whether the file that tells of routes is our own: each network has files of its own.

        Links of namespaces, which say the same, are for those who may trace the process.
        """
        for name in _ROUTES:
            try:
                there, here = os.stat(f"{self._root}/{name}"), os.stat(self._own_routes)  # noqa: PTH116
            except OSError:
                continue
            return there.st_ino == here.st_ino
        return False

    def _mount(self, fields: Sequence[str]) -> Iterator[tuple[NodeNumber, str]]:
        """Yield the block devices of a mount, and where it is; nothing of one without a device."""
        if len(fields) <= _MOUNT_FIELDS or "-" not in fields:
            return
        use = f"mounted at {_plain(fields[_MOUNT_POINT])}"
        digits = _NUMBER.fullmatch(fields[2])
        _, source, options = (*fields[fields.index("-") + 1 :], "", "", "")[:3]
        if digits and int(digits[1]):
            yield NodeNumber("block", int(digits[1]), int(digits[2])), use
            source = ""
        # Some file systems, such as btrfs, have a number of their own; the source is a device, or
        # several. Others have a log of their own elsewhere.
        paths = dict.fromkeys((source, *_SEVERAL.split(source), *_NAMED.findall(options)))
        for path in filter(None, paths):
            number = self._nodes.number(_plain(path))
            if number and number.kind == "block":
                yield number, use

    def _lines(self, names: Sequence[str], *, optional: bool = False) -> list[str]:
        """Return the lines of the first of these files that can be read. Raises `ScanError`."""
        reason = ""
        for name in names:
            path = f"{self._root}/{name}"
            try:
                with open(path, "rb") as file:  # noqa: PTH123 - a path of the kernel's, as text
                    return file.read(_MAX_BYTES).decode(errors="replace").split("\n")
            except FileNotFoundError as error:
                reason = reason or f"{path}: {os.strerror(error.errno or 0)}"
            except OSError as error:
                reason = f"{path}: {os.strerror(error.errno or 0)}"
                optional = False
        if optional:
            return []
        raise ScanError(f"cannot read what the host uses: {reason}")


def _default_routes(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match line.split():
            case [name, "00000000", _, flags, _, _, _, "00000000", *_] if _leads(flags):
                yield name
            case _:
                continue


def _default_routes_6(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        match line.split():
            case [target, "00", _, _, _, _, _, _, flags, name] if not target.strip("0"):
                yield from [name] if _leads(flags) else []
            case _:
                continue


def _leads(flags: str) -> bool:
    """Say whether a route leads anywhere."""
    try:
        return not int(flags, 16) & _REJECT
    except ValueError:
        return False


def _plain(text: str) -> str:
    r"""Return a path in which the kernel wrote a space as \040."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)
