"""The directories of a root: each is looked at once a scan, after those that it is in."""

from collections.abc import Collection, Iterator
from typing import Final

from deviceplugin.adapters.sysfs.answers import Answers
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.memory import Folder, Listing, Memory

_DEVICES: Final = "/devices/"
_SYSTEM: Final = "/devices/system/"
"""Below it is the machine as it is now: processors and memory come and go."""


class Folders(Answers):
    """Directories as `files` finds them in one scan, from `memory` where that is as good."""

    def __init__(self, files: Files, memory: Memory) -> None:
        """Take a reader of one scan."""
        super().__init__(files, memory.changing)
        self._memory = memory
        self._checked: dict[str, Folder] = {}
        self._listings: dict[str, Listing] = {}
        self._touched: list[Folder] = []

    def end(self) -> None:
        """End the scan."""
        self._memory.end(self._checked, self._listings)

    def watch(self) -> list[Folder]:
        """Return a list that grows by each directory that is found by another way than upwards."""
        self._touched = []
        return self._touched

    def same(self, folders: Collection[Folder]) -> bool:
        """Say whether these directories are as they were."""
        return all(self.at(each.path) is each for each in folders)

    def at(self, path: str) -> Folder | None:
        """Return the directory at a path without links; None if there is none."""
        found = self._checked.get(path)
        return self._look(path) if found is None else found

    def directory(self, path: str) -> Folder | None:
        """Return the directory at any path."""
        real = self._files.directory(path)
        return None if real is None else self._touch(real)

    def within(self, folder: Folder, name: str) -> Folder | None:
        """Return the directory of this name in another one, through links."""
        real = self._ask(folder, ("directory", name))
        return None if real is None else self._touch(real)

    def device(self, entry: str) -> Folder | None:
        """Return the directory below /devices that a link stands for.

        The link itself is in a directory whose path has no links.
        """
        directory, _, name = entry.rpartition("/")
        folder = self._led_to(directory, name)
        if folder is not None:
            self._touched.append(folder)
        return folder

    def devices(self, directory: str) -> Iterator[Folder]:
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
        known = before if before and same else Listing(identity, {}, {})
        listing = self._listings[real] = Listing(identity, numbers, {})
        for name in names:
            folder = known.folders.get(name)
            if (
                folder is None
                or known.numbers.get(name) != numbers.get(name)
                or self.at(folder.path) is not folder
            ):
                folder = self._led_to(real, name)
            if folder is not None:
                listing.folders[name] = folder
                yield folder

    def linked(self, folder: Folder | None, prefix: str = "") -> tuple[Folder, ...]:
        """Return the devices that links in a directory stand for, of names that begin so."""
        if folder is None:
            return ()
        paths = (
            self._ask_anew(folder, ("device", name))
            for name in self.names(folder)
            if name.startswith(prefix)
        )
        found = (self._touch(path) for path in paths if path)
        return tuple(each for each in found if each)

    def attribute(self, folder: Folder, path: str) -> str | None:
        """Return the text of a file by its path below a directory, through links."""
        *parts, name = path.split("/")
        for depth, part in enumerate(parts):
            inner = self.within(folder, part)
            if inner is None:
                # Whether it is not there, or in what may not be entered, only asking tells.
                below = "/".join((*parts[depth:], name))
                return self._files.text(f"{folder.path}/{below}") if depth else None
            folder = inner
        return self.text(folder, name)

    def _touch(self, path: str) -> Folder | None:
        """Return a directory, and take note that something depends on it."""
        folder = self.at(path)
        if folder is not None:
            self._touched.append(folder)
        return folder

    def _led_to(self, directory: str, name: str) -> Folder | None:
        """Return where a link in a directory leads, if to a device."""
        entry = f"{directory}/{name}"
        target = self._files.link(entry)
        if target is None:
            return None
        # As the kernel writes it, a way up to the root and down again without any other turns.
        path = target.removeprefix("../" * directory.count("/"))
        if path.startswith("devices/") and not ("/." in path or "//" in path or path[-1] == "/"):
            folder = self.at(f"/{path}")
            if folder is not None:
                return folder
        real = self._files.device(entry)
        return None if real is None else self.at(real)

    def _look(self, path: str) -> Folder | None:
        """Look at a directory, after all those that it is in: none of them may be a link."""
        ahead: list[tuple[str, str]] = []
        above = None
        while above is None:
            here = path
            path, _, name = path.rpartition("/")
            ahead.append((here, name))
            if not path.startswith(_DEVICES):
                if self._files.directory(path) != path:
                    return None
                break
            above = self._checked.get(path)
        for each, name in reversed(ahead):
            identity = self._files.identity(each)
            if identity is None:
                return None
            before = self._memory.folders.get(each)
            if before is None or before.identity != identity:
                lasts = each.startswith(_DEVICES) and not each.startswith(_SYSTEM)
                above = Folder(each, name, above, identity, lasts)
            else:
                above = self._compared(before, above)
            self._checked[each] = above
            self._files.known.add(each)
        return above

    def _compared(self, before: Folder, above: Folder | None) -> Folder:
        """Return a directory as it was remembered, if it is as it was."""
        changing = before.changing
        if changing:
            changing = {each: self._answer(before.path, each) for each in changing}
        if changing != before.changing or before.above is not above:
            before = before.renewed(above, changing)
        self.notes.extend(before.notes)
        return before
