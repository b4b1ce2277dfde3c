"""Signals are calls in the loop, for as long as somebody asked for it."""

import asyncio
import os
import signal
from types import FrameType

import pytest

from deviceplugin.adapters.system.signals import ENDING, on_ending_signal
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
