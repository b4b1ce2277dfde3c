"""What a resource gives a container, in the words of a configuration."""

from enum import Enum
from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceNode
from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.templates import Own, Place, Template, Use
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.sharing import MAX_SHARES


class Relation(Enum):
    """How what comes along is related to the device; the value is its word in a configuration."""

    DEVICE = "device"
    """Not at all: any device of the machine."""
    SIBLINGS = "siblings"
    """It is part of the same hardware: PCI function, USB device, or device of another bus."""
    CHILDREN = "children"
    """It is below the device."""
    IOMMU_GROUP = "iommu_group"
    """It is in the same IOMMU group; of vfio the group itself is, too."""


@attrs.frozen(kw_only=True)
class Companion:
    """Devices that come along with each device of a resource.

    All that meet the conditions do. A device of which none is there, or one has no node any more,
    cannot be used, unless they are `optional`. `permissions` are the resource's if left out.
    Raises `InvalidValueError`.
    """

    relation: Relation
    wanted: Alternative
    optional: bool = False
    container_path: Template | None = attrs.field(default=None)
    permissions: str = ""

    def __attrs_post_init__(self) -> None:
        """Refuse permissions that no runtime knows, and one path for several nodes."""
        if self.permissions:
            DeviceNode("/dev/null", permissions=self.permissions)
        node, there = self.wanted.expectation(Kind.NODE), self.container_path
        patterns = (node.patterns if node else None) or ()
        several = len(patterns) > 1 or any(not each.literal for each in patterns)
        if several and there and there.has_room_for_one:
            raise InvalidValueError(
                f"container_path {there.text!r}: is one path, and {self} may be several nodes: "
                "end it with '/', or put a fact into it, such as {name}"
            )

    @property
    def takes(self) -> bool:
        """Whether what comes along is the resource's own, by its place in the hardware."""
        return self.relation is not Relation.DEVICE

    def __str__(self) -> str:
        """Return it as a configuration has it: a mere node by its short form."""
        node = self.wanted.expectation(Kind.NODE) if self.relation is Relation.DEVICE else None
        patterns = node.patterns if node and len(self.wanted.conditions) == 1 else None
        if patterns and len(patterns) == 1:
            return f"node: {patterns[0].text}"
        return f"{self.relation.value}: {{{self.wanted}}}"


@attrs.frozen(kw_only=True)
class MountRule:
    """A file or directory of the host that a container sees; at its own path if not said."""

    host_path: Template
    container_path: Template | None = None
    read_only: bool = True


def path_template(text: str) -> Template:
    """Return a path with places for facts. Raises `InvalidValueError`."""
    return Template(text, Use.PATH)


def node_path_template(text: str) -> Template:
    """Return a path for device nodes; a directory, with "/" at its end, keeps the node's name.

    Raises `InvalidValueError`, for the fact `container_path` too, since that is made of this.
    """
    template = path_template(text)
    if any(isinstance(each, Place) and each.fact is Own.CONTAINER_PATH for each in template.parts):
        raise InvalidValueError(f"{text!r}: a container path cannot be made of container_path")
    return template


HARDWARE_GROUP: Final = "hardware"
IOMMU_GROUP: Final = "iommu_group"


@attrs.frozen
class GroupBy:
    """What devices have in common that make one unit.

    `word` is "hardware", "iommu_group", or a fact such as "attributes.phys_switch_id". Raises
    `InvalidValueError`.
    """

    word: str

    def __attrs_post_init__(self) -> None:
        """Refuse what is no fact."""
        if self.word not in {HARDWARE_GROUP, IOMMU_GROUP} and not self.facts:
            raise InvalidValueError(
                f"{self.word!r} must be {HARDWARE_GROUP}, {IOMMU_GROUP}, attributes.FILE, "
                "properties.KEY, or a key of pci or usb such as usb.serial"
            )

    @property
    def facts(self) -> frozenset[Fact]:
        """What must be looked up of a device to know its group."""
        kind, _, key = self.word.partition(".")
        known = {each.value: each for each in Kind if each in _GROUPABLE}
        return frozenset({Fact(known[kind], key)}) if kind in known and key else frozenset()

    def __str__(self) -> str:
        """Return its word."""
        return self.word


_GROUPABLE: Final = frozenset({Kind.ATTRIBUTE, Kind.PROPERTY, Kind.PCI, Kind.USB})


def _templates(provision: "Provision") -> tuple[Template, ...]:
    pairs = (each for pair in (*provision.envs, *provision.annotations) for each in pair)
    mounts = (
        each for mount in provision.mounts for each in (mount.host_path, mount.container_path)
    )
    return tuple(each for each in (provision.container_path, *mounts, *pairs) if each)


def _facts(provision: "Provision") -> frozenset[Fact]:
    found = (fact for each in provision.templates for fact in each.facts)
    grouping = provision.group_by.facts if provision.group_by else frozenset[Fact]()
    return frozenset(found) | grouping


@attrs.frozen(kw_only=True)
class Provision:
    """What a container gets beside the nodes of what matches, and how units are made.

    - `companions`: what comes along;
    - `container_path`: where the container has the node; a directory if "/" is at its end;
    - `mounts`, `envs`, `annotations`: names and values with places for facts of the device;
    - `env_separator`: what joins the values of several devices of one container; None: they clash;
    - `group_by`: devices that have this in common are one unit;
    - `count`: units that stand for one device, or one group;
    - `limit`: devices or groups that are offered at most.

    Raises `InvalidValueError`.
    """

    companions: tuple[Companion, ...] = ()
    container_path: Template | None = None
    mounts: tuple[MountRule, ...] = ()
    envs: tuple[tuple[Template, Template], ...] = ()
    env_separator: str | None = ","
    annotations: tuple[tuple[Template, Template], ...] = ()
    group_by: GroupBy | None = None
    count: int = 1
    limit: int | None = None
    templates: tuple[Template, ...] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_templates, takes_self=True)
    )
    facts: frozenset[Fact] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_facts, takes_self=True)
    )
    """What must be looked up of a device that matches."""

    def __attrs_post_init__(self) -> None:
        """Refuse numbers that cannot be."""
        if not 1 <= self.count <= MAX_SHARES:
            raise InvalidValueError(f"count: {self.count} must be from 1 to {MAX_SHARES}")
        if self.limit is not None and self.limit < 1:
            raise InvalidValueError(f"limit: {self.limit} must be at least 1")

    @property
    def relates(self) -> bool:
        """Whether it matters what else is of a device's hardware or IOMMU group."""
        return bool(self.companions or self.group_by)

    @property
    def gives_more(self) -> bool:
        """Whether a device without a node has something to give."""
        return bool(self.companions or self.mounts or self.envs or self.annotations)
