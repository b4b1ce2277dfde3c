"""What a program gives its manager, checked while the program's own line is on the stack."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.preference import POLICIES, Policy
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import LONGEST_RESCAN, SHORTEST_RESCAN

USUAL_NAME: Final = "device-plugins"
"""The plugin directory's name below a kubelet's root."""


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
