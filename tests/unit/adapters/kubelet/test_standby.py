"""The laws of gRPC's machinery between two servers."""

import subprocess
import sys
from pathlib import Path

# A process of its own: what other tests have left open would keep gRPC up, too.
_SERVE_TWICE = """
import asyncio, sys, threading
import grpc.aio
from deviceplugin.adapters.kubelet.standby import stand_by

async def serve_and_close(socket):
    server = grpc.aio.server()
    server.add_insecure_port(socket)
    await server.start()
    await server.stop(None)

async def main(target):
    before = {*threading.enumerate()}
    standing = asyncio.ensure_future(stand_by())
    await asyncio.sleep(0)
    (thread,) = {*threading.enumerate()} - before
    for number in range(2):
        await serve_and_close(f"{target}{number}.sock")
        assert {*threading.enumerate()} - before == {thread}
    standing.cancel()
    await asyncio.wait({standing})
    # A server that nobody has any more keeps it up until it is collected.
    while {*threading.enumerate()} - before:
        await asyncio.sleep(0.01)

asyncio.run(main(sys.argv[1]))
"""


def test_whoever_stands_by_keeps_the_thread_of_grpc(tmp_path: Path) -> None:
    """Else it ends with the last server, and the next one begins by starting another.

    It ends when nobody stands by.
    """
    command = [sys.executable, "-c", _SERVE_TWICE, f"unix:{tmp_path}/"]
    said = subprocess.run(  # noqa: S603
        command, capture_output=True, check=False, text=True, timeout=120
    )
    assert said.returncode == 0, said.stderr
