"""Signals that ask something of the process. For the command line: a library installs none."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from contextlib import ExitStack, contextmanager
from socket import socketpair
from typing import Any, Final, TypeVar

_Result = TypeVar("_Result")

ENDING: Final = (signal.SIGTERM, signal.SIGINT)
"""What a service manager, or a person at the keyboard, sends to end a process."""
RELOADING: Final = signal.SIGHUP
"""What asks a service to read its configuration again."""
_MANY: Final = 64
"""Signals that are taken note of at once."""


async def awake_to_signals(work: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Return what `work` returns; meanwhile signals wake its loop, whenever they come.

    Python runs a handler once its main thread runs something. A signal that comes between its last
    look and the moment in which it sleeps, or to another thread, would wait for what happens next.
    In other threads than the main one there is nothing to wake.
    """
    if threading.current_thread() is not threading.main_thread():
        return await work()
    loop = asyncio.get_running_loop()
    awake, wake = socketpair()
    with awake, wake:
        awake.setblocking(False)
        wake.setblocking(False)
        loop.add_reader(awake, awake.recv, _MANY)
        before = signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        try:
            return await work()
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(awake)


@contextmanager
def on_ending_signal(call: Callable[[signal.Signals], object]) -> Generator[None]:
    """Within this context, each such signal is a call in the running event loop.

    What the signals did before, they do again afterwards. Python wants the main thread for it.
    """
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        for number in ENDING:
            stack.enter_context(_handled(loop, number, call))
        yield


@contextmanager
def _handled(
    loop: asyncio.AbstractEventLoop,
    number: signal.Signals,
    call: Callable[[signal.Signals], object],
) -> Generator[None]:
    before = signal.getsignal(number)
    loop.add_signal_handler(number, call, number)
    try:
        yield
    finally:
        loop.remove_signal_handler(number)
        # The loop puts back Python's default. None stands for a handler that Python did not set.
        if before is not None:
            signal.signal(number, before)
