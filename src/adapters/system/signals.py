"""Signals that ask something of the process. For the command line: a library installs none."""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Final

ENDING: Final = (signal.SIGTERM, signal.SIGINT)
"""What a service manager, or a person at the keyboard, sends to end a process."""
RELOADING: Final = signal.SIGHUP
"""What asks a service to read its configuration again."""


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
