"""What a program gives its manager, checked while the program's own line is on the stack."""

from collections.abc import Callable
from inspect import (
    getattr_static,
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
    signature,
)
from pathlib import Path
from typing import Final

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES, Policy
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import LONGEST_RESCAN, SHORTEST_RESCAN

USUAL_NAME: Final = "device-plugins"
"""The plugin directory's name below a kubelet's root."""


def check_author(author: object, *, loops: bool) -> None:
    """Raise `InvalidValueError`, which says what to do, if an author's `scan` cannot be called.

    One that loops takes a notifier; one that knows the present takes nothing, is plain, and
    returns its tree.
    """
    form = "scan(notifier)" if loops else "scan()"
    if (fault := _fault(author, form, loops=loops)) is not None:
        kind = author.__name__ if isinstance(author, type) else type(author).__name__
        raise InvalidValueError(f"plugin {kind}: {fault}")


def _fault(author: object, form: str, *, loops: bool) -> str | None:
    scan = getattr(author, "scan", None)
    if not callable(scan):
        return f"must be an object with a method {form}"
    found = getattr_static(author, "scan", None)
    if isinstance(author, type) and not isinstance(found, staticmethod | classmethod):
        return f"is a class; give an object of it, {author.__name__}()"
    if isgeneratorfunction(scan) or isasyncgenfunction(scan):
        way = "hand each tree to notifier.notify" if loops else "return the tree"
        return f"its {form} has a yield, so that a call runs nothing of it; {way}"
    if not loops and iscoroutinefunction(scan):
        return f"its {form} must not be async; it is called on a thread, and may block"
    return _misfit(scan, form, [None] if loops else [])


def _misfit(scan: Callable[..., object], form: str, given: list[None]) -> str | None:
    try:
        takes = signature(scan)
    except (TypeError, ValueError):  # not written in Python: it need not say what it takes
        return None
    try:
        takes.bind(*given)
    except TypeError as error:
        return f"is called as {form}, and its own scan{takes} cannot be: {error}"
    return None


def rescan_of(seconds: object) -> float:
    """Return the seconds from look to look.

    Raises `InvalidValueError` for what is no number, would look without a pause, or never again.
    """
    try:
        found = float(seconds)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, OverflowError):
        found = 0.0
    if not SHORTEST_RESCAN <= found <= LONGEST_RESCAN:
        raise InvalidValueError(
            f"rescan_seconds {seconds!r}: must be a number of seconds, "
            f"{SHORTEST_RESCAN:g} to {LONGEST_RESCAN:.0f}, such as 5"
        )
    return found


def places_of(plugin_dir: object, kubelet_root: object = None) -> dict[str, str]:
    """Return both directories in full, once for all: a process may change its directory.

    A root that is left out is the parent of a plugin directory of the usual name, else that
    directory itself. Raises `InvalidValueError` for what names no directory.
    """
    directory = _full("plugin_dir", plugin_dir)
    if kubelet_root is not None:
        root = _full("kubelet_root", kubelet_root)
    else:
        root = directory.parent if directory.name == USUAL_NAME else directory
    return {"plugin_dir": str(directory), "kubelet_root": str(root)}


def _full(option: str, path: object) -> Path:
    text = str(path) if isinstance(path, str | Path) else ""
    if not text or "\0" in text:
        raise InvalidValueError(f"{option} {path!r}: must be the path of a directory")
    return Path(text).absolute()


def same_for_all(policy: str) -> Callable[[ResourceName], Policy | None]:
    """Return the policy of this name for every resource; raises `InvalidValueError`."""
    if policy not in POLICIES:
        raise InvalidValueError(
            f"allocation policy {policy!r}: must be one of {', '.join(POLICIES)}"
        )
    return lambda _: POLICIES[policy]
