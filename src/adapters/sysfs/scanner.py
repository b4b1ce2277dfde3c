"""Devices that sysfs shows, found by rules."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.look import Look
from deviceplugin.adapters.sysfs.memory import Memory
from deviceplugin.adapters.sysfs.places import Places
from deviceplugin.adapters.sysfs.recall import AskedNodes, Recall
from deviceplugin.adapters.sysfs.walk import Entry, entry_at, walk
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.discovery.identity import REMEMBERED, Identities
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook, Sighting, lacking
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.events import Event
from deviceplugin.domain.holds import Holds
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.device_source import RuledSource
from deviceplugin.domain.ports.driven.host_use import HostUse
from deviceplugin.domain.ports.driven.hotplug import Change
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.tree import DeviceTree

Ask = Callable[[frozenset[Probe], bool], Mapping[Probe, Outcome]]
_Seen = tuple[tuple[Sighting, ...], frozenset[Event], dict[Probe, Outcome]]


def ask_nobody(_probes: frozenset[Probe], _every: object, /) -> Mapping[Probe, Outcome]:
    """Let no probe answer: a device that needs one is Unhealthy."""
    return {}


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
        ask: Ask = ask_nobody,
        held: Callable[[], Holds] = frozenset,
        now: Callable[[], float] = time.monotonic,
        remembered: int = REMEMBERED,
    ) -> None:
        """Take what is needed; nothing is looked at yet.

        `files` makes the reader of a root for each scan: another one can record, or fail. `ask` is
        told which probes are of use from now on, and whether every answer is; it returns what they
        have answered so far. `held` tells what containers may hold, `now` seconds. Of devices that
        are gone, and not held, the ids of this many that were seen last are `remembered`.
        """
        self._rules = self._wanted = Rulebook(rules, on_conflict=on_conflict)
        self._nodes = nodes
        self._host = host
        self._journal = journal
        self._root = sys_root
        self._reader = files
        self._memory = Memory(self._rules.changing)
        self._ask = ask
        self._held = held
        self._now = now
        self._seen: _Seen | None = None
        self._last = Discovery(identities=Identities(most=remembered))

    def follow(self, rules: Rulebook) -> None:
        """Go by these rules from the next look on."""
        self._wanted = rules

    def scan(self) -> DeviceTree:
        """Return what is there now."""
        held = frozenset(self._held())
        self._take_over()
        self._memory.begin()
        files, nodes = self._files(), AskedNodes(self._nodes)
        folders = Folders(files, self._memory)
        recall = Recall(folders, nodes, self._memory, lambda: self._look(folders, nodes).at)
        sightings = self._sightings(files, folders, recall.at)
        sightings = self._with_held(sightings, folders, nodes, held) if held else sightings
        recall.end()
        files.refused(self._nodes.take_refusals())
        diagnosis = self._last.diagnosis
        outcomes = self._ask(diagnosis.probes, diagnosis.unsettled)
        seen = (sightings, frozenset[Event](files.notes), dict(outcomes))
        if seen != self._seen or diagnosis.unsettled or not self._last.has_minded(held):
            self._last, self._seen = self._discovered(*seen, held), seen
        else:
            self._last = self._last.minding(held)
        return self._last.tree()

    def _with_held(
        self,
        sightings: tuple[Sighting, ...],
        folders: Folders,
        nodes: DeviceNodes,
        held: Holds,
    ) -> tuple[Sighting, ...]:
        """Return also what is held where it was offered, whether or not a rule still matches it.

        By another part of the same device, a rule could give it away once more.
        """
        known = {each.candidate.identity for each in sightings if each.claims or each.fits}
        missing = self._last.places_of(held) - known
        if not missing:
            return sightings
        look = self._look(folders, nodes)
        entries = (entry_at(folders, place) for place in sorted(missing))
        more = {each.folder.path: look.wholly_at(each) for each in entries if each}
        rest = (each for each in sightings if each.candidate.devpath not in more)
        return (*rest, *more.values())

    @property
    def dispute(self) -> str:
        """Which devices the last scan gave to nobody since several resources claim them, if any.

        Nothing, unless that is an error. It tells what to do, too.
        """
        return self._last.dispute

    def _discovered(
        self,
        sightings: tuple[Sighting, ...],
        notes: frozenset[Event],
        outcomes: Mapping[Probe, Outcome],
        held: Holds,
    ) -> Discovery:
        found = discover(
            self._rules,
            sightings,
            before=self._last,
            remarks=notes,
            outcomes=outcomes,
            at=self._now(),
            held=held,
        )
        for event in found.news_since(self._last):
            self._journal.record(event)
        self._ask(found.diagnosis.probes, found.diagnosis.unsettled)
        return found

    def forget(self, change: Change) -> None:
        """Look anew at what may have changed, with all below it. Any thread may call it."""
        self._memory.forget(change)

    def sightings(self) -> tuple[Sighting, ...]:
        """Return every device that was looked at, with the rules that match it.

        Raises `ScanError` as `scan` does; nothing is recorded.
        """
        self._take_over()
        files = self._files()
        folders = Folders(files, Memory(self._rules.changing))
        return self._sightings(files, folders, self._look(folders, self._nodes).at)

    def _take_over(self) -> None:
        """Let the rules that are wanted now be those of a whole look, whatever is wanted later."""
        wanted = self._wanted
        if wanted is not self._rules:
            self._last = self._last.under(self._rules, wanted)
            self._rules, self._seen = wanted, None
            self._memory.follow(wanted.changing)

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

    def _look(self, folders: Folders, nodes: DeviceNodes) -> Look:
        return Look(folders, self._rules, nodes, self._host)

    def _sightings(
        self, files: Files, folders: Folders, look: Callable[[Entry], Sighting]
    ) -> tuple[Sighting, ...]:
        places = Places(folders, self._nodes, self._rules.scope.nodes)
        shown = map(look, walk(files, folders, self._rules, places))
        orphans = (self._rules.judge(each, lacking) for each in places.without_device())
        return (*shown, *orphans)
