"""What is remembered from one scan to the next: what identifies a device is read only once."""

from collections.abc import Collection, Iterable, Mapping
from threading import Lock
from typing import Any, Final

import attrs

from deviceplugin.adapters.sysfs.files import Identity, Unreadable
from deviceplugin.domain.discovery.rulebook import Sighting
from deviceplugin.domain.ports.driven.hotplug import Change

Question = tuple[str, str]
"""How something in a directory is asked for, and its name there."""
Answer = tuple[object, tuple[Unreadable, ...]]
"""What came of it, and what was odd about that."""

NOTHING: Final[Answer] = (None, ())
DRIVER: Final[Question] = ("link", "driver")
NAMES: Final[Question] = ("names", "")
_LED_TO: Final = frozenset({"device", "directory"})
"""How it is asked where names in a directory lead: of some, such as bridges, they are ever new."""
_NONE: Final[dict[Question, Answer]] = {}
ALWAYS_CHANGING: Final = frozenset({"driver", "online", "sriov_numvfs"})
"""Names of files and links that say how a device is, not what it is."""


@attrs.define(eq=False)
class Folder:
    """One directory as it was found, without links in its path, and what was asked about it.

    Its `answers` hold as long as it and all that it is in are as they were; those that are
    `changing`, too, are asked for anew in each scan, and another answer makes another `Folder`.
    `above` is what it is in, below /devices. `lasts` says whether what is asked about it holds for
    as long as it is there, by and large.
    """

    path: str
    name: str
    above: "Folder | None"
    identity: Identity
    lasts: bool = True
    answers: dict[Question, Any] = attrs.field(factory=dict[Question, Any])
    changing: dict[Question, Answer] = _NONE
    notes: tuple[Unreadable, ...] = ()
    """What was odd about answers that last."""
    names: Collection[str] | None = None
    """What is in it, if it was listed: there is nothing else with this driver."""

    def keep(self, question: Question, answer: Answer, *, lasts: bool) -> None:
        """Keep an answer for as long as it holds."""
        self.answers[question] = answer[0]
        if not lasts:
            # Most directories have none such, and there are thousands.
            if self.changing is _NONE:
                self.changing = {}
            self.changing[question] = answer
        elif answer[1]:
            self.notes += answer[1]

    def renewed(self, above: "Folder | None", changing: dict[Question, Answer]) -> "Folder":
        """Return the same directory in another one, or with other answers of those that change.

        It is drivers that add files to a device, so with another one nothing else is known. Where
        names led that are in it no more is forgotten; and once others are in it, it is not known
        any more what there is not.
        """
        now = {question: answer[0] for question, answer in changing.items()}
        if changing.get(DRIVER) != self.changing.get(DRIVER):
            return Folder(self.path, self.name, above, self.identity, self.lasts, now, changing)
        answers: dict[Question, Any] = {**self.answers, **now}
        names = self.names
        listed: Collection[str] | None = answers.get(NAMES)
        if listed is not None and listed != self.answers.get(NAMES):
            stale = {each for each in answers if each[0] in _LED_TO and each[1] not in listed}
            answers = {each: answer for each, answer in answers.items() if each not in stale}
            changing = {each: answer for each, answer in changing.items() if each not in stale}
            names = None
        return Folder(
            self.path,
            self.name,
            above,
            self.identity,
            self.lasts,
            answers,
            changing,
            self.notes,
            names,
        )


@attrs.frozen(eq=False)
class Listing:
    """A directory of links to devices: which link leads to which directory."""

    identity: Identity | None
    numbers: Mapping[str, int]
    """The inode of each link."""
    folders: dict[str, Folder]


@attrs.define(eq=False)  # frozen, it would take three times as long to make
class Memo:
    """What a look at a device came to, and what it depends on beside its own directory."""

    folder: Folder
    subsystem: str
    paths: tuple[str, ...]
    sighting: Sighting
    others: tuple[Folder, ...]
    nodes: tuple[tuple[str, str, object], ...]


class Memory:
    """Of one root, for one scanner. `forget` may be called in any thread, at any time."""

    def __init__(self, changing: Iterable[str] = ()) -> None:
        """Remember nothing yet. `changing` are further names of files that are read each time."""
        self._lock = Lock()
        self._void = Change()
        self.changing = ALWAYS_CHANGING | frozenset(changing)
        self.folders: dict[str, Folder] = {}
        self.listings: dict[str, Listing] = {}
        self.memos: dict[str, Memo] = {}
        self.common: tuple[Folder, ...] = ()
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
            self.folders.clear()
        elif void.paths:
            for path in [each for each in self.folders if _is_below(each, void.paths)]:
                del self.folders[path]

    def end(self, folders: dict[str, Folder], listings: dict[str, Listing]) -> None:
        """End a scan: what it did not meet is forgotten, so that no memory outlives its device."""
        self.folders, self.listings = folders, listings

    def follow(self, changing: Iterable[str]) -> None:
        """Go by other rules: what they come to is another matter, the hardware is the same."""
        self.changing = ALWAYS_CHANGING | frozenset(changing)
        self.folders.clear()
        self.memos.clear()


def _is_below(path: str, paths: frozenset[str]) -> bool:
    """Say whether a path is one of these, or below one."""
    while path:
        if path in paths:
            return True
        path = path.rpartition("/")[0]
    return False
