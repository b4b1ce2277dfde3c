"""Units: what is given out as one, a device or a group, with what comes along."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import attrs

from deviceplugin.domain.discovery.assortment import Assortment, shown
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.guests import Guests
from deviceplugin.domain.discovery.identity import Known
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import HARDWARE_GROUP, IOMMU_GROUP, Companion
from deviceplugin.domain.discovery.rulebook import Rulebook
from deviceplugin.domain.discovery.traits import Traits
from deviceplugin.domain.discovery.wholes import is_part_of_one
from deviceplugin.domain.resources import ResourceName


@attrs.frozen(kw_only=True, eq=False)
class Unit:
    """Devices that match, the first of which speaks for all, and those that come along.

    `troubles` say what should come along and cannot. `known` is what its id is made of.
    """

    members: tuple[Candidate, ...]
    known: Known
    companions: tuple[tuple[Companion, Candidate], ...] = ()
    troubles: tuple[str, ...] = ()

    @property
    def lead(self) -> Candidate:
        """The device whose facts are the unit's."""
        return self.members[0]

    @property
    def guests(self) -> tuple[Candidate, ...]:
        """The devices that come along as the resource's own, by their place in the hardware."""
        return tuple(guest for companion, guest in self.companions if companion.takes)

    @property
    def numa_nodes(self) -> tuple[int, ...]:
        """The NUMA nodes of all; none if that of a member is not known."""
        if len(self.members) == 1 and not self.companions:
            return self.members[0].numa_nodes
        if not all(each.numa_nodes for each in self.members):
            return ()
        everyone = (*self.members, *(guest for _, guest in self.companions))
        return tuple(sorted({node for each in everyone for node in each.numa_nodes}))

    @property
    def numa_unknown(self) -> str:
        """Why there are no NUMA nodes."""
        for each in self.members:
            if not each.numa_nodes:
                of = f"of {shown(each)}: " if len(self.members) > 1 else ""
                return of + each.numa_unknown
        return ""


def assemble(
    rules: Rulebook, dealt: Assortment, guests: Guests
) -> Mapping[ResourceName, tuple[Unit, ...]]:
    """Return the units of each resource that has a device."""
    return MappingProxyType(
        {
            rule.resource: tuple(
                _unit(rule, group, members, dealt, guests)
                for group, members in _groups(rule, dealt.found[rule.resource])
            )
            for rule in rules
            if rule.resource in dealt.found
        }
    )


def grouped(
    rule: ResourceRule, found: Iterable[Candidate]
) -> Iterator[tuple[tuple[Candidate, ...], Known]]:
    """Yield what would be the units of devices, with what each would be known by."""
    for common, members in _groups(rule, found):
        yield members, _known(rule, common, members)


def _groups(
    rule: ResourceRule, found: Iterable[Candidate]
) -> Iterator[tuple[str, tuple[Candidate, ...]]]:
    """Yield what devices have in common, with them: nothing for one that shares nothing."""
    if rule.provision.group_by is None:
        yield from (("", (each,)) for each in found)
        return
    groups: dict[str, list[Candidate]] = {}
    for each in found:
        common = _common(rule, each)
        if common:
            groups.setdefault(common, []).append(each)
        else:
            yield "", (each,)
    for common, members in groups.items():
        yield common, tuple(sorted(members, key=_in_order))


def _in_order(each: Candidate) -> tuple[int, str, str]:
    return len(each.name), each.name, each.identity


def _common(rule: ResourceRule, each: Candidate) -> str:
    by = rule.provision.group_by
    if by is None:
        return ""
    if by.word == HARDWARE_GROUP:
        return each.hardware_path
    if by.word == IOMMU_GROUP:
        return each.iommu_group
    return next((value for fact in by.facts for value in fact.of(each) or ()), "")


def _unit(
    rule: ResourceRule,
    common: str,
    members: tuple[Candidate, ...],
    dealt: Assortment,
    guests: Guests,
) -> Unit:
    if len(members) == 1 and not rule.provision.companions:
        return Unit(members=members, known=_known(rule, common, members))
    troubles: list[str] = []
    companions: dict[str, tuple[Companion, Candidate]] = {}
    own = {each.identity for each in members}
    for number, companion in enumerate(rule.provision.companions):
        met = {
            guest.identity: guest
            for each in members
            for guest in guests.of(rule, number, each)
            if guest.identity not in own
        }
        wrong = {key: _wrong(rule, guest, dealt) for key, guest in met.items()}
        companions.update(
            {key: (companion, guest) for key, guest in met.items() if not wrong[key]}
            | {key: each for key, each in companions.items() if key in met}
        )
        if not companion.optional:
            troubles += [text for text in wrong.values() if text]
            troubles += [] if met else [_missing(rule, number, members, guests)]
    return Unit(
        members=members,
        known=_known(rule, common, members),
        companions=tuple(companions.values()),
        troubles=tuple(troubles),
    )


def _missing(rule: ResourceRule, number: int, members: Sequence[Candidate], guests: Guests) -> str:
    """Return why nothing comes along by a companion."""
    companion = rule.provision.companions[number]
    if any(guests.has(rule, number, each) for each in members):
        return f"{companion} is the device itself; where it is wanted says container_path"
    return f"nothing is there that fits {companion}"


def _wrong(rule: ResourceRule, guest: Candidate, dealt: Assortment) -> str:
    """Return why a device cannot come along, if so."""
    owner = dealt.owner(guest, rule.resource)
    if owner:
        return f"{shown(guest)}, which should come along, belongs to {owner}"
    if any(is_part_of_one(guest, each) for each in dealt.withheld):
        return f"{shown(guest)}, which should come along, is claimed by several resources"
    if guest.node and not guest.node.path.isprintable():
        return f"the name of the device node of {shown(guest)} is not printable text"
    if guest.node and not guest.node.present:
        return f"the device node {guest.node.path}, which should come along, is not there"
    return ""


def _known(rule: ResourceRule, common: str, members: Sequence[Candidate]) -> Known:
    """Return what a unit is known by: a group by what makes it one, however many there are.

    The number of an IOMMU group is one that the kernel counts by: the lowest PCI address of its
    members tells more.
    """
    if not common or rule.provision.group_by is None:
        return Known.of(members[0])
    place = f"{rule.provision.group_by}={common} of {rule.resource}"
    name = common.rpartition("/")[2]
    if rule.provision.group_by.word == HARDWARE_GROUP:
        return Known(members[0].hardware_traits, name, place)
    if rule.provision.group_by.word == IOMMU_GROUP:
        addresses = sorted(filter(None, (each.traits.address for each in members)))
        return Known(Traits(address=addresses[0] if addresses else ""), name, place)
    return Known(Traits(), name, place)
