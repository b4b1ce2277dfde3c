"""When a device that vanished may be forgotten: once nobody can hold it, and not before.

A list without a device that a container holds can crash a kubelet at each of its starts. So one is
let go only when two looks agree that nobody holds it; whatever says that somebody may keeps it.
"""

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.timing import Release

Held = Mapping[DeviceId, tuple[int, ...]]
"""NUMA nodes, ascending, by device; none, where none are known."""


def _read_only(held: Held) -> Held:
    return MappingProxyType(dict(held))


@attrs.frozen(kw_only=True, unsafe_hash=False)
class Holdings:
    """What one source says of one resource.

    - `held`: devices that a container holds, or may hold, each with the NUMA nodes under which
      the kubelet remembers it.
    - `complete`: whether the source knows every pod, so that what no source names, nobody holds.
      Another one can only add to what is held.
    - `left_out`: how many devices the source named besides, for which no list has room.
    """

    held: Held = attrs.field(factory=dict[DeviceId, tuple[int, ...]], converter=_read_only)
    complete: bool = False
    left_out: int = 0


def named(answers: tuple[Holdings, ...]) -> Held:
    """Return the devices that any of the sources names, with the nodes that any of them knows."""
    nodes: dict[DeviceId, set[int]] = {}
    for answer in answers:
        for key, known in answer.held.items():
            nodes.setdefault(key, set()).update(known)
    return {key: tuple(sorted(known)) for key, known in nodes.items()}


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

        A device is released by the second of two looks that agree that nobody holds it: in each,
        a complete source answered and none named it; both on one unbroken stream, `timing.apart`
        seconds or more from each other; and in between it neither came back nor was named. A look
        without a complete answer counts for nothing, but what is named in it is held.
        """
        held = named(look.answers)
        knows = any(answer.complete for answer in look.answers)
        firsts: dict[DeviceId, _First] = {}
        released: set[DeviceId] = set()
        for key, generation in look.vanished.items():
            if key in held:
                continue
            first = self._first(key, look.stream, generation)
            if knows and first is not None and look.begun - first.begun >= timing.apart:
                released.add(key)
            elif first is not None:
                firsts[key] = first
            elif knows:
                firsts[key] = _First(look.stream, generation, look.begun)
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
