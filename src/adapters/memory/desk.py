"""Where Registers come in, and what may become of them."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum

import attrs

from deviceplugin.adapters.memory.tasks import ended
from deviceplugin.domain.errors import RegistrationRefusedError, RegistrationUnclearError
from deviceplugin.domain.ports.driven.clock import Clock


class Trouble(Enum):
    """What may happen to a Register."""

    REFUSED = "it is answered with an error"
    LOST = "the connection breaks before the answer"
    UNANSWERED = "it is never answered"


@attrs.frozen(kw_only=True)
class Fault:
    """One Register that goes wrong; `completing` if it registers all the same."""

    trouble: Trouble
    completing: bool = False
    reason: str = ""


class Desk:
    """Handles Registers, except those that the next of `faults` spoils."""

    def __init__(self, clock: Clock) -> None:
        self.faults: deque[Fault] = deque()
        self._clock = clock
        self._open: set[asyncio.Task[None]] = set()

    async def handle(self, connect: Callable[[], Awaitable[None]], seconds: float) -> None:
        """Return or raise the answer to one Register, which `connect` gives unless it is spoilt.

        If the caller gives up, the handling goes on without it.
        """
        handling = asyncio.create_task(self._handle(connect))
        self._open.add(handling)
        handling.add_done_callback(self._handled)
        timer = asyncio.create_task(self._clock.sleep(seconds))
        try:
            await asyncio.wait({handling, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await ended(timer)
        if not handling.done():
            raise RegistrationUnclearError(f"no answer within {seconds:g} s")
        if handling.cancelled():
            raise RegistrationUnclearError("the kubelet died before its answer")
        handling.result()

    async def shut(self) -> None:
        """End all that is under way."""
        await ended(*self._open)

    async def _handle(self, connect: Callable[[], Awaitable[None]]) -> None:
        fault = self.faults.popleft() if self.faults else None
        if fault is not None and fault.trouble is Trouble.REFUSED:
            raise RegistrationRefusedError(fault.reason)
        if fault is None or fault.completing:
            await connect()
        if fault is None:
            return
        if fault.trouble is Trouble.LOST:
            raise RegistrationUnclearError("the connection broke before the answer")
        await asyncio.Event().wait()

    def _handled(self, handling: asyncio.Task[None]) -> None:
        self._open.discard(handling)
        if not handling.cancelled():
            # Nobody may be left to hear of it.
            handling.exception()
