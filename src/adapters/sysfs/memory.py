"""What is remembered from one scan to the next: what identifies a device is read only once."""

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Final

import attrs

from deviceplugin.adapters.sysfs.files import Identity, Unreadable
from deviceplugin.domain.discovery.rulebook import Sighting
from deviceplugin.domain.ports.driven.hotplug import Change

Question = tuple[str, str]
"""How something in a directory is asked for, and its name there."""
Answer = tuple[object, tuple[Unreadable, ...]]
"""What came of it, and what was odd about that."""

DRIVER: Final[Question] = ("link", "driver")
ALWAYS_CHANGING: Final = frozenset({"driver", "online", "sriov_numvfs"})
"""Names of files and links that say how a device is, not what it is."""


@attrs.define(eq=False)
class Record:
    """One directory as it was found: as long as it is this one, so are its `lasting` answers.

    The `changing` ones are asked for anew in each scan; another answer makes another record.
    """

    identity: Identity | None
    lasting: dict[Question, Answer] = attrs.field(factory=dict[Question, Answer])
    changing: dict[Question, Answer] = attrs.field(factory=dict[Question, Answer])


@attrs.frozen(eq=False)
class Listing:
    """A directory of links to devices: which link leads to which directory."""

    identity: Identity | None
    entries: Mapping[str, tuple[int, str]]


@attrs.frozen(eq=False, kw_only=True)
class Memo:
    """What a look at a device came to, and all that it depends on."""

    subsystem: str
    paths: tuple[str, ...]
    sighting: Sighting
    records: tuple[tuple[str, Record], ...]
    nodes: tuple[tuple[str, str, object], ...]
    notes: tuple[Unreadable, ...]


class Memory:
    """Of one root, for one scanner. `forget` may be called in any thread, at any time."""

    def __init__(self, changing: Iterable[str] = ()) -> None:
        """Remember nothing yet. `changing` are further names of files that are read each time."""
        self._lock = Lock()
        self._void = Change()
        self.changing = ALWAYS_CHANGING | frozenset(changing)
        self.records: dict[str, Record] = {}
        self.listings: dict[str, Listing] = {}
        self.memos: dict[str, Memo] = {}
        self.common: dict[str, Record] = {}
        """What every memo depends on."""

    def forget(self, change: Change) -> None:
        """Let what may have changed be looked at anew in the next scan, with all below it."""
        with self._lock:
            self._void |= change

    def begin(self) -> None:
        """Begin a scan: what was told until now is void."""
        with self._lock:
            void, self._void = self._void, Change()
        if void.everything:
            self.records.clear()
        elif void.paths:
            for path in [each for each in self.records if _is_below(each, void.paths)]:
                del self.records[path]

    def end(self, records: dict[str, Record], listings: dict[str, Listing]) -> None:
        """End a scan: what it did not meet is forgotten, so that no memory outlives its device."""
        self.records, self.listings = records, listings

    def follow(self, changing: Iterable[str]) -> None:
        """Go by other rules: what they come to is another matter, the hardware is the same."""
        self.changing = ALWAYS_CHANGING | frozenset(changing)
        self.records.clear()
        self.memos.clear()


def _is_below(path: str, paths: frozenset[str]) -> bool:
    """Say whether a path is one of these, or below one."""
    while path:
        if path in paths:
            return True
        path = path.rpartition("/")[0]
    return False
