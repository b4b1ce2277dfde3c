"""A recording as a directory: DIR/sys and DIR/dev, and a file that tells what no tree can."""

import errno
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self, cast

import attrs

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.recording.entries import (
    Directory,
    File,
    Link,
    Recording,
    Uses,
    node_text,
    parsed_node,
)

MARK: Final = "recorded.json"
"""The file by which a directory is known as a recorded machine."""
_VERSION: Final = 1
_MAX_BYTES: Final = 16 * 1024 * 1024


@attrs.frozen(kw_only=True)
class Recorded:
    """What a recorded directory says beside its tree.

    `failures` are the names of errors that reading met, by path; `uses` is what the host used.
    """

    failures: Mapping[str, str] = attrs.field(factory=dict[str, str])
    uses: Uses = attrs.field(factory=Uses)
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
        about = _mapping(json.loads(text), "the whole")
        if about.get("version") != _VERSION:
            raise ValueError(f"its version is not {_VERSION}")
        return cls(
            failures=_texts(about.get("failures", {}), "failures"),
            uses=_uses(_mapping(about.get("uses", {}), "uses")),
            masked=bool(about.get("masked")),
        )


def _uses(given: Mapping[str, object]) -> Uses:
    disks, interfaces = (given.get(name) for name in ("disks", "interfaces"))
    return Uses(
        disks=None
        if disks is None
        else {
            number: use
            for name, use in _texts(disks, "disks").items()
            if (number := parsed_node(name))
        },
        interfaces=None if interfaces is None else _texts(interfaces, "interfaces"),
        unknown=_texts(given.get("unknown", {}), "unknown"),
    )


def _mapping(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be an object")  # noqa: TRY004 - what a file says
    return cast("dict[str, object]", value)


def _texts(value: object, name: str) -> Mapping[str, str]:
    return {key: str(text) for key, text in _mapping(value, name).items()}


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
        raise _unusable(directory, error) from error
    if full:
        raise InvalidValueError(
            f"{directory} is not empty: name a directory that is, or that is not there yet"
        )


def _unusable(directory: str, error: OSError) -> InvalidValueError:
    reason = os.strerror(error.errno or errno.EIO)
    return InvalidValueError(f"{directory} cannot be recorded into: {reason}")


def write(recording: Recording, directory: str, *, masked: bool = False) -> None:
    """Write a recording into a directory that is vacant; make it if it is not there.

    Links come last, so nothing is ever written through one. Raises `InvalidValueError` where no
    directory can be made, and `OSError`.
    """
    place = Path(directory)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(directory, error) from error
    links: list[tuple[Path, str]] = []
    for path, entry in recording.entries.items():
        where = place / path.removeprefix("/")
        match entry:
            case Directory():
                where.mkdir()
            case Link(target):
                links.append((where, target))
            case NodeNumber():
                _new(where, f"{node_text(entry)}\n".encode())
            case File(data):
                _new(where, data)
    for where, target in links:
        where.symlink_to(target)
    about = {
        "version": _VERSION,
        "masked": masked,
        "failures": dict(recording.failures),
        "uses": _written(recording.uses),
    }
    _new(place / MARK, f"{json.dumps(about, indent=2)}\n".encode())


def _written(uses: Uses) -> Mapping[str, object]:
    disks, interfaces = uses.disks, uses.interfaces
    return {
        "disks": None if disks is None else {node_text(key): use for key, use in disks.items()},
        "interfaces": None if interfaces is None else dict(interfaces),
        "unknown": dict(uses.unknown),
    }


def _new(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
