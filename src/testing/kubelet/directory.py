"""The device plugin directory: its names, and what a kubelet throws away when it starts."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Final

from deviceplugin.testing.kubelet.errors import UnusableDirectoryError
from deviceplugin.testing.kubelet.profile import Profile

KUBELET_SOCKET: Final = "kubelet.sock"
"""Where the kubelet takes Register."""
CHECKPOINT: Final = "kubelet_internal_checkpoint"
"""Where the device manager keeps who holds what."""
REGISTRY: Final = "plugins_registry"
"""Below the kubelet's root: where the plugin manager looks for sockets."""
POD_RESOURCES: Final = "pod-resources"
"""Below the kubelet's root: where another kubelet.sock tells who holds what."""
_LONGEST_SOCKET: Final = 107
"""Bytes of a socket's path, by the system (unix(7)): 108 with the zero at the end."""
_USUAL: Final = "device-plugins"


def root_of(directory: Path) -> Path:
    """Return the root of the kubelet that has this plugin directory, if nobody says another.

    Its parent, if it has the usual name; else itself, since nothing outside of a directory that
    was given for a test should be touched.
    """
    return directory.parent if directory.name == _USUAL else directory


def socket_of(directory: Path, endpoint: str) -> Path:
    """Return where the kubelet dials for `endpoint`: joined and cleaned by text, never checked.

    So `../x.sock` leaves the directory, an absolute path lands below it, and the empty endpoint
    is the directory itself (filepath.Join).
    """
    return Path(os.path.normpath(f"{directory}/{endpoint}"))


def make(directory: Path) -> None:
    """Make the directory if it is missing; raises `UnusableDirectoryError`.

    A path that is too long for the socket in it is not even made.
    """
    path = directory / KUBELET_SOCKET
    length = len(os.fsencode(path))
    if length > _LONGEST_SOCKET:
        raise UnusableDirectoryError(
            f"{path} has {length} bytes, and the path of a socket {_LONGEST_SOCKET} at most: give"
            " a directory with a shorter path, such as one in /tmp"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise unusable(directory, problem) from problem


def unusable(directory: Path, problem: OSError) -> UnusableDirectoryError:
    """Return what is said where the system lets no kubelet live in a directory."""
    return UnusableDirectoryError(
        f"{directory} cannot be the plugin directory: {problem}; give one that you may make and"
        " write to, such as one in /tmp"
    )


def clean(directory: Path, profile: Profile, chance: Random) -> None:
    """Remove the sockets in `directory`, its own and the plugins' (CleanupPluginDirectory).

    In any order and not in folders. A link to a socket goes, its target stays; a dangling link is
    kept.
    """
    doomed = list(_doomed(directory, profile))
    chance.shuffle(doomed)
    for path in doomed:
        with suppress(FileNotFoundError):
            path.unlink()


def _doomed(directory: Path, profile: Profile) -> Iterator[Path]:
    for path in directory.iterdir():
        if path.name != CHECKPOINT and _goes(path, profile):
            yield path


def _goes(path: Path, profile: Profile) -> bool:
    try:
        if profile.removes_plain_files:  # links as well, wherever they lead
            return not stat.S_ISDIR(path.lstat().st_mode)
        return stat.S_ISSOCK(path.stat().st_mode)
    except OSError:  # dangling, or gone by itself
        return False
