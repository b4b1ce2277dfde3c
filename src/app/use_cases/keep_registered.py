"""Keep one resource registered, whatever the kubelet does.

Feeds the transition table of `domain.lifecycle` with signals and carries out its commands as tasks
that can be cancelled. All decisions are the table's; here stands only how a command is done.
"""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final

import attrs

from deviceplugin.app.use_cases.observe_streams import ObservedDevices
from deviceplugin.app.use_cases.register_once import RegisterOnce
from deviceplugin.app.use_cases.report_lifecycle import ReportLifecycle
from deviceplugin.app.use_cases.succession import Succession
from deviceplugin.app.use_cases.waits import Waits
from deviceplugin.app.use_cases.world import Way, World, sign_of
from deviceplugin.domain.errors import ServingError, ServingForbiddenError
from deviceplugin.domain.lifecycle import advance
from deviceplugin.domain.phases import Command, Phase, Signal
from deviceplugin.domain.ports.driven.directory import NO_ARRIVALS, Arrivals
from deviceplugin.domain.ports.driven.kubelet import Incarnation
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin
from deviceplugin.domain.routes import Kubelet, Route

_KUBELET_HAS_A_LIST: Final = (Phase.LISTED, Phase.STEADY)


@attrs.frozen
class _Stamped:
    """A signal with what it belongs to: an incarnation's or a timer's number, or a kubelet."""

    signal: Signal
    number: int | None = None
    kubelet: Kubelet | None = None


