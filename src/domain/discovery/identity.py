"""Ids that follow from the hardware, and stay.

An id is made of the first of these that a device has: serial number, WWN or UUID, USB port, PCI
address, name; and of which part of that hardware the device is. Devices that would have one id are
told apart by the next of these, all of them, so that it does not matter which was met first. Once
given, an id stays with its device whatever is plugged in later: for as long as the device is
there, or a container may hold it. Of what is gone beyond that, the newest are remembered.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.traits import Traits
from deviceplugin.domain.sharing import MARK

REMEMBERED: Final = 1000
"""Devices that are gone, and held by nobody, of which the ids are remembered."""
_DIGEST: Final = 12
"""Hex digits that tell devices apart of which nothing but the place differs."""
_ODD: Final = re.compile(rf"{MARK}|[^\w.:@+=,-]", re.ASCII)
"""What would need quotes in a shell, a file name or a log, or be taken for a share's id."""
_text: Final = attrgetter("value")


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


Owners = Mapping[DeviceId, Known]
"""Ids, with the device that has each, or had it last."""
NOBODY: Final[Owners] = MappingProxyType({})


@attrs.frozen(eq=False)
class Identities:
    """Which ids were given, and to what.

    `given` are those of what is there. `gone` are those of what is not, from what was seen longest
    ago on: at most `most`, beside those that are held. No device is among them twice.
    """

    given: Owners = NOBODY
    gone: Owners = NOBODY
    most: int = REMEMBERED

    def followed_by(self, given: Owners, held: Container[DeviceId]) -> "Identities":
        """Return what is known once these, and no others, are there.

        An id that another device was given since is that one's, and of the ids that a device had
        only the newest counts.
        """
        came = {key: each for key, each in given.items() if self.given.get(key) != each}
        here = set(came.values())
        went = [key for key, each in self.given.items() if key not in given and each not in here]
        gone = self.gone
        if came and gone:
            gone = {
                key: each for key, each in gone.items() if key not in came and each not in here
            }
        if went:
            gone = {**gone, **{key: self.given[key] for key in sorted(went, key=_text)}}
        if len(gone) > self.most:
            gone = _newest(gone, self.most, held)
        return Identities(MappingProxyType(given), gone, self.most)


def _newest(gone: Owners, most: int, held: Container[DeviceId]) -> Owners:
    """Return what is held, and the last of the others."""
    free = [key for key in gone if key not in held]
    old = set(free[: max(0, len(free) - most)])
    return {key: each for key, each in gone.items() if key not in old} if old else gone


def identify(
    devices: Iterable[Known],
    before: Identities,
    settled: Owners = NOBODY,
    held: Container[DeviceId] = (),
) -> Identities:
    """Return the ids of devices, and of what else is remembered; in whatever order they are.

    The ids are of all resources: none is given twice. Those of the `settled` devices are certain,
    and those that are `held` are not forgotten, and given to no device that is new.
    """
    present = tuple(devices)
    kept = _kept(present, before, settled)
    owners = set(kept.values())
    fresh = [each for each in present if each not in owners]
    return before.followed_by({**kept, **_told_apart(fresh, kept, held)}, held)


def _kept(present: Sequence[Known], before: Identities, certain: Owners) -> dict[DeviceId, Known]:
    """Return the ids of devices that had one.

    Those that have not changed at all come first: mostly, these are all.
    """
    had = {known: key for key, known in before.given.items() if key not in certain}
    placed = set(certain.values())
    kept = {had[each]: each for each in present if each in had and each not in placed}
    kept.update(certain)
    owners = set(kept.values())
    fresh = [each for each in present if each not in owners]
    if fresh and (before.given or before.gone):
        known = chain(before.gone.items(), before.given.items())
        kept.update(_again(fresh, {key: each for key, each in known if key not in kept}))
    return kept


def _again(fresh: Sequence[Known], missing: Owners) -> dict[DeviceId, Known]:
    """Return the ids of devices that are there again: of all that are missing, the newest last.

    Those that come back as they were are first, then those that another name or place was given
    to, then those of which more or less can be read now.
    """
    had = {known: key for key, known in missing.items()}
    kept = {had[each]: each for each in fresh if each in had}
    now = _groups(each for each in fresh if each not in had)
    settled = set(kept.values())
    then = _groups(each for each in had if each.traits in now and each not in settled)
    for traits, old in then.items():
        if traits.known and len(now[traits]) == len(old):
            kept.update((had[each], new) for each, new in zip(old, now[traits], strict=True))
    at = {known.place: key for key, known in missing.items() if key not in kept}
    owners = set(kept.values())
    for each in fresh:
        key = at.get(each.place)
        if each not in owners and key is not None and missing[key].is_likely(each):
            kept[key] = each
    return kept


def _groups(devices: Iterable[Known]) -> Mapping[Traits, list[Known]]:
    """Return the devices by their traits, in the kernel's order."""
    groups: dict[Traits, list[Known]] = {}
    for each in sorted(devices, key=lambda known: (len(known.name), known.name, known.place)):
        groups.setdefault(each.traits, []).append(each)
    return groups


def _told_apart(
    fresh: Sequence[Known], kept: Iterable[DeviceId], held: Container[DeviceId]
) -> dict[DeviceId, Known]:
    """Return ids for devices that have none: each as short as it can be told from the others."""
    called = {each: names(each) for each in fresh}
    ids = {each: next(could) for each, could in called.items()}
    taken = set(kept)
    while True:
        count = Counter(ids.values())
        alike = [
            each for each, key in ids.items() if count[key] > 1 or key in taken or key in held
        ]
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
