"""Looking closer at a device that the walk met."""

from functools import partial

import attrs

from deviceplugin.adapters.sysfs.ancestry import Ancestry
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.numa import Numa
from deviceplugin.adapters.sysfs.uevent import NamedNode, named_node
from deviceplugin.adapters.sysfs.walk import Entry
from deviceplugin.domain.discovery.candidates import Candidate, Fact, Kind, Node
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes


class Look:
    """Learns of a device what the rules need to know, and everything once one matches."""

    def __init__(self, files: Files, rules: Rulebook, nodes: DeviceNodes) -> None:
        self._files = files
        self._rules = rules
        self._nodes = nodes
        self._ancestry = Ancestry(files)
        self._numa = Numa(files, self._ancestry)

    def at(self, entry: Entry) -> Sighting:
        """Return the candidate with the rules that match it, and everything known if one does."""
        sighting = self._rules.judge(entry.candidate, partial(self._learn, entry.path))
        if not sighting.claims:
            return sighting
        return Sighting(self._completed(entry.path, sighting.candidate), sighting.claims)

    def _learn(self, path: str, candidate: Candidate, facts: frozenset[Fact]) -> Candidate:
        attributes = {
            fact.key: self._files.text(f"{path}/{fact.key}")
            for fact in facts
            if fact.kind is Kind.ATTRIBUTE
        }
        driver = candidate.driver
        if any(fact.kind is Kind.DRIVER for fact in facts):
            driver = self._ancestry.driver(path)
        return attrs.evolve(
            candidate, driver=driver, attributes={**candidate.attributes, **attributes}
        )

    def _completed(self, path: str, candidate: Candidate) -> Candidate:
        numa_nodes, numa_unknown = self._numa.nodes(path)
        return attrs.evolve(
            candidate,
            driver=self._ancestry.driver(path),
            node=self._node(path, candidate),
            numa_nodes=numa_nodes,
            numa_unknown=numa_unknown,
            parent=self._ancestry.parent(path),
        )

    def _node(self, path: str, candidate: Candidate) -> Node | None:
        named = named_node(self._files, path, candidate)
        if named is None:
            return None
        present = self._present(named, candidate)
        return Node(
            path=present or named.path,
            kind=named.number.kind,
            number=f"{named.number.major}:{named.number.minor}",
            present=present is not None,
        )

    def _present(self, named: NamedNode, candidate: Candidate) -> str | None:
        """Return a path at which the node really is: the kernel's, or one that a rule asks for."""
        for path in (named.path, *map(self._nodes.resolve, candidate.paths)):
            if self._nodes.number(path) == named.number:
                return path
        return None