class KeepRegistered:
    """The life of one resource's registration, from the first kubelet to `stop`."""

    def __init__(self, plugin: DevicePlugin, world: World) -> None:
        """Remember what to serve; nothing happens before `run`."""
        self._plugin = plugin
        self._world = world
        self._report = ReportLifecycle(plugin.resource, world.journal)
        self._mailbox: asyncio.Queue[_Stamped] = asyncio.Queue()
        self._phase = Phase.WAITING
        self._number = 0
        self._timer_number = 0
        self._waits = Waits(world.timing, world.chance)
        self._route = Route.REGISTER
        """Of the kubelet that we were last told of: the next server's."""
        self._served_on = Route.REGISTER
        """The present server's."""
        self._succession = Succession(world.timing.succession)
        self._incarnation: Incarnation | None = None
        self._registered_with: Kubelet | None = None
        self._tasks = asyncio.TaskGroup()
        self._work: asyncio.Task[None] | None = None
        self._timer: asyncio.Task[None] | None = None

    @property
    def phase(self) -> Phase:
        """Where the resource stands."""
        return self._phase

    @property
    def at_rest(self) -> bool:
        """Whether it is registered for a while, and no other instance's server came after it."""
        return self._phase is Phase.STEADY and not self._succession.succeeded

    def kubelet_moved(self, signal: Signal, kubelet: Kubelet | None) -> None:
        """Tell that the kubelet is now to be met here; None if it has vanished."""
        self._mailbox.put_nowait(_Stamped(signal, kubelet=kubelet))

    def stop(self) -> None:
        """Let `run` end, with the server closed and its socket removed."""
        self._send(Signal.STOP)

    def check_socket(self, arrivals: Arrivals = NO_ARRIVALS) -> None:
        """Look whether our socket is still ours, and what became of one that came after us.

        `arrivals` are the sockets that came since the last look.
        """
        if self._incarnation is None:
            return
        if not self._is_ours(self._incarnation):
            self._send(Signal.SOCKET_LOST, self._number)
        elif self._phase in _KUBELET_HAS_A_LIST:
            successor = self._incarnation.successor(arrivals)
            if self._succession.look(successor, self._world.clock.now()):
                self._send(Signal.SUCCESSOR_LOST, self._number)
        elif arrivals != NO_ARRIVALS:
            self._succession.note(self._incarnation.successor(arrivals))

    async def run(self) -> None:
        """Return when stopped. Whatever ends it, nothing of it is left running."""
        try:
            async with self._tasks:
                while self._phase is not Phase.STOPPED:
                    self._take(await self._mailbox.get())
                self._clear_timer()
        finally:
            await self._shut()

    def _send(self, signal: Signal, number: int | None = None) -> None:
        self._mailbox.put_nowait(_Stamped(signal, number))

    def _take(self, stamped: _Stamped) -> None:
        if self._is_stale(stamped):
            return
        signal = stamped.signal
        if stamped.kubelet is not None:
            self._route = stamped.kubelet.route
            if stamped.kubelet == self._registered_with:
                signal = Signal.KUBELET_CONFIRMED
        before, step = self._phase, advance(self._phase, signal)
        self._phase = step.phase
        if before is Phase.STEADY and step.phase is not before:
            self._world.rouse()
        self._report.moved(before, signal, step.phase, self._endpoint)
        for command in step.commands:
            self._do(command)

    def _is_stale(self, stamped: _Stamped) -> bool:
        if stamped.number is None:
            return False
        current = self._timer_number if stamped.signal is Signal.TIMER else self._number
        return stamped.number != current

    def _do(self, command: Command) -> None:
        match command:
            case Command.SERVE:
                self._number += 1
                self._served_on = self._route
                self._succession = Succession(self._world.timing.succession)
                self._begin(self._serve(self._number))
            case Command.REGISTER:
                self._begin(self._register(self._number))
            case Command.LOOK:
                self._begin(self._look(self._number))
            case Command.CLOSE:
                self._registered_with = None
                self._begin(self._close(self._cancel_work()))
            case Command.FORGET_FAILURES:
                self._waits.failures = 0
            case Command.CLEAR_TIMER:
                self._clear_timer()
            case _:
                self._set_timer(self._waits.seconds(command))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        name = f"{self._plugin.resource}: {self._phase.value}"
        self._work = self._tasks.create_task(work, name=name)

    def _cancel_work(self) -> "asyncio.Task[None] | None":
        """Cancel the work here and now: a Register that has not begun yet must not be sent."""
        if self._work is not None:
            self._work.cancel()
        return self._work

    async def _serve(self, number: int) -> None:
        devices = ObservedDevices(
            devices=self._plugin.devices,
            opened=partial(self._send, Signal.STREAM_OPENED, number),
            ended=partial(self._send, Signal.STREAM_ENDED, number),
            is_known=lambda: self._phase is Phase.STEADY,
        )
        try:
            plugin = attrs.evolve(self._plugin, devices=devices)
            self._incarnation = await self._way.host.serve(plugin)
        except ServingError as error:
            self._report.serving_failed(str(error), self._waits.failures + 1)
            forbidden = isinstance(error, ServingForbiddenError)
            self._send(Signal.FORBIDDEN if forbidden else Signal.SERVING_FAILED, number)
        else:
            self._send(Signal.SERVED, number)

    async def _register(self, number: int) -> None:
        """Register once, after a look for our socket: without it the kubelet would wait 10 s.

        It removes sockets before it makes its own, so a look at that one comes first.
        """
        incarnation = self._incarnation
        way = self._way
        sign = sign_of(self._served_on, way.directory)
        self._registered_with = None if sign is None else Kubelet(self._served_on, sign)
        if incarnation is None or not self._is_ours(incarnation):
            self._send(Signal.SOCKET_LOST, number)
            return
        register_once = RegisterOnce(self._plugin, way.registrar, self._world.timing.register)
        outcome, reason = await register_once(incarnation.endpoint)
        if reason:
            failures = self._waits.failures + 1
            self._report.registration_failed(incarnation.endpoint, reason, failures)
        if outcome in {Signal.UNREACHABLE, Signal.FORBIDDEN}:
            self._registered_with = None
        self._send(outcome, number)
        self.check_socket()

    async def _look(self, number: int) -> None:
        there = await self._world.ways[self._route].registrar.reachable()
        self._send(Signal.REACHABLE if there else Signal.UNREACHABLE, number)

    async def _close(self, work: "asyncio.Task[None] | None") -> None:
        number = self._number
        if work is not None:
            await asyncio.wait({work})
        await self._shut()
        self._send(Signal.CLOSED, number)

    async def _shut(self) -> None:
        if self._incarnation is not None:
            await self._incarnation.close()
            self._incarnation = None

    @property
    def _way(self) -> Way:
        return self._world.ways[self._served_on]

    @property
    def _endpoint(self) -> str:
        return "" if self._incarnation is None else self._incarnation.endpoint

    def _is_ours(self, incarnation: Incarnation) -> bool:
        return self._way.directory.identity(incarnation.endpoint) == incarnation.identity

    def _set_timer(self, seconds: float) -> None:
        self._clear_timer()
        self._timer = self._tasks.create_task(self._ring(seconds, self._timer_number))

    def _clear_timer(self) -> None:
        self._timer_number += 1
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    async def _ring(self, seconds: float, number: int) -> None:
        await self._world.clock.sleep(seconds)
        self._send(Signal.TIMER, number)
