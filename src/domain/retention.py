"""When a device that vanished may be forgotten: once nobody can hold it, and not before.

A list without a device that a container holds can crash a kubelet at each of its starts. So one is
let go on the word of a source that knows every container, given twice, and never for want of one
that speaks for it.
"""

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.timing import Release


@attrs.frozen(kw_only=True)
class Holdings:
    """What one source says of one resource.

    - `held`: devices that a container holds, or may hold.
    - `complete`: whether the source knows every container, so that what it does not name, nobody
      holds. Another one can only add to what is held.
    """

    held: frozenset[DeviceId] = frozenset()
    complete: bool = False


def named(answers: tuple[Holdings, ...]) -> frozenset[DeviceId]:
    """Return the devices that any of the sources names."""
    return frozenset[DeviceId]().union(*(answer.held for answer in answers))


@attrs.frozen(kw_only=True)
class Look:
    """One question to every source about one resource.

    - `stream`: which of the kubelet's streams had been sent all of the list when it began.
    - `begun`: seconds by the clock.
    - `vanished`: what that list showed as Unhealthy because no scan finds it any more, each with
      the generation of the inventory that did so first.
    - `answers`: of the sources that could answer.
    """

    stream: int
    begun: float
    vanished: Mapping[DeviceId, int]
    answers: tuple[Holdings, ...] = ()


@attrs.frozen
class _First:
    """The look that first found nobody to hold a device that vanished in this generation."""

    stream: int
    generation: int
    begun: float


def _frozen(firsts: Mapping[DeviceId, _First]) -> Mapping[DeviceId, _First]:
    return MappingProxyType(dict(firsts))


@attrs.frozen(unsafe_hash=False)
class Clearance:
    """What earlier looks found nobody to hold; begins empty, with each start of the plugin."""

    _firsts: Mapping[DeviceId, _First] = attrs.field(
        factory=dict[DeviceId, _First], converter=_frozen
    )

    def judge(self, look: Look, timing: Release) -> "Verdict":
        """Return what `look` releases, and what is known after it.

        A device is released by the second of two looks that agree that nobody holds it: both by a
        complete source, on one unbroken stream, and `timing.apart` seconds or more from each
        other, in which it did not come back. As long as another source names it, they must be
        `timing.doubt` seconds apart: a kubelet that has just started knows no pods yet.
        """
        complete = tuple(answer for answer in look.answers if answer.complete)
        if not complete:
            return Verdict(clearance=self)
        held, doubted = named(complete), named(look.answers)
        firsts: dict[DeviceId, _First] = {}
        released: set[DeviceId] = set()
        for key, generation in look.vanished.items():
            if key in held:
                continue
            first = self._first(key, look.stream, generation)
            wait = timing.doubt if key in doubted else timing.apart
            if first is not None and look.begun - first.begun >= wait:
                released.add(key)
            else:
                firsts[key] = first or _First(look.stream, generation, look.begun)
        return Verdict(clearance=Clearance(firsts), released=frozenset(released))

    def _first(self, key: DeviceId, stream: int, generation: int) -> _First | None:
        first = self._firsts.get(key)
        agrees = first is not None and (first.stream, first.generation) == (stream, generation)
        return first if agrees else None


@attrs.frozen(kw_only=True, unsafe_hash=False)
class Verdict:
    """What a look leads to."""

    clearance: Clearance
    released: frozenset[DeviceId] = frozenset()
