"""Ids that follow from the hardware, and stay.

An id is made of the first of these that a device has: serial number, WWN or UUID, USB port, PCI
address, name; and of which part of that hardware the device is. Devices that would have one id are
told apart by the next of these, all of them, so that it does not matter which was met first. Once
given, an id stays with its device for as long as the process lives, whatever is plugged in later.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.traits import Traits

_DIGEST: Final = 12
"""Hex digits that tell devices apart of which nothing but the place differs."""
_ODD: Final = re.compile(r"[^\w.:@+=,-]", re.ASCII)
"""What would need quotes in a shell, a file name or a log."""


@attrs.frozen(cache_hash=True)
class Known:
    """The device that has an id: what it is known by, and where it was seen last."""

    traits: Traits
    name: str
    place: str

    @classmethod
    def of(cls, candidate: Candidate) -> "Known":
        """Return what a candidate is known by."""
        return cls(candidate.traits, candidate.name, candidate.identity)

    def is_likely(self, other: "Known") -> bool:
        """Say whether the other is this device, of which more or less could be read."""
        return self.place == other.place and not self.traits.contradicts(other.traits)


Identities = Mapping[DeviceId, Known]
"""Every id that was given, with the device that has it or had it last."""
NOBODY: Final[Identities] = MappingProxyType({})


def identify(
    devices: Iterable[Known], before: Identities, settled: Identities = NOBODY
) -> tuple[Identities, Identities]:
    """Return the ids of devices, and every id known from now; in whatever order they are.

    The ids are of all resources: none is given twice. Those of the `settled` devices are certain.
    """
    present = tuple(devices)
    kept = _kept(present, before, settled)
    owners = set(kept.values())
    fresh = [each for each in present if each not in owners]
    given = {**kept, **_told_apart(fresh, kept)}
    return MappingProxyType(given), MappingProxyType({**before, **given})


def _kept(
    present: Sequence[Known], before: Identities, certain: Identities
) -> dict[DeviceId, Known]:
    """Return the ids of devices that had one.

    Those that have not changed at all come first, then those that another name or place was given
    to, then those of which more or less can be read now.
    """
    if not before:
        return dict(certain)
    had = {known: key for key, known in before.items() if key not in certain}
    placed = set(certain.values())
    kept = {had[each]: each for each in present if each in had and each not in placed}
    kept.update(certain)
    settled = set(kept.values())
    now = _groups(present, settled)
    for traits, then in _groups(had, settled).items():
        if traits.known and len(now.get(traits, ())) == len(then):
            kept.update((had[old], new) for old, new in zip(then, now[traits], strict=True))
    at = {known.place: key for key, known in before.items() if key not in kept}
    owners = set(kept.values())
    for each in present:
        key = at.get(each.place)
        if each not in owners and key is not None and before[key].is_likely(each):
            kept[key] = each
    return kept


def _groups(devices: Iterable[Known], settled: Iterable[Known]) -> Mapping[Traits, list[Known]]:
    """Return the devices that are not settled, by their traits, in the kernel's order."""
    done = set(settled)
    groups: dict[Traits, list[Known]] = {}
    for each in sorted(devices, key=lambda known: (len(known.name), known.name, known.place)):
        if each not in done:
            groups.setdefault(each.traits, []).append(each)
    return groups


def _told_apart(fresh: Sequence[Known], kept: Iterable[DeviceId]) -> dict[DeviceId, Known]:
    """Return ids for devices that have none: each as short as it can be told from the others."""
    called = {each: names(each) for each in fresh}
    ids = {each: next(could) for each, could in called.items()}
    taken = set(kept)
    while True:
        count = Counter(ids.values())
        alike = [each for each, key in ids.items() if count[key] > 1 or key in taken]
        longer = {each: name for each in alike if (name := next(called[each], None))}
        if not longer:
            return {key: each for each, key in ids.items()}
        ids.update(longer)


def names(known: Known) -> Iterator[DeviceId]:
    """Yield what the device may be called, from the shortest to what nothing else can have."""
    return (DeviceId.shorten(_plain(text)) for text in _texts(known) if text)


def _texts(known: Known) -> Iterator[str]:
    traits, part = known.traits.known, known.traits.part
    for length in range(1, len(traits) + 1):
        yield "-".join((*traits[:length], part) if part else traits[:length])
    whole = "-".join(filter(None, (*traits, known.name)))
    yield whole
    yield f"{whole}-{_digest(known.place)}"


def _plain(text: str) -> str:
    """Return the text in letters that need no quotes; a hash keeps two of them apart."""
    plain = _ODD.sub("_", text)
    return plain if plain == text else f"{plain}-{_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
