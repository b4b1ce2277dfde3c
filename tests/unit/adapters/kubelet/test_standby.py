"""The laws of gRPC's machinery between two servers."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

# A process of its own: what other tests have left open would keep gRPC up, too.
_SERVE_TWICE = """
import asyncio, json, sys, threading
import grpc.aio
from deviceplugin.adapters.kubelet.standby import stand_by

async def serve_and_close(socket):
    server = grpc.aio.server()
    server.add_insecure_port(socket)
    await server.start()
    await server.stop(None)

async def main(target, by):
    threads = [{*threading.enumerate()}]
    standing = asyncio.ensure_future(stand_by()) if by else None
    await asyncio.sleep(0)
    for number in range(3):
        threads.append({*threading.enumerate()} - threads[0])
        await serve_and_close(f"{target}{number}.sock")
    if standing is not None:
        standing.cancel()
        await asyncio.wait({standing})
    assert not {*threading.enumerate()} - threads[0]
    same = threads[1] == threads[2] == threads[3]
    print(json.dumps([same, len(threads[3])]))

asyncio.run(main(sys.argv[1], by=sys.argv[2] == "True"))
"""


@pytest.mark.parametrize("by", [True, False])
def test_whoever_stands_by_keeps_the_thread_of_grpc(tmp_path: Path, *, by: bool) -> None:
    """Else it ends with the last server, and the next one begins by starting another."""
    command = [sys.executable, "-c", _SERVE_TWICE, f"unix:{tmp_path}/", str(by)]
    said = subprocess.run(command, capture_output=True, check=False, text=True)  # noqa: S603
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout) == [True, int(by)]
