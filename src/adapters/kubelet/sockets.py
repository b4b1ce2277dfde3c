"""Names and paths of sockets in a directory that the kubelet looks at."""

import errno
import os
import socket
import stat
from pathlib import Path
from typing import Final
from zlib import adler32, crc32

import attrs

from deviceplugin.domain.errors import (
    KubeletForbiddenError,
    KubeletUnreachableError,
    ServingError,
    ServingForbiddenError,
    SocketLostError,
)
from deviceplugin.domain.leftover_events import FileLeft
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.resources import ResourceName

MAX_PATH: Final = 107
"""Bytes of the longest path that a unix socket can have on Linux."""
_UNSAFE: Final = "%#?,"
"""Characters that gRPC's target syntax reads otherwise: it decodes %xx and cuts at the rest."""
_NAME_BYTES: Final = len("dp-0123456789ab-01234567.sock")


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


@attrs.frozen
class SocketDirectory:
    """A directory as a place for sockets; `ServingError` if it never can be one.

    `kind` is what people call it, `flag` how people name another
    one: the option of a manager, with the command's flag.
    """

    path: str = attrs.field(converter=_absolute)
    kind: str = attrs.field(default="plugin directory", kw_only=True)
    flag: str = attrs.field(default="plugin_dir (--plugin-dir)", kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Refuse what gRPC or Linux could never take."""
        if found := sorted(set(self.path) & set(_UNSAFE)):
            message = (
                f"{self.kind} {self.path}: gRPC reads {' '.join(found)} in a target "
                "otherwise; use a directory without them, or a symbolic link to it"
            )
            raise ServingError(errno.EINVAL, message)
        needed = len(os.fsencode(self.path)) + 1 + _NAME_BYTES
        if needed > MAX_PATH:
            message = (
                f"{self.kind} {self.path}: a socket's path in it has {needed} bytes, Linux allows "
                f"{MAX_PATH}; use a directory whose path is {needed - MAX_PATH} bytes shorter"
            )
            raise ServingError(errno.ENAMETOOLONG, message)

    def check(self) -> None:
        """Raise `ServingError` unless sockets can be made here now, as far as one look tells."""
        if (fault := self.fault()) is not None:
            raise fault

    def fault(self) -> ServingError | None:
        """Return why no sockets can be made here now; None if they can, as far as one look."""
        code = _why_unusable(self.path)
        return self._unusable(code, "access") if code else None

    def is_there(self) -> bool:
        """Return whether the directory is there, whatever we may do in it."""
        return Path(self.path).is_dir()

    def unusable(self, error: OSError) -> ServingError:
        """Return what the system's word on making a file here means."""
        return self._unusable(error.errno or errno.EIO, "open")

    def unbound(self) -> ServingError:
        """Return why no socket can be bound here: gRPC does not tell. Tries it once more.

        The socket's name is left out: it is new each time, and the reason is not.
        """
        code = _bind_error(self.file(f".{os.urandom(4).hex()}"))
        return self._unusable(code or errno.EIO, "bind")

    def unreachable(self, name: str, code: int) -> KubeletUnreachableError:
        """Return the error of connecting to the socket called `name`."""
        kind = KubeletForbiddenError if code in FORBIDDEN else KubeletUnreachableError
        why = f"{os.strerror(code)}{_way_out(code)}" if code in FORBIDDEN else os.strerror(code)
        return kind(code, f"{self.file(name)}: connect: {why}")

    def _unusable(self, code: int, call: str) -> ServingError:
        kind = ServingForbiddenError if code in FORBIDDEN else ServingError
        hint = _way_out(code) if code in FORBIDDEN else f" (uid {os.geteuid()})"
        hint += _HINTS.get(code, "").format(flag=self.flag)
        return kind(code, f"{self.kind} {self.path}: {call}: {os.strerror(code)}{hint}")

    def file(self, name: str) -> Path:
        """Return the path of the socket called `name`."""
        return Path(self.path, name)

    def text(self, name: str) -> str:
        """Return the same as text: a hundred resources at once notice what a `Path` costs."""
        return f"{self.path}/{name}"

    def identity(self, name: str) -> FileIdentity:
        """Return which file the socket called `name` is now. Raises `OSError` if there is none."""
        found = os.stat(self.text(name))  # noqa: PTH116 - see `text`
        return FileIdentity(found.st_dev, found.st_ino, found.st_ctime_ns)

    def remove(self, name: str) -> FileLeft | None:
        """Remove the socket called `name`, which is ours; return that it is left, if it is.

        What is no socket is not ours.
        """
        path = self.text(name)
        try:
            if stat.S_ISSOCK(os.lstat(path).st_mode):
                os.unlink(path)  # noqa: PTH108 - see `text`
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return self.left(name, error)
        return None

    def left(self, name: str, error: OSError) -> FileLeft:
        """Return that a file of ours could not be removed, and the way out."""
        code = error.errno or errno.EIO
        hint = _way_out(code) if code in FORBIDDEN else ""
        return FileLeft(path=self.text(name), reason=f"unlink: {os.strerror(code)}{hint}")

    def check_served(self, name: str) -> None:
        """Raise `SocketLostError` unless the socket called `name`, which was served, is there.

        A name is never used again, so a file that has it is the one that was served.
        """
        path = self.text(name)
        if not os.path.lexists(path):
            raise SocketLostError(errno.ENOENT, f"{path}: somebody removed our socket")

    @staticmethod
    def resource_part(name: str) -> str:
        """Return the part of a socket's name that all sockets of its resource have."""
        return name.rpartition("-")[0]

    def target(self, name: str) -> str:
        """Return the socket as a gRPC target; with `unix:///` two bytes less would fit."""
        return f"unix:{self.text(name)}"

    @staticmethod
    def new_name(resource: ResourceName) -> str:
        """Return a file name that was never used: 29 bytes, however long the resource's name is.

        A name of its own for each server keeps every kubelet from mixing up two of them, and keeps
        a server that closes from removing the socket of a newer one.
        """
        # Not of hashlib, which brings all of OpenSSL's hashes along: half a megabyte.
        text = str(resource).encode()
        digest = f"{crc32(text):08x}{adler32(text) & 0xFFFF:04x}"
        return f"dp-{digest}-{os.urandom(4).hex()}.sock"


FORBIDDEN: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
"""What only a person can mend: a permission, a policy or a mount."""

_SELINUX: Final = (
    "where SELinux enforces, give the container securityContext.seLinuxOptions.type "
    "container_device_plugin_t"
)
_WAYS_OUT: Final = {
    errno.EACCES: f"run as root (securityContext.runAsUser: 0) or as its owner; {_SELINUX}",
    errno.EPERM: f"look for a seccomp profile or policy that denies it; {_SELINUX}",
    errno.EROFS: "mount it writable: no readOnly in the volumeMount",
}
_HINTS: Final = {
    errno.ENOENT: "; is the kubelet's directory mounted here? {flag} names another one",
    errno.ENOTDIR: "; it must be a directory",
}


def _way_out(code: int) -> str:
    """Return who we are, for the one who must give the right, and how to."""
    return f" (uid {os.geteuid()}); {_WAYS_OUT[code]}"


def _why_unusable(path: str) -> int:
    """Return the errno that making a socket would meet, 0 if none. Nothing is made to find out."""
    try:
        os.stat(os.path.join(path, "."))  # noqa: PTH116, PTH118 - the dot makes a file fail with ENOTDIR
        if os.access(path, os.W_OK | os.X_OK, effective_ids=True):
            return 0
        read_only = bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError as error:
        return error.errno or errno.EIO
    return errno.EROFS if read_only else errno.EACCES


def connect_error(path: str) -> int:
    """Return the errno of connecting to the unix socket at `path`, 0 if somebody listens there."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
            code = probe.connect_ex(path)
    except OSError as error:
        return error.errno or errno.EIO  # no descriptor is left: that may pass, too
    return 0 if code == errno.EAGAIN else code


def _bind_error(path: Path) -> int:
    """Return the errno of binding a socket at `path`, 0 if it works; nothing is left there."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.bind(os.fspath(path))
            path.unlink(missing_ok=True)
    except OSError as error:
        return error.errno or errno.EIO
    return 0
