"""Sees which files are opened and directories listed, whoever does it; and weighs what is kept."""

import gc
import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cache
from threading import get_ident
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Final, cast

_OPENING: Final = frozenset({"open", "os.listdir", "os.scandir"})
_SHARED: Final = (type, ModuleType, BuiltinFunctionType)
"""What belongs to the program, not to the one who refers to it."""

_watching: dict[int, "Witness"] = {}


class Witness:
    """Keeps what is opened and listed."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        """What tells where each path leads: its directory, where a link at its end is refused."""

    @contextmanager
    def watching(self) -> Generator[None]:
        """See all that this thread does in the meantime."""
        _attend()
        _watching[get_ident()] = self
        try:
            yield
        finally:
            del _watching[get_ident()]

    def outside(self, root: str | os.PathLike[str]) -> list[str]:
        """Return what was opened that is not below a directory once all links are followed."""
        inside = f"{os.path.realpath(root)}/"
        real = {os.path.realpath(each) for each in set(self.opened)}
        return [each for each in real if not f"{each}/".startswith(inside)]


@cache
def _attend() -> None:
    """Hear what Python itself is asked to do from now on; this cannot be undone."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if _watching and event in _OPENING:
        witness = _watching.get(get_ident())
        path, *more = arguments
        if witness is not None and isinstance(path, str):
            refuses = event == "open" and cast("int", more[-1]) & os.O_NOFOLLOW
            witness.opened.append(path.rpartition("/")[0] if refuses else path)


def weight(kept: object, *, but: Iterable[object] = ()) -> int:
    """Return the bytes of an object and all that hangs on it, but for what was given to it."""
    counted = {id(each) for each in but}
    total, ahead = 0, [kept]
    while ahead:
        here = ahead.pop()
        if id(here) in counted or isinstance(here, _SHARED):
            continue
        counted.add(id(here))
        total += sys.getsizeof(here)
        # A function refers to all of its module.
        ahead += (
            (here.__closure__ or ()) if isinstance(here, FunctionType) else gc.get_referents(here)
        )
    return total
