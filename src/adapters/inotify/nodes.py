"""Hears of the device nodes that rules ask for by path, where the kernel's own news is too early.

A link such as /dev/serial/by-id/x is made by udev, some time after the device was announced.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Final

from inotify_simple import flags

from deviceplugin.adapters.inotify.instance import Event, Instance, open_instance, reason
from deviceplugin.domain.discovery.globs import Glob
from deviceplugin.domain.events import HotplugDegraded
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.hotplug import Change, Hotplug
from deviceplugin.domain.ports.driven.journal import Journal

MAX_FOLDERS: Final = 1000
"""Folders that are watched at most; a look finds what changes in the others."""
_MASK: Final[int] = (
    flags.CREATE
    | flags.DELETE
    | flags.MOVED_FROM
    | flags.MOVED_TO
    | flags.DELETE_SELF
    | flags.MOVE_SELF
    | flags.ONLYDIR
    # What was a folder when it was looked up, and is a link by now, may lead anywhere.
    | flags.DONT_FOLLOW
)
_ROOT: Final = "/dev"
_NOTHING: Final = Change()
_ALL: Final = Change(everything=True)

_Names = tuple[set[str], set[Glob]]


class NodeHotplug(Hotplug):
    """Watches the folders of `patterns`, paths and globs below /dev, and of what links lead to.

    `nodes` knows the host's /dev, and `dev_root` is where it is. Folders that are not there yet
    are watched for in those that are. A folder that may not be watched is left to the looks;
    without inotify nothing is heard, which is recorded once, and tried again at each call.
    """

    def __init__(
        self,
        patterns: Iterable[str],
        *,
        nodes: DeviceNodes,
        dev_root: str = _ROOT,
        journal: Journal,
    ) -> None:
        self._patterns = _sorted(patterns)
        self._nodes = nodes
        self._dev_root = dev_root.rstrip("/")
        self._journal = journal
        self._instance: Instance | None = None
        self._wanted: dict[int, tuple[str, _Names]] = {}
        self._news = _NOTHING
        self._woken = asyncio.Event()
        self._degraded = False
        self._closed = False
        self._cover()

    @property
    def heard(self) -> bool:
        """Whether inotify tells us, if there is anything to tell."""
        return self._instance is not None or not self._patterns

    def look_for(self, patterns: Iterable[str]) -> None:
        """Watch for these from now on, and tell that everything may have changed."""
        newer = _sorted(patterns)
        if newer == self._patterns or self._closed:
            return
        self._patterns = newer
        if newer:
            self._cover()
        else:
            self._release()
        self._note(_ALL)

    async def changed(self) -> Change:
        """Return the nodes that came or went since the last return."""
        if self._instance is None:
            self._cover()
        loop, instance = asyncio.get_running_loop(), self._instance
        if instance is not None:
            loop.add_reader(instance.fileno(), self._hear, instance)
        try:
            await self._woken.wait()
        finally:
            if instance is not None and instance is self._instance:
                loop.remove_reader(instance.fileno())
        self._woken.clear()
        news, self._news = self._news, _NOTHING
        # Before the caller looks: what comes after that look, in a new folder too, is heard.
        self._cover()
        return news

    def close(self) -> None:
        """Stop watching."""
        self._closed = True
        self._news = _NOTHING
        self._woken.clear()
        self._release()

    def _hear(self, instance: Instance) -> None:
        try:
            for event in instance.read(timeout=0):
                self._take(event)
        except OSError as error:
            self._degrade(error)
            self._note(_ALL)

    def _take(self, event: Event) -> None:
        if event.mask & flags.Q_OVERFLOW:
            self._note(_ALL)
            return
        folder, (names, globs) = self._wanted.get(event.wd, ("", (set[str](), set[Glob]())))
        fits = event.name in names or any(glob.fits(event.name) for glob in globs)
        # No name: the folder itself went, or its watch has ended.
        if folder and (fits or not event.name):
            self._note(Change(paths=frozenset({f"{folder}/{event.name}".rstrip("/")})))

    def _note(self, change: Change) -> None:
        self._news |= change
        self._woken.set()

    def _cover(self) -> None:
        """Watch the folders as they are now. The kernel gives a known folder its watch again."""
        if self._closed or not self._patterns:
            return
        try:
            instance = self._instance = self._instance or open_instance()
            wanted = dict[int, tuple[str, _Names]]()
            for folder, names in islice(self._folders().items(), MAX_FOLDERS):
                watch = self._watch(instance, folder)
                if watch is not None:
                    wanted[watch] = (folder, names)
            for stale in self._wanted.keys() - wanted.keys():
                with suppress(OSError):
                    instance.rm_watch(stale)
            self._wanted = wanted
        except OSError as error:
            self._degrade(error)

    def _watch(self, instance: Instance, folder: str) -> int | None:
        try:
            return instance.add_watch(self._dev_root + folder.removeprefix(_ROOT) or "/", _MASK)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return None

    def _folders(self) -> dict[str, _Names]:
        """Return what names matter in which folders, those nearest to /dev first."""
        found: dict[str, _Names] = defaultdict(lambda: (set(), set()))
        for folder, glob in sorted(self._parts(), key=lambda part: part[0].count("/")):
            found[self._nodes.resolve(folder)][1].add(glob)
        for path in (path for each in self._patterns for path in self._nodes.matching(each)):
            real = self._nodes.resolve(path)
            if real != path:
                folder, _, name = real.rpartition("/")
                found[folder][0].add(name)
        return dict(found)

    def _parts(self) -> Iterator[tuple[str, Glob]]:
        for pattern in self._patterns:
            above = ""
            for part in pattern.removeprefix(f"{_ROOT}/").split("/"):
                folders = self._nodes.matching(f"{_ROOT}{above}") if above else [_ROOT]
                yield from ((folder, Glob(part)) for folder in folders)
                above += f"/{part}"

    def _degrade(self, error: OSError) -> None:
        self._release()
        if not self._degraded:
            self._degraded = True
            self._journal.record(HotplugDegraded(source="device nodes", reason=reason(error)))

    def _release(self) -> None:
        if self._instance is not None:
            with suppress(RuntimeError, ValueError):
                asyncio.get_running_loop().remove_reader(self._instance.fileno())
            self._instance.close()
            self._instance = None
            self._wanted = {}


def _sorted(patterns: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(patterns)))
