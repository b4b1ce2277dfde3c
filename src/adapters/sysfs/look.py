"""Looking closer at a device that the walk met."""

from functools import partial

import attrs

from deviceplugin.adapters.sysfs.ancestry import Ancestry
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.hardware import Hardware
from deviceplugin.adapters.sysfs.lineage import Lineage
from deviceplugin.adapters.sysfs.numa import Numa
from deviceplugin.adapters.sysfs.occupied import Occupied
from deviceplugin.adapters.sysfs.traits import TraitsOf
from deviceplugin.adapters.sysfs.uevent import NamedNode, named_node, properties
from deviceplugin.adapters.sysfs.walk import Entry
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.host_use import HostUse


class Look:
    """Learns of a device what the rules need to know, and everything once one matches."""

    def __init__(
        self, files: Files, rules: Rulebook, nodes: DeviceNodes, host: HostUse | None
    ) -> None:
        self._files = files
        self._rules = rules
        self._nodes = nodes
        self._ancestry = Ancestry(files)
        self._hardware = Hardware(files)
        self._lineage = Lineage(files)
        self._numa = Numa(files, self._ancestry)
        self._traits = TraitsOf(files, self._lineage, self._hardware)
        self._occupied = Occupied(files, self._hardware, host)

    def at(self, entry: Entry) -> Sighting:
        """Return the candidate with the rules that match it, and everything known if one does."""
        sighting = self._rules.judge(entry.candidate(), partial(self._learn, entry.path))
        if not sighting.claims and not sighting.fits:
            return sighting
        return attrs.evolve(sighting, candidate=self._completed(entry.path, sighting.candidate))

    def _learn(self, path: str, candidate: Candidate, facts: frozenset[Fact]) -> Candidate:
        own = frozenset(fact for fact in facts if not fact.level)
        candidate = self._learn_own(path, candidate, own)
        for level in {fact.level for fact in facts - own}:
            there = frozenset(fact.above(0) for fact in facts if fact.level == level)
            self._lineage.learn(path, level, there, self._learn_own)
        if any(fact.level or fact.kind is Kind.PARENT for fact in facts):
            candidate = attrs.evolve(candidate, parents=self._lineage.parents(path))
        return candidate

    def _learn_own(self, path: str, candidate: Candidate, facts: frozenset[Fact]) -> Candidate:
        """Return the candidate with these facts of the device itself."""
        kinds = {fact.kind for fact in facts}
        attributes = {
            fact.key: self._files.text(f"{path}/{fact.key}")
            for fact in facts
            if fact.kind is Kind.ATTRIBUTE
        }
        hardware = {
            str(fact): self._hardware.value(path, fact) for fact in facts if fact.kind in HARDWARE
        }
        driver, uevent, uses = candidate.driver, candidate.properties, candidate.uses
        if Kind.DRIVER in kinds:
            driver = self._ancestry.driver(path)
        if Kind.PROPERTY in kinds:
            uevent = properties(self._files, path)
        if Kind.USE in kinds:
            uses = self._occupied.uses(path, candidate)
        return attrs.evolve(
            candidate,
            driver=driver,
            properties=uevent,
            uses=uses,
            attributes={**candidate.attributes, **attributes},
            hardware={**candidate.hardware, **hardware},
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
            hardware_path=self._ancestry.hardware_path(path) if self._rules.relates else "",
            iommu_group=self._ancestry.iommu_group(path) if self._rules.relates else "",
            traits=self._traits(path, candidate),
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
