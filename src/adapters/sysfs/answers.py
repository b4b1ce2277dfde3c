"""What is known of a directory: it is asked only what is not known yet.

A look at a device asks about it and what it is in, over and over, and for files that mostly are
not there. So what was answered is kept with the directory; and one that was asked in vain is
listed before it is asked for anything else.
"""

from collections.abc import Collection
from typing import Any, Final

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.memory import DRIVER, NAMES, NOTHING, Answer, Folder, Question

_INNATE: Final = frozenset({"subsystem"})
"""Names of what a device has from its beginning, or never, whatever its driver is."""
_DEVICE: Final = frozenset({"uevent", "driver"})
"""Names without which a directory is no device, but a folder in one."""


class _Asking(dict[str, Question]):
    """Questions of one sort by name: there are few names, those in rules and in this package."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self._how = how

    def __missing__(self, name: str) -> Question:
        question = self[name] = (self._how, name)
        return question


_LINK, _HAS, _TEXT, _DATA = map(_Asking, ("link", "has", "text", "data"))


class Answers:
    """Asks `files` for one scan; files and links of names that are `changing` in each scan.

    An answer that was "there is no such thing" holds for as long as the driver is the same, too.
    """

    def __init__(self, files: Files, changing: frozenset[str]) -> None:
        """Take a reader of one scan."""
        self._files = files
        self._changing = changing
        self._how = {
            "link": files.link,
            "text": files.text,
            "data": files.data,
            "has": files.has,
            "names": files.names,
            "device": files.device,
            "directory": files.directory,
        }
        self._doubted: set[Folder] = set()
        self._listed: set[Folder] = set()
        self._alike = dict[Collection[str], Collection[str]]()
        self.notes = files.notes

    def names(self, folder: Folder) -> tuple[str, ...]:
        """Return the names in a directory."""
        names: tuple[str, ...] = self._ask_anew(folder, NAMES)
        return names

    def link(self, folder: Folder, name: str) -> str | None:
        """Return where a link points."""
        question = _LINK[name]
        answers = folder.answers
        target: str | None = (
            answers[question] if question in answers else self._learn(folder, question)
        )
        return target

    def has(self, folder: Folder, name: str) -> bool:
        """Say whether there is anything of that name."""
        return bool(self._ask(folder, _HAS[name]))

    def data(self, folder: Folder, name: str) -> bytes | None:
        """Return what a file begins with."""
        data: bytes | None = self._ask(folder, _DATA[name])
        return data

    def text(self, folder: Folder, name: str) -> str | None:
        """Return a file's text."""
        question = _TEXT[name]
        answers = folder.answers
        text: str | None = (
            answers[question] if question in answers else self._learn(folder, question)
        )
        return text

    def note(self, path: str, reason: str) -> None:
        """Remember what is odd about an entry."""
        self._files.note(path, reason)

    def list(self, folder: Folder) -> None:
        """Learn what there is in a directory, and so what need not be asked for."""
        self._doubted.discard(folder)
        names = self._files.entries(folder.path) if folder.lasts and folder.names is None else None
        if names is None:
            return
        folder.names = self._alike.setdefault(names, names)  # thousands have the same names
        self._listed.add(folder)
        if DRIVER not in folder.answers:
            if _DEVICE.isdisjoint(names):
                folder.answers[DRIVER] = None
            else:
                self._learn(folder, DRIVER)

    def _ask(self, folder: Folder, question: Question) -> Any:  # noqa: ANN401 - by the question
        answers = folder.answers
        return answers[question] if question in answers else self._learn(folder, question)

    def _ask_anew(self, folder: Folder, question: Question) -> Any:  # noqa: ANN401 - as above
        """Ask for what is different without any sign: what is in a directory, where it leads."""
        if question not in folder.answers:
            folder.keep(question, self._answer(folder.path, question), lasts=False)
        return folder.answers[question]

    def _learn(self, folder: Folder, question: Question) -> Any:  # noqa: ANN401 - as above
        """Ask what nobody has asked yet, and keep it for as long as it holds."""
        name = question[1]
        if folder in self._doubted:
            self.list(folder)
            if question in folder.answers:
                return folder.answers[question]
        lasts = folder.lasts and name not in self._changing
        if folder.names is not None and name not in folder.names:
            if lasts:
                return None
            if folder in self._listed:
                folder.keep(question, NOTHING, lasts=False)
                return None
        noted = len(self.notes)
        value = folder.answers[question] = self._how[question[0]](f"{folder.path}/{name}")
        if not lasts or len(self.notes) > noted:
            folder.keep(question, (value, tuple(self.notes[noted:])), lasts=lasts)
        if folder.lasts and (value is None or value is False):
            self._missed(folder, name)
        return value

    def _missed(self, folder: Folder, name: str) -> None:
        """Take note that something is not there, and of the driver: another one may bring it."""
        if folder.names is None:
            self._doubted.add(folder)
        if name not in _INNATE and DRIVER not in folder.answers:
            self._learn(folder, DRIVER)

    def _answer(self, directory: str, question: Question) -> Answer:
        how, name = question
        noted = len(self.notes)
        value = self._how[how](f"{directory}/{name}" if name else directory)
        if value is None and len(self.notes) == noted:
            return NOTHING
        return value, tuple(self.notes[noted:])
