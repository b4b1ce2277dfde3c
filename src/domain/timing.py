"""How long we wait: limits of a registration, and the growing wait after failures."""

from typing import Final

import attrs

SHORTEST_RESCAN: Final = 0.1
LONGEST_RESCAN: Final = 86_400.0
"""Seconds that people may have from one look at the hardware to the next."""


def until_next(period: float, now: float) -> float:
    """Return the seconds until time is the next multiple of `period`, a second away at least.

    All who wait so for the same period wake together, and the machine once for all of them.
    """
    left = period - now % period
    return left if left >= 1.0 else left + period


@attrs.frozen(kw_only=True)
class Rhythm:
    """How long from look to look at the kubelet's files where nothing tells of a change.

    - `restless`: while something is not as it should be, or changes are not heard;
    - `resting`: while all is well and every change is heard. Then the looks are those at full
      multiples of it.
    """

    restless: float = 1.0
    resting: float = 30.0


@attrs.frozen(kw_only=True)
class Backoff:
    """Seconds to wait after the n-th failure in a row: doubling, capped, with jitter."""

    first: float = 0.02
    cap: float = 30.0

    def delay(self, failures: int, fraction: float) -> float:
        """Return the wait after `failures` ≥ 1: half fixed, half by `fraction` in [0, 1)."""
        whole = min(self.cap, self.first * 2.0 ** min(failures - 1, 63))
        return whole * (0.5 + fraction / 2)


@attrs.frozen(kw_only=True)
class Pace:
    """How closely looks at the hardware follow changes, in seconds.

    - `first`: from a look that a change brought about to the next one, for `quick` looks of a
      burst: one device that is plugged in is a handful of changes, of which the last may be the
      one that matters. Doubling with each further one up to `cap`: a hub with twenty ports is
      hundreds of changes.
    - `settle`: after a burst, once nothing has changed for so long, follows one more look: a
      device is announced as gone a moment before it is.
    - `heard`: from look to look while changes are heard: the looks are those at full multiples of
      it; `deaf`: while they are not.
    """

    first: float = 0.01
    quick: int = 5
    cap: float = 1.0
    settle: float = 0.5
    heard: float = 30.0
    deaf: float = 5.0

    def gap(self, looks: int) -> float:
        """Return how long after the begin of the last of so many looks the next may begin."""
        if not looks:
            return 0.0
        return min(self.cap, self.first * 2.0 ** min(max(looks - self.quick, 0), 63))


@attrs.frozen(kw_only=True)
class Rereading:
    """When a configuration file that changed is read again, in seconds.

    - `settle`: once it has been at rest for so long, since it may be written in several steps;
    - `doubt`: how much longer it must rest before what cannot be used is called bad;
    - `poll`: from look to look at the file while nothing tells of a change: the looks are those
      at full multiples of it.
    """

    settle: float = 0.25
    doubt: float = 1.0
    poll: float = 30.0


@attrs.frozen(kw_only=True)
class Release:
    """How a device that vanished is let go, in seconds.

    - `answer`: how long those who know its holders may take to answer; the first list of a
      resource waits for them.
    - `apart`: from one look at the holders to the next, as long as there is something to let go,
      and so between the two that must agree.
    """

    answer: float = 1.0
    apart: float = 30.0


@attrs.frozen(kw_only=True)
class Timing:
    """The time limits of a resource, in seconds.

    - `register`: deadline of one Register; the kubelet's own dial back takes up to 10 s before it
      answers.
    - `stream`: how long the kubelet has to open its stream after Register. It does so at once; in
      a rolling update, ones before 1.37 may give us up in between without a sign.
    - `doubt`: how long an unclear Register may still turn out well.
    - `settle`: how long a stream must live before its loss counts as the first failure again.
    - `succession`: how long a newer instance's server must be gone before it counts as lost: one
      that only makes another server is back at once.
    - `patience`: how long no Register can be sent before another way to the kubelet is taken.
    - `backoff`: the wait after failures; `slow_backoff`: after what only a person can mend.
    - `release`: how devices that vanished are let go.
    - `rhythm`: how closely the kubelet's files are looked at where no event tells of a change.
    """

    register: float = 15.0
    stream: float = 2.0
    doubt: float = 1.0
    settle: float = 0.5
    succession: float = 2.0
    patience: float = 10.0
    backoff: Backoff = attrs.field(factory=Backoff)
    slow_backoff: Backoff = Backoff(first=2.0, cap=60.0)
    release: Release = attrs.field(factory=Release)
    rhythm: Rhythm = attrs.field(factory=Rhythm)
