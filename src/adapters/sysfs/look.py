"""Looking closer at a device that the walk met."""

from collections.abc import Mapping
from functools import partial

import attrs

from deviceplugin.adapters.sysfs.ancestry import Ancestry
from deviceplugin.adapters.sysfs.files import printable
from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.hardware import Hardware
from deviceplugin.adapters.sysfs.heads import controllers, made_of
from deviceplugin.adapters.sysfs.kinship import Kinship
from deviceplugin.adapters.sysfs.lineage import Lineage
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.adapters.sysfs.numa import Numa
from deviceplugin.adapters.sysfs.occupied import Occupied
from deviceplugin.adapters.sysfs.traits import TraitsOf
from deviceplugin.adapters.sysfs.uevent import NamedNode, named_node, properties
from deviceplugin.adapters.sysfs.walk import Entry
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind
from deviceplugin.domain.discovery.rulebook import Rulebook, Sighting
from deviceplugin.domain.discovery.traits import NO_TRAITS
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.host_use import HostUse


@attrs.frozen(eq=False, kw_only=True)
class _Task:
    """What to look up of a device, for some facts: in order, once for all devices."""

    attributes: tuple[str, ...]
    hardware: tuple[Fact, ...]
    driver: bool
    properties: bool
    uses: bool
    parents: bool
    above: Mapping[int, frozenset[Fact]]
    """Facts of the devices that it is below, by level, as facts of their own."""

    @classmethod
    def of(cls, facts: frozenset[Fact]) -> "_Task":
        """Return what has to be done to know these facts."""
        own = [fact for fact in facts if not fact.level]
        kinds = {fact.kind for fact in own}
        levels = {fact.level for fact in facts} - {0}
        return cls(
            attributes=tuple(fact.key for fact in own if fact.kind is Kind.ATTRIBUTE),
            hardware=tuple(fact for fact in own if fact.kind in HARDWARE),
            driver=Kind.DRIVER in kinds,
            properties=Kind.PROPERTY in kinds,
            uses=Kind.USE in kinds,
            parents=bool(levels) or Kind.PARENT in kinds,
            above={
                level: frozenset(fact.above(0) for fact in facts if fact.level == level)
                for level in levels
            },
        )


class Look:
    """Learns of a device what the rules need to know, and everything once one matches."""

    def __init__(
        self, folders: Folders, rules: Rulebook, nodes: DeviceNodes, host: HostUse | None
    ) -> None:
        self._folders = folders
        self._rules = rules
        self._nodes = nodes
        self._kinship = kinship = Kinship(folders)
        self._ancestry = Ancestry(folders, kinship)
        self._hardware = Hardware(folders, kinship)
        self._lineage = Lineage(folders)
        self._numa = Numa(folders, self._ancestry)
        self._traits = TraitsOf(folders, kinship, self._lineage, self._hardware)
        self._occupied = Occupied(folders, kinship, host)
        self._tasks: dict[frozenset[Fact], _Task] = {}

    def at(self, entry: Entry) -> Sighting:
        """Return the candidate with the rules that match it, and everything known if one does."""
        sighting = self._judged(entry)
        return self._whole(entry, sighting) if sighting.claims or sighting.fits else sighting

    def wholly_at(self, entry: Entry) -> Sighting:
        """Return the same, with everything known of the candidate though no rule match it."""
        return self._whole(entry, self._judged(entry))

    def _judged(self, entry: Entry) -> Sighting:
        return self._rules.judge(entry.candidate(), partial(self._learn, entry.folder))

    def _whole(self, entry: Entry, sighting: Sighting) -> Sighting:
        whole = self._completed(entry.folder, sighting.candidate)
        return Sighting(whole, sighting.claims, sighting.fits)

    def _learn(self, folder: Folder, candidate: Candidate, facts: frozenset[Fact]) -> Candidate:
        task = self._tasks.get(facts)
        if task is None:
            task = self._tasks[facts] = _Task.of(facts)
        for level, there in task.above.items():
            self._lineage.learn(folder, level, there, self._learn)
        attributes, hardware = candidate.attributes, candidate.hardware
        if task.attributes:
            text = self._folders.attribute
            attributes = {**attributes, **{key: text(folder, key) for key in task.attributes}}
        if task.hardware:
            value = self._hardware.value
            hardware = {**hardware, **{each.text: value(folder, each) for each in task.hardware}}
        return candidate.knowing(
            attributes=attributes,
            hardware=hardware,
            driver=self._ancestry.driver(folder) if task.driver else candidate.driver,
            properties=(
                properties(self._folders, folder) if task.properties else candidate.properties
            ),
            uses=self._occupied.uses(folder, candidate) if task.uses else candidate.uses,
            parents=self._lineage.parents(folder) if task.parents else candidate.parents,
        )

    def _completed(self, folder: Folder, candidate: Candidate) -> Candidate:
        self._list(folder)
        ancestry, relates = self._ancestry, self._rules.relates
        numa_nodes, numa_unknown = self._numa.nodes(folder)
        return Candidate(
            name=candidate.name,
            subsystem=candidate.subsystem,
            devpath=candidate.devpath,
            paths=candidate.paths,
            attributes=candidate.attributes,
            properties=candidate.properties,
            hardware=candidate.hardware,
            parents=candidate.parents,
            uses=candidate.uses,
            driver=ancestry.driver(folder),
            node=self._node(folder, candidate),
            numa_nodes=numa_nodes,
            numa_unknown=numa_unknown,
            parent=ancestry.parent(folder),
            hardware_path=ancestry.hardware_path(folder) if relates else "",
            iommu_group=ancestry.iommu_group(folder) if relates else "",
            within=self._within(folder, candidate),
            traits=self._traits(folder, candidate),
            hardware_traits=self._traits.of_hardware(folder) if relates else NO_TRAITS,
        )

    def _within(self, folder: Folder, candidate: Candidate) -> tuple[str, ...]:
        if candidate.subsystem == "vfio-dev":
            return self._ancestry.vfio_groups(folder)
        found = made_of if candidate.subsystem == "block" else controllers
        return tuple(printable(each.path) for each in found(self._folders, folder))

    def _list(self, folder: Folder) -> None:
        """List a device's directory and those up to its hardware's: they have little of all."""
        kin, here = self._kinship(folder), folder
        home = kin.usb or kin.pci or folder
        self._folders.list(here)
        while here is not home and here.above is not None:
            here = here.above
            self._folders.list(here)

    def _node(self, folder: Folder, candidate: Candidate) -> Node | None:
        named = named_node(self._folders, folder, candidate)
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
