"""A call that is no longer wanted leaves nothing behind."""

import asyncio
import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from deviceplugin.adapters.kubelet.calls import answered

if TYPE_CHECKING:
    import grpc.aio

MEASURE = """
import asyncio, ctypes, json, sys
import grpc, grpc.aio
from deviceplugin.adapters.kubelet.calls import answered
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2_grpc as stubs

class Information(ctypes.Structure):
    _fields_ = [(f"field{number}", ctypes.c_size_t) for number in range(10)]

def in_use():
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Information
    return library.mallinfo2().field7

class Silent(stubs.RegistrationServicer):
    async def Register(self, request, context):
        asked.set()
        await asyncio.Event().wait()

async def give_up(target):
    async with grpc.aio.insecure_channel(target) as channel:
        call = stubs.RegistrationStub(channel).Register(wire.RegisterRequest())
        waiting = asyncio.ensure_future(answered(call))
        await asked.wait()
        asked.clear()
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()

async def main(target):
    global asked
    asked = asyncio.Event()
    server = grpc.aio.server()
    stubs.add_RegistrationServicer_to_server(Silent(), server)
    server.add_insecure_port(target)
    await server.start()
    grown = []
    for _ in range(3):
        before = in_use()
        for _ in range(100):
            await give_up(target)
        await asyncio.sleep(0.2)
        grown.append((in_use() - before) // 100)
    print(json.dumps(min(grown)))
    await server.stop(None)

asyncio.run(main(sys.argv[1]))
"""
"""Says how many bytes each call that was given up has left in use."""


class _Operation:
    """What grpc.aio has below a call: the one that is cancelled."""

    def __init__(self) -> None:
        self.over: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def cancel(self, why: str) -> None:
        self.over.set_result(why)


class _Call:
    """A call whose waiting must not be cancelled."""

    def __init__(self) -> None:
        self._cython_call = _Operation()
        self.disturbed = False

    def __await__(self) -> Generator[Any, None, str]:
        try:
            return (yield from self._cython_call.over)
        except asyncio.CancelledError:
            self.disturbed = True
            raise

    def answer(self, text: str) -> None:
        self._cython_call.over.set_result(text)

    @property
    def is_over(self) -> bool:
        return self._cython_call.over.done()


def asked(call: _Call) -> "asyncio.Task[str]":
    return asyncio.ensure_future(answered(cast("grpc.aio.UnaryUnaryCall[Any, str]", call)))


async def test_the_answer_is_returned() -> None:
    call = _Call()
    waiting = asked(call)
    await asyncio.sleep(0)
    call.answer("yes")
    assert await waiting == "yes"


async def test_who_gives_up_ends_the_operation_and_not_the_waiting_for_it() -> None:
    call = _Call()
    waiting = asked(call)
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (call.is_over, call.disturbed) == (True, False)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="another C library")
def test_a_call_that_was_given_up_has_all_its_memory_freed(tmp_path: Path) -> None:
    """As the C library counts what is in use, with no cache of its own."""
    done = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", MEASURE, f"unix:{tmp_path}/k"],
        env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) < 100
