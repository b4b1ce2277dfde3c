"""Texts that fit no device there can be: better told when they are read than looked for.

Only what is sure counts. A name in sysfs is that of a file, so no '/' is in one; and a path below
/sys begins with a '/'. What stands behind the first bracket of a glob may mean anything.
"""

from typing import Final

from deviceplugin.domain.discovery.facts import Kind

_NAMES: Final = frozenset({Kind.SUBSYSTEM, Kind.NAME, Kind.DRIVER})
"""Of these, a value is the name of a file."""


def unmatchable(kind: Kind, text: str) -> str | None:
    """Return what to write instead of a text or glob that fits no device; None if it may."""
    if kind is Kind.DEVPATH:
        return _no_path(text)
    if kind in _NAMES and "/" in text.partition("[")[0]:
        return _instead_of_name(kind, text)
    return None


def seems_regex(kind: Kind, text: str) -> bool:
    """Say whether a text or glob has what hardly a name, and mostly a regular expression, has."""
    if kind not in _NAMES | {Kind.DEVPATH, Kind.NODE}:
        return False
    return "|" in text or "\\" in text or text.startswith("^") or text.endswith("$")


def _no_path(text: str) -> str | None:
    if f"{text}/".startswith("/sys/"):
        rest = text.removeprefix("/sys") or "/devices/*"
        return f"leave out /sys, as in {rest!r}: it is a path below /sys, and matches nothing so"
    if text and text[0] not in "/*?[":
        return (
            f"begin it with '/' or '*', as in {f'*/{text}'!r}: it is a whole path below /sys, and "
            "matches nothing so"
        )
    return None


def _instead_of_name(kind: Kind, text: str) -> str:
    rule = f"no {kind.value} has a '/', so it matches nothing"
    if kind is Kind.NAME and text.startswith("/dev/"):
        return f"{rule}: for a path below /dev, it is 'node'"
    if kind is Kind.NAME and text.startswith("/sys/"):
        return f"{rule}: for a path below /sys, it is 'devpath', without /sys"
    last = text.rpartition("/")[2]
    return f"{rule}: leave the path out, as in {last!r}" if last else rule
