"""Ask the probes of devices, each in its interval, and tell when an answer is another one."""

import asyncio
from collections.abc import Mapping
from threading import Lock
from typing import Final

from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.errors import reason_of
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.hotplug import Change, Hotplug
from deviceplugin.domain.ports.driven.prober import Prober

AT_ONCE: Final = 8
"""Probes that are under way at most, whatever the number of devices."""
_CHANGE: Final = Change(paths=frozenset({"probe"}))


class KeepProbing(Hotplug):
    """Asks while somebody waits for changes; a probe is never asked twice at once.

    `answers` is called by whoever judges devices, in any thread: from then on those probes are
    asked, and no others. A probe that cannot be asked, or raises anything, is not well.
    """

    def __init__(self, prober: Prober, *, clock: Clock) -> None:
        """Ask nothing yet."""
        self._prober = prober
        self._clock = clock
        self._lock = Lock()
        self._wanted: frozenset[Probe] = frozenset()
        self._every = False
        self._outcomes: dict[Probe, Outcome] = {}
        self._due: dict[Probe, float] = {}
        self._asking: dict[asyncio.Task[Outcome], Probe] = {}
        self._told = False
        self._rewanted = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def answers(self, wanted: frozenset[Probe], every: bool, /) -> Mapping[Probe, Outcome]:  # noqa: FBT001 - one fact
        """Return what the probes have answered so far.

        Let these be asked from now on; tell of `every` answer, or only of those that are others.
        """
        with self._lock:
            new = wanted != self._wanted
            self._wanted, self._every = wanted, every
            loop = self._loop if new else None
            known = {probe: self._outcomes[probe] for probe in wanted if probe in self._outcomes}
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._rewanted.set)
        return known

    @property
    def heard(self) -> bool:
        """Always: what is asked answers."""
        return True

    async def changed(self) -> Change:
        """Return once a probe has answered something else than the last time."""
        self._loop = asyncio.get_running_loop()
        try:
            while not self._told:
                self._rewanted.clear()
                self._begin()
                await self._wait()
                self._end()
        except asyncio.CancelledError:
            await self._give_up()
            raise
        self._told = False
        return _CHANGE

    def close(self) -> None:
        """Ask nothing any more."""
        with self._lock:
            self._wanted = frozenset()
        self._told = False
        for task in self._asking:
            task.cancel()

    async def _give_up(self) -> None:
        """End what is under way; it is due again at once."""
        for task in self._asking:
            task.cancel()
        if self._asking:
            await asyncio.wait(self._asking)
        for probe in self._asking.values():
            self._due.pop(probe, None)
        self._asking.clear()

    def _begin(self) -> None:
        """Ask those whose time has come, the longest overdue first, as far as there is room."""
        now = self._clock.now()
        with self._lock:
            wanted = self._wanted
            for gone in self._outcomes.keys() - wanted:
                del self._outcomes[gone]
        self._due = {probe: self._due.get(probe, now) for probe in wanted}
        busy = set(self._asking.values())
        due = sorted((at, repr(each), each) for each, at in self._due.items() if each not in busy)
        for at, _, probe in due[: max(0, AT_ONCE - len(self._asking))]:
            if at <= now:
                self._due[probe] = now + probe.interval
                self._asking[asyncio.create_task(asked(self._prober, probe))] = probe

    async def _wait(self) -> None:
        """Return when an answer came, the next probe is due, or others are wanted."""
        busy = set(self._asking.values())
        due = [at for probe, at in self._due.items() if probe not in busy]
        waits: set[asyncio.Task[object]] = {asyncio.create_task(self._rewanted.wait())}
        if due and len(self._asking) < AT_ONCE:
            seconds = max(0.0, min(due) - self._clock.now())
            waits.add(asyncio.create_task(self._clock.sleep(seconds)))
        try:
            await asyncio.wait({*waits, *self._asking}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    def _end(self) -> None:
        """Keep the answers that came."""
        for task in [each for each in self._asking if each.done()]:
            probe = self._asking.pop(task)
            if task.cancelled():
                continue
            outcome = task.result()
            with self._lock:
                if probe in self._wanted:
                    last = self._outcomes.get(probe)
                    self._told |= self._every or last is None or last.healthy != outcome.healthy
                    self._outcomes[probe] = outcome


async def asked(prober: Prober, probe: Probe) -> Outcome:
    """Return the outcome of a probe: of one that breaks, too, since its device may not be well."""
    try:
        return await prober.probe(probe)
    except Exception as error:  # noqa: BLE001 - whatever it is, the device is not known to be well
        return Outcome(healthy=False, reason=reason_of(error), ran=False)
