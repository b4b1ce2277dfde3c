"""Files that are read again only if something may have changed in their directory."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast

from deviceplugin.adapters.sysfs.files import Files, Identity
from deviceplugin.adapters.sysfs.memory import (
    DRIVER,
    Answer,
    Listing,
    Memory,
    Question,
    Record,
)

_Value = TypeVar("_Value")

_SYSTEM = "/devices/system/"
"""Below it is the machine as it is now: processors and memory come and go."""


class RememberingFiles(Files):
    """Answers as `files` does, from memory where that is as good.

    Each directory is looked at once a scan, however many questions there are about it. An answer
    that was "there is no such thing" holds for as long as the driver is the same, too: it is
    drivers that add files to a device.
    """

    def __init__(self, files: Files, memory: Memory) -> None:
        """Take a reader of one scan."""
        self._files = files
        self._memory = memory
        self._checked: dict[str, Record] = {}
        self._listings: dict[str, Listing] = {}
        self._touched: dict[str, Record] = {}
        self.notes = files.notes

    def end(self) -> None:
        """End the scan."""
        self._memory.end(self._checked, self._listings)

    def watch(self) -> dict[str, Record]:
        """Return a mapping that fills with each directory that is asked about from now on."""
        self._touched = {}
        return self._touched

    def same(self, records: Iterable[tuple[str, Record]]) -> bool:
        """Say whether these directories are as they were."""
        checked = self._checked
        return all((checked.get(path) or self._record(path)) is each for path, each in records)

    def names(self, directory: str) -> tuple[str, ...]:
        """Return the names in a directory."""
        real = self.directory(directory)
        if real is None:
            return ()
        return self._answer(real, ("names", ""), lambda: self._files.names(directory))

    def devices(self, directory: str) -> Iterable[str]:
        """Yield the directories of devices that links in a directory stand for.

        A link is known by its inode. Where the time of its directory can be relied on, that must
        be the same, too.
        """
        real, names = self._files.directory(directory), self._files.names(directory)
        if real is None:
            return
        before = self._memory.listings.get(real)
        identity, numbers = self._files.identity(real), self._files.numbers(real)
        same = before is not None and before.identity == identity
        known = before.entries if before and same else dict[str, tuple[int, str]]()
        entries: dict[str, tuple[int, str]] = {}
        for name in names:
            number = numbers.get(name, 0)
            path = self._known(known.get(name), number) or self._files.device(f"{real}/{name}")
            if path is not None:
                entries[name] = (number, path)
                yield path
        self._listings[real] = Listing(identity, entries)

    def directory(self, path: str) -> str | None:
        """Return a directory's path without links."""
        if path in self._checked:
            self._touch(path)
            return path
        parent, _, name = path.rpartition("/")
        above = self.directory(parent) if parent.startswith("/devices/") else None
        real = (
            self._files.directory(path)
            if above is None
            else self._answer(above, ("directory", name), lambda: self._files.directory(path))
        )
        if real is not None:
            self._touch(real)
        return real

    def device(self, entry: str) -> str | None:
        """Return the directory below /devices that a link stands for."""
        found = self._at(entry, "device", self._files.device)
        if found is not None:
            self._touch(found)
        return found

    def link(self, path: str) -> str | None:
        """Return where a link points."""
        return self._at(path, "link", self._files.link)

    def has(self, path: str) -> bool:
        """Say whether there is anything of that name."""
        return bool(self._at(path, "has", lambda place: self._files.has(place) or None))

    def text(self, path: str) -> str | None:
        """Return a file's text."""
        return self._at(path, "text", self._files.text)

    def data(self, path: str) -> bytes | None:
        """Return what a file begins with."""
        return self._at(path, "data", self._files.data)

    def note(self, path: str, reason: str) -> None:
        """Remember what is odd about an entry."""
        self._files.note(path, reason)

    def identity(self, path: str) -> Identity | None:
        """Return which directory is at `path`."""
        return self._files.identity(path)

    def numbers(self, directory: str) -> Mapping[str, int]:
        """Return the inode of each entry of a directory."""
        return self._files.numbers(directory)

    def _at(self, path: str, how: str, ask: Callable[[str], _Value | None]) -> _Value | None:
        directory, _, name = path.rpartition("/")
        record = self._touched.get(directory)
        if record is None:
            real = self.directory(directory)
            return None if real is None else self._answer(real, (how, name), lambda: ask(path))
        question = (how, name)
        found = record.lasting.get(question) or record.changing.get(question)
        if found is None or found[1]:
            return self._answer(directory, question, lambda: ask(path))
        return cast("_Value", found[0])

    def _answer(self, directory: str, question: Question, ask: Callable[[], _Value]) -> _Value:
        record = self._touch(directory)
        found = record.lasting.get(question) or record.changing.get(question)
        if found is None:
            before = len(self.notes)
            value = ask()
            found = (value, tuple(self.notes[before:]))
            self._keep(directory, record, question, found)
        elif found[1]:
            self.notes.extend(found[1])
        return cast("_Value", found[0])

    def _keep(self, directory: str, record: Record, question: Question, answer: Answer) -> None:
        lasts = (
            directory.startswith("/devices/")
            and not directory.startswith(_SYSTEM)
            and question[0] not in {"names", "device"}
            and question[1] not in self._memory.changing
        )
        (record.lasting if lasts else record.changing)[question] = answer
        if lasts and answer[0] is None and DRIVER not in record.changing:
            path = f"{directory}/driver"
            self._answer(directory, DRIVER, lambda: self._files.link(path))

    def _known(self, entry: tuple[int, str] | None, number: int) -> str | None:
        """Return where a link leads if it is the same, and leads to the same directory."""
        if entry is None or entry[0] != number:
            return None
        path = entry[1]
        before = self._memory.records.get(path)
        return path if before is not None and self._record(path) is before else None

    def _touch(self, path: str) -> Record:
        """Take note that something depends on this directory, and on those that it is in."""
        record = self._touched.get(path)
        if record is not None:
            return record
        record = self._record(path)
        while path not in self._touched and path.startswith("/devices/"):
            self._touched[path] = self._record(path)
            path = path.rpartition("/")[0]
        return record

    def _record(self, path: str) -> Record:
        """Return what is remembered of a directory, once it is seen to be as it was."""
        record = self._checked.get(path)
        if record is None:
            record = self._checked[path] = self._compared(path, self._memory.records.get(path))
        return record

    def _compared(self, path: str, before: Record | None) -> Record:
        identity = self._files.identity(path)
        if before is None or identity is None or before.identity != identity:
            return Record(identity)
        changing = {each: self._asked(path, each) for each in before.changing}
        if changing == before.changing:
            return before
        same_driver = changing.get(DRIVER) == before.changing.get(DRIVER)
        return Record(identity, before.lasting if same_driver else {}, changing)

    def _asked(self, directory: str, question: Question) -> Answer:
        how, name = question
        noted = len(self.notes)
        path = f"{directory}/{name}" if name else directory
        value = getattr(self._files, how)(path)
        if how == "has":
            value = value or None
        fresh = tuple(self.notes[noted:])
        del self.notes[noted:]
        return value, fresh
