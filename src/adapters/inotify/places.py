"""Which names decide what directory a path means."""

import errno
from pathlib import Path
from typing import Final

import attrs

MAX_LINKS: Final = 40
"""Links after which a path leads nowhere, as in Linux."""


@attrs.frozen
class Places:
    """The `names`, each with the folder that holds it, and the `directory` that they lead to.

    The names are those of all links on the way and of the directory itself; if that is missing,
    the first name that is. Folders and directory are free of links.
    """

    names: tuple[tuple[str, str], ...]
    directory: str | None


def places(path: str) -> Places:
    """Follow `path` one name at a time, as the kernel does."""
    names: list[tuple[str, str]] = []
    folder = "/"
    parts = (path if path.startswith("/") else f"{Path.cwd()}/{path}").split("/")[::-1]
    while parts:
        part = parts.pop()
        if part in {"", "."}:
            continue
        if part == "..":
            folder = str(Path(folder).parent)
            continue
        target = _target(Path(folder, part))
        if target is None or len(names) > MAX_LINKS:
            return Places((*names, (folder, part)), None)
        if target:
            names.append((folder, part))
            folder = "/" if target.startswith("/") else folder
            parts += target.split("/")[::-1]
        else:
            folder = str(Path(folder, part))
    return Places((*names, (str(Path(folder).parent), Path(folder).name)), folder)


def _target(place: Path) -> str | None:
    """Return where the link at `place` leads; "" if it is no link, None if there is nothing."""
    try:
        return str(place.readlink())
    except OSError as error:
        return "" if error.errno == errno.EINVAL else None
