"""Devices that sysfs shows, found by rules."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.look import Look
from deviceplugin.adapters.sysfs.places import Places
from deviceplugin.adapters.sysfs.walk import walk
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook, Sighting, lacking
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.device_source import RuledSource
from deviceplugin.domain.ports.driven.host_use import HostUse
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.tree import DeviceTree


class SysfsScanner(RuledSource):
    """Offers what rules find in sysfs: nodes that are really below /dev are Healthy.

    `sys_root` is where the host's /sys is; `nodes` knows the host's /dev, and `host` what the host
    uses itself, if a rule asks. What is odd is recorded in the journal when it begins. For one
    caller at a time.
    """

    def __init__(  # noqa: PLR0913 - collaborators, by name
        self,
        rules: Iterable[ResourceRule],
        *,
        nodes: DeviceNodes,
        journal: Journal,
        sys_root: str = "/sys",
        host: HostUse | None = None,
        on_conflict: OnConflict = OnConflict.FIRST,
        files: Callable[[str], Files] = Files,
    ) -> None:
        """Take what is needed; nothing is looked at yet.

        `files` makes the reader of a root for each scan: another one can record, or fail.
        """
        self._rules = self._wanted = Rulebook(rules, on_conflict=on_conflict)
        self._nodes = nodes
        self._host = host
        self._journal = journal
        self._root = sys_root
        self._reader = files
        self._last = Discovery()

    def follow(self, rules: Rulebook) -> None:
        """Go by these rules from the next look on."""
        self._wanted = rules

    def scan(self) -> DeviceTree:
        """Return what is there now."""
        self._take_over()
        files = self._files()
        sightings = self._sightings(files)
        found = discover(self._rules, sightings, before=self._last, remarks=files.notes)
        for event in found.news_since(self._last):
            self._journal.record(event)
        self._last = found
        return found.tree()

    def sightings(self) -> tuple[Sighting, ...]:
        """Return every device that was looked at, with the rules that match it.

        Raises `ScanError` as `scan` does; nothing is recorded.
        """
        self._take_over()
        return self._sightings(self._files())

    def _take_over(self) -> None:
        """Let the rules that are wanted now be those of a whole look, whatever is wanted later."""
        wanted = self._wanted
        if wanted is not self._rules:
            self._last = self._last.under(self._rules, wanted)
            self._rules = wanted

    def _files(self) -> Files:
        try:
            names = {each.name for each in Path(self._root).iterdir()}
        except OSError as error:
            raise ScanError(
                f"cannot read {self._root}: {os.strerror(error.errno or 0)}"
            ) from error
        if "devices" not in names:
            raise ScanError(f"{self._root} is no sysfs: there is no {self._root}/devices")
        return self._reader(self._root)

    def _sightings(self, files: Files) -> tuple[Sighting, ...]:
        places = Places(files, self._nodes, self._rules.scope.nodes)
        look = Look(files, self._rules, self._nodes, self._host)
        shown = map(look.at, walk(files, self._rules, places))
        orphans = (self._rules.judge(each, lacking) for each in places.without_device())
        return (*shown, *orphans)
