"""A recording as a directory: DIR/sys and DIR/dev, and a file that tells what no tree can."""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self, cast

import attrs

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.recording.entries import Directory, File, Link, Node, Recording

MARK: Final = "recorded.json"
"""The file by which a directory is known as a recorded machine."""
_VERSION: Final = 1
_MAX_BYTES: Final = 16 * 1024 * 1024


@attrs.frozen(kw_only=True)
class Recorded:
    """What a recorded directory says beside its tree: the errors that were met, by path."""

    failures: Mapping[str, str] = attrs.field(factory=dict[str, str])
    masked: bool = False

    def below(self, folder: str) -> Mapping[str, str]:
        """Return the failures in a folder such as /sys, by path below it."""
        return {
            path.removeprefix(folder): name
            for path, name in self.failures.items()
            if path.startswith(f"{folder}/")
        }

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return what the file says. Raises `ValueError`."""
        read: object = json.loads(text)
        about = cast("dict[str, object]", read if isinstance(read, dict) else {})
        failures = about.get("failures")
        if about.get("version") != _VERSION or not isinstance(failures, dict):
            raise ValueError(f"its version is not {_VERSION}")
        pairs = cast("dict[str, object]", failures).items()
        return cls(
            failures={path: str(name) for path, name in pairs}, masked=bool(about.get("masked"))
        )


def opened(directory: str) -> Recorded | None:
    """Return what a recorded directory says; None if it is none. Raises `InvalidValueError`."""
    try:
        with (Path(directory) / MARK).open("rb") as file:
            return Recorded.parse(file.read(_MAX_BYTES).decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        reason = f"{directory}/{MARK} is not what `deviceplugin record` writes: {error}"
        raise InvalidValueError(reason) from error


def vacant(directory: str) -> None:
    """Raise `InvalidValueError` unless there is nothing of that name, or an empty directory."""
    try:
        full = any(Path(directory).iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        reason = os.strerror(error.errno or errno.EIO)
        raise InvalidValueError(f"{directory} cannot be recorded into: {reason}") from error
    if full:
        raise InvalidValueError(
            f"{directory} is not empty: name a directory that is, or that is not there yet"
        )


def write(recording: Recording, directory: str, *, masked: bool = False) -> None:
    """Write a recording into a directory that is vacant; make it if it is not there.

    Links come last, so nothing is ever written through one. Raises `OSError`.
    """
    place = Path(directory)
    place.mkdir(parents=True, exist_ok=True)
    links: list[tuple[Path, str]] = []
    for path, entry in recording.entries.items():
        where = place / path.removeprefix("/")
        match entry:
            case Directory():
                where.mkdir()
            case Link(target):
                links.append((where, target))
            case Node():
                _new(where, f"{entry}\n".encode())
            case File(data):
                _new(where, data)
    for where, target in links:
        where.symlink_to(target)
    about = {"version": _VERSION, "masked": masked, "failures": dict(recording.failures)}
    _new(place / MARK, f"{json.dumps(about, indent=2)}\n".encode())


def _new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
