"""What the contract cannot say of threads."""

import asyncio
import subprocess
import sys
import threading
from typing import Final

import pytest

from deviceplugin.adapters.system import ThreadWorker
from deviceplugin.testing.loop import run

ENDLESS: Final = """
import asyncio, threading
from deviceplugin.adapters.system import ThreadWorker

async def main():
    started = threading.Event()
    def call():
        started.set()
        threading.Event().wait()
    asyncio.create_task(ThreadWorker().run(call))
    while not started.is_set():
        await asyncio.sleep(0.001)

asyncio.run(main())
print("over")
"""

LATE: Final = """
import asyncio, threading
from deviceplugin.adapters.system import ThreadWorker

gate = threading.Event()

async def main():
    asyncio.create_task(ThreadWorker().run(gate.wait))
    await asyncio.sleep(0)

before = set(threading.enumerate())
asyncio.run(main())
gate.set()
for thread in set(threading.enumerate()) - before:
    thread.join()
print("over")
"""


@pytest.mark.parametrize("script", [ENDLESS, LATE], ids=["endless", "late"])
def test_a_call_that_outlives_the_loop_holds_up_nobody(script: str) -> None:
    """The process ends though the call doesn't; a call that ends after the loop says nothing."""
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - ours
    assert (ended.stdout, ended.stderr) == ("over\n", "")


def test_each_call_has_a_thread_that_says_what_it_is_for() -> None:
    def named() -> str:
        return threading.current_thread().name

    async def law() -> None:
        name = await ThreadWorker().run(named)
        assert name.startswith("deviceplugin: ")
        assert name.endswith("named")

    run(law())


def test_a_waiter_that_was_cancelled_hears_no_late_error() -> None:
    """An error of a call that was given up is nobody's: the loop is not told of it."""

    async def law() -> None:
        complaints: list[object] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: complaints.append(context))
        gate = threading.Event()

        def call() -> None:
            gate.wait()
            raise ValueError("late")

        work = asyncio.create_task(ThreadWorker().run(call))
        await asyncio.sleep(0)
        work.cancel()
        await asyncio.wait({work})
        gate.set()
        await ThreadWorker().run(lambda: None)
        loop.set_exception_handler(None)
        assert not complaints

    run(law())
