"""Directories below a root without the links that lead to them, and never outside of it."""

import errno
import os
import stat
from typing import Final

MAX_LINKS: Final = 40
"""Links after which a path leads nowhere, as in Linux."""


class Directories:
    """Resolves paths that begin with "/" below `root`, one part at a time.

    What was a directory is remembered, for most of thousands of paths have their beginning in
    common; resolving each by itself takes longer than reading a file. For one scan.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self.known: set[str] = {""}

    def resolve(self, path: str) -> str | None:
        """Return the directory at `path`; None if it is none, or outside. Raises `OSError`."""
        if path in self.known:
            return path
        parent, _, name = path.rpartition("/")
        return self.follow(parent, name) if parent in self.known else self.follow("", path)

    def follow(self, here: str, target: str) -> str | None:
        """Return the directory that the text of a link stands for in the directory `here`.

        None if it is none, or outside of the root. Raises `OSError`.
        """
        links, ahead = 0, _parts(target)
        while ahead:
            step = _step(here, ahead.pop())
            if step is None:
                return None
            if step in self.known:
                here = step
                continue
            onward = self._look(step)
            if onward is None:
                here = step
                continue
            links += 1
            if links > MAX_LINKS or onward.startswith("/"):
                return None
            ahead += _parts(onward)
        return here

    def _look(self, path: str) -> str | None:
        """Return the text of the link at `path`; None if it is a directory, known from now."""
        mode = os.lstat(self._root + path).st_mode
        if stat.S_ISLNK(mode):
            return os.readlink(self._root + path)  # noqa: PTH115 - see files.read_page
        if not stat.S_ISDIR(mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        self.known.add(path)
        return None


def _parts(path: str) -> list[str]:
    """Return the parts of a path, the first one last."""
    return path.split("/")[::-1]


def _step(here: str, name: str) -> str | None:
    """Return the path one part further, or back; None where that is outside of the root."""
    if name in {"", "."}:
        return here
    if name == "..":
        return here.rpartition("/")[0] if here else None
    return f"{here}/{name}"
