"""What a scanner sees of one device."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import attrs

from deviceplugin.domain.discovery.traits import NO_TRAITS, Traits
from deviceplugin.domain.discovery.withheld import UNREAD, UNREAD_KEYS

_NOTHING: Final[Mapping[str, str | None]] = MappingProxyType({})


@attrs.frozen(kw_only=True)
class Node:
    """A device node: its path on the host, what it stands for, and whether it is really there."""

    path: str
    kind: Literal["char", "block"] = "char"
    number: str
    present: bool = True

    @property
    def device(self) -> str:
        """What it stands for: nodes of one device are one device, wherever they are."""
        return f"{self.kind} {self.number}"


@attrs.frozen(kw_only=True)
class Candidate:
    """A device that a rule may match, with what is known of it so far.

    Its name, subsystem, path below /sys, and the paths below /dev by which rules ask for it are
    always known. What else rules can ask for is looked at when a rule needs it: None, or a key
    that is not there, means that nobody has looked yet. The rest is added once a rule matches. A
    device that sysfs does not show has no devpath.
    """

    name: str
    subsystem: str = ""
    devpath: str = ""
    paths: tuple[str, ...] = ()
    driver: str | None = None
    """Its own or its nearest ancestor's; empty: it has none."""
    attributes: Mapping[str, str | None] = _NOTHING
    """Text of sysfs files, by path relative to the device; None: it has none that can be read."""
    properties: Mapping[str, str] | None = None
    """The keys of its uevent file."""
    hardware: Mapping[str, str | None] = _NOTHING
    """What it, or the nearest PCI function or USB device that it is part of, is: "pci.id"."""
    parents: "tuple[Candidate, ...] | None" = None
    """The devices that it is below, the nearest first; their driver is their own."""
    uses: tuple[str, ...] | None = None
    """What the host itself does with it."""
    node: Node | None = None
    numa_nodes: tuple[int, ...] = ()
    numa_unknown: str = ""
    """Why there are no NUMA nodes."""
    parent: str = ""
    hardware_path: str = ""
    """Where below /sys the hardware is that it is, or is part of, if it is any."""
    iommu_group: str = ""
    """The number of its IOMMU group; that of a group itself is its own."""
    within: tuple[str, ...] = ()
    """Places in sysfs of what it is part of and not below: disks, controllers, vfio groups."""
    traits: Traits = NO_TRAITS
    """What its hardware offers to know it by."""
    hardware_traits: Traits = NO_TRAITS
    """What the hardware at `hardware_path` offers to know itself by, whatever is part of it."""

    @property
    def withholds(self) -> bool:
        """Whether something that was asked of it, or of what it is below, cannot be read."""
        values = (*self.attributes.values(), *self.hardware.values())
        return (
            UNREAD in values
            or self.properties is UNREAD_KEYS
            or any(each.withholds for each in self.parents or ())
        )

    def knowing(  # noqa: PLR0913 - what rules can ask for, by name
        self,
        *,
        driver: str | None,
        attributes: Mapping[str, str | None],
        properties: Mapping[str, str] | None,
        hardware: Mapping[str, str | None],
        parents: "tuple[Candidate, ...] | None",
        uses: tuple[str, ...] | None,
    ) -> "Candidate":
        """Return the candidate with this known of what rules can ask for, and nothing else."""
        # Written out: `attrs.evolve` takes several times as long, and there are many candidates.
        return Candidate(
            name=self.name,
            subsystem=self.subsystem,
            devpath=self.devpath,
            paths=self.paths,
            driver=driver,
            attributes=attributes,
            properties=properties,
            hardware=hardware,
            parents=parents,
            uses=uses,
        )

    @property
    def identity(self) -> str:
        """What tells it from every other candidate of one scan."""
        return self.devpath or (self.node.path if self.node else "") or "".join(self.paths[:1])
