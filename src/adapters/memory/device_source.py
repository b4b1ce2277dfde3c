"""Devices that are just said to be there."""

from collections.abc import Callable, Iterable

from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook, lacking
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.holds import Holds
from deviceplugin.domain.ports.driven.device_source import RuledSource
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.tree import DeviceTree


class MemoryDeviceSource(RuledSource):
    """Offers what rules find among candidates that come and go by `put` and `remove`.

    What is not said of a candidate, it does not have. `held` tells what containers may hold.
    """

    def __init__(
        self,
        rules: Iterable[ResourceRule],
        *,
        journal: Journal,
        held: Callable[[], Holds] = frozenset,
    ) -> None:
        self._rules = Rulebook(rules)
        self._held = held
        self._journal = journal
        self._candidates: dict[str, Candidate] = {}
        self._failure = ""
        self._last = Discovery()

    def put(self, candidate: Candidate) -> None:
        """Let a device be there from now on, in the place of an older one of its identity."""
        self._candidates[candidate.identity] = candidate

    def remove(self, identity: str) -> None:
        """Let a device be gone, if it was there."""
        self._candidates.pop(identity, None)

    def fail(self, reason: str) -> None:
        """Let every scan fail for this reason; an empty one ends that."""
        self._failure = reason

    def follow(self, rules: Rulebook) -> None:
        """Go by these rules from the next look on."""
        self._last = self._last.under(self._rules, rules)
        self._rules = rules

    def scan(self) -> DeviceTree:
        """Return what is there now."""
        if self._failure:
            raise ScanError(self._failure)
        seen = [self._rules.judge(each, lacking) for each in self._candidates.values()]
        found = discover(self._rules, seen, before=self._last, held=self._held())
        for event in found.news_since(self._last):
            self._journal.record(event)
        self._last = found
        return found.tree()
