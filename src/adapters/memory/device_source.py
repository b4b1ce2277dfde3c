"""Devices that are just said to be there."""

from collections.abc import Iterable

import attrs

from deviceplugin.domain.candidates import Candidate
from deviceplugin.domain.discovery import Discovery, discover
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.matching import ResourceRule
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.rulebook import Rulebook
from deviceplugin.domain.tree import DeviceTree


class MemoryDeviceSource(DeviceSource):
    """Offers what rules find among candidates that come and go by `put` and `remove`.

    A candidate has everything that a rule may ask of it; an attribute that it lacks is unknown.
    """

    def __init__(self, rules: Iterable[ResourceRule], *, journal: Journal) -> None:
        self._rules = Rulebook(rules)
        self._journal = journal
        self._candidates: dict[str, Candidate] = {}
        self._failure = ""
        self._last = Discovery()

    def put(self, candidate: Candidate) -> None:
        """Let a device be there from now on, in the place of an older one of its identity."""
        attributes = {name: None for rule in self._rules for name in rule.attributes}
        self._candidates[candidate.identity] = attrs.evolve(
            candidate,
            driver=candidate.driver or "",
            attributes={**attributes, **candidate.attributes},
        )

    def remove(self, identity: str) -> None:
        """Let a device be gone, if it was there."""
        self._candidates.pop(identity, None)

    def fail(self, reason: str) -> None:
        """Let every scan fail for this reason; an empty one ends that."""
        self._failure = reason

    def scan(self) -> DeviceTree:
        """Return what is there now."""
        if self._failure:
            raise ScanError(self._failure)
        found = discover(self._rules, self._candidates.values(), before=self._last)
        for event in found.news_since(self._last):
            self._journal.record(event)
        self._last = found
        return found.tree()
