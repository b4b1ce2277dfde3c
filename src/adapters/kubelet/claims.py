"""Who owns a socket in a directory that no kubelet cleans, and whether they still live.

A claim is a lock file beside the socket, locked for as long as its maker lives: the kernel lets go
of the lock when the process ends, however it ends. So a claim that can be locked is a dead one's,
and its socket may go. A socket without a claim is nobody's business here.

The name begins with a dot: the kubelet does not look at those.
"""

import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import attrs

_PREFIX: Final = ".dp-"
_SUFFIX: Final = ".lock"


@attrs.frozen
class Claim:
    """Ours to one socket, for as long as it is not released."""

    path: Path
    _descriptor: int

    @classmethod
    def make(cls, socket: Path) -> Self:
        """Claim `socket`, whose name was never used before. Raises `OSError`."""
        path = _claim_of(socket)
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            # Somebody who sweeps may have locked it first: then they take it away.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.lstat()
        except BaseException:
            os.close(descriptor)
            raise
        return cls(path, descriptor)

    def release(self) -> None:
        """Give it up. Raises `OSError` if its file may not be removed: a sweep may do so later."""
        try:
            with suppress(FileNotFoundError, NotADirectoryError):
                self.path.unlink()
        finally:
            os.close(self._descriptor)


def sweep(directory: Path) -> None:
    """Remove the sockets of claims whose makers are dead, and the claims; nothing else.

    What we may not touch is left to those who may.
    """
    with suppress(OSError):
        for path in sorted(directory.glob(f"{_PREFIX}*{_SUFFIX}")):
            with suppress(OSError):
                _sweep(path)


def _sweep(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(descriptor, path):
            _remove_socket(_socket_of(path))
            path.unlink()
    finally:
        os.close(descriptor)


def _remove_socket(path: Path) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()


def _is_at(descriptor: int, path: Path) -> bool:
    """Say whether the open file still has its name: whoever swept before us took it away."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    return False


def _claim_of(socket: Path) -> Path:
    return socket.with_name(f".{socket.name}{_SUFFIX}")


def _socket_of(claim: Path) -> Path:
    return claim.with_name(claim.name.removeprefix(".").removesuffix(_SUFFIX))
