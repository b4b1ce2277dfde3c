"""Names and paths of sockets in the plugin directory."""

import errno
import hashlib
import os
import secrets
import socket
from pathlib import Path
from typing import Final

import attrs

from deviceplugin.domain.errors import ServingError
from deviceplugin.domain.resources import ResourceName

MAX_PATH: Final = 107
"""Bytes of the longest path that a unix socket can have on Linux."""
_UNSAFE: Final = "%#?,"
"""Characters that gRPC's target syntax reads otherwise: it decodes %xx and cuts at the rest."""
_NAME_BYTES: Final = len("dp-0123456789ab-01234567.sock")


def _checked(path: str) -> str:
    """Return `path`, absolute; raises `ServingError` if nothing could ever be served there."""
    absolute = str(Path(path).absolute())
    if found := sorted(set(absolute) & set(_UNSAFE)):
        message = (
            f"plugin directory {absolute}: gRPC reads {' '.join(found)} in a target "
            "otherwise; use a directory without them, or a symbolic link to it"
        )
        raise ServingError(errno.EINVAL, message)
    needed = len(os.fsencode(absolute)) + 1 + _NAME_BYTES
    if needed > MAX_PATH:
        message = (
            f"plugin directory {absolute}: a socket's path in it has {needed} bytes, Linux allows "
            f"{MAX_PATH}; use a directory whose path is {needed - MAX_PATH} bytes shorter"
        )
        raise ServingError(errno.ENAMETOOLONG, message)
    return absolute


@attrs.frozen
class SocketDirectory:
    """The plugin directory as a place for sockets; `ServingError` if it never can be one."""

    path: str = attrs.field(converter=_checked)

    def check(self) -> None:
        """Raise `ServingError` unless sockets can be made here now."""
        code = _why_unusable(self.path)
        if code:
            hint = _HINTS.get(code, "")
            message = (
                f"plugin directory {self.path}: {os.strerror(code)} (uid {os.geteuid()}){hint}"
            )
            raise ServingError(code, message)

    def file(self, name: str) -> Path:
        """Return the path of the socket called `name`."""
        return Path(self.path, name)

    def target(self, name: str) -> str:
        """Return the socket as a gRPC target; with `unix:///` two bytes less would fit."""
        return f"unix:{self.path}/{name}"

    @staticmethod
    def new_name(resource: ResourceName) -> str:
        """Return a file name that was never used: 29 bytes, however long the resource's name is.

        A name of its own for each server keeps every kubelet from mixing up two of them, and keeps
        a server that closes from removing the socket of a newer one.
        """
        digest = hashlib.sha256(str(resource).encode()).hexdigest()[:12]
        return f"dp-{digest}-{secrets.token_hex(4)}.sock"


_HINTS: Final = {
    errno.ENOENT: "; is the kubelet's directory mounted here? --plugin-dir names another one",
    errno.EACCES: "; run as a user who may write there, and look for SELinux denials",
    errno.EPERM: "; look for SELinux or seccomp denials",
    errno.EROFS: "; mount it writable",
    errno.ENOTDIR: "; it must be a directory",
}


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


def connect_error(path: Path) -> int:
    """Return the errno of connecting to the unix socket at `path`, 0 if somebody listens there."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as probe:
            code = probe.connect_ex(os.fspath(path))
    except OSError as error:
        return error.errno or errno.EIO  # no descriptor is left: that may pass, too
    return 0 if code == errno.EAGAIN else code
