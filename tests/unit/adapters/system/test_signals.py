"""Signals are calls in the loop, for as long as somebody asked for it."""

import asyncio
import os
import signal
import threading
import time
from types import FrameType

import pytest

from deviceplugin.adapters.system.signals import ENDING, awake_to_signals, on_ending_signal
from deviceplugin.testing.loop import run


def test_each_ending_signal_is_a_call() -> None:
    async def law() -> None:
        calls: asyncio.Queue[signal.Signals] = asyncio.Queue()
        with on_ending_signal(calls.put_nowait):
            for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):
                os.kill(os.getpid(), number)
                assert await calls.get() is number

    run(law())


def test_what_the_signals_did_before_they_do_again() -> None:
    async def law() -> None:
        heard: list[int] = []

        def mine(number: int, _: FrameType | None) -> None:
            heard.append(number)

        before = [signal.signal(number, mine) for number in ENDING]
        try:
            with pytest.raises(ValueError, match="odd"), on_ending_signal(print):
                raise ValueError("odd")
            assert [signal.getsignal(number) for number in ENDING] == [mine, mine]
        finally:
            for number, handler in zip(ENDING, before, strict=True):
                signal.signal(number, handler)

    run(law())


def test_a_signal_that_comes_to_another_thread_wakes_the_loop() -> None:
    """Its handler runs in the main thread, which would sleep until something else happens."""

    async def law() -> None:
        loop = asyncio.get_running_loop()
        heard, far = asyncio.Event(), loop.time() + 20

        def hear(_: int, __: FrameType | None) -> None:
            heard.set()

        before = signal.signal(signal.SIGUSR1, hear)
        other = threading.Thread(target=_signal_itself)
        other.start()
        # From here on it is only the other thread that a signal can come to.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        alarm = loop.call_at(far, int)
        try:
            await awake_to_signals(heard.wait)
        finally:
            alarm.cancel()
            other.join()
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
            signal.signal(signal.SIGUSR1, before)
        assert loop.time() < far

    run(law())


def _signal_itself() -> None:
    # By then the loop sleeps; if it does not yet, this shows nothing, and fails nothing.
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
