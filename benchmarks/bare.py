"""The floor: grpc.aio servers with the same messages that do nothing else.

They poll for kubelet.sock every 2 ms, start a server for each resource when it appears or is
replaced, and register; with `once` as the third argument, they do so for one kubelet and then are
at rest. They check nothing, merge nothing, notice nothing else and recover from nothing.
"""

import asyncio
import json
import sys
import threading
from functools import partial
from pathlib import Path
from types import ModuleType

import grpc.aio

# The messages live inside the framework; a bare server must not pay for the framework's face.
_FACE = ModuleType("deviceplugin")
_FACE.__path__ = [str(Path(__file__).parents[1] / "src")]
sys.modules.setdefault("deviceplugin", _FACE)

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire  # noqa: E402
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2_grpc as rpc  # noqa: E402

_LOCAL = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))


class _News:
    """The one list of all, and how to wait for the next."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()
        self.say(healthy=True)

    def say(self, *, healthy: bool) -> None:
        health = "Healthy" if healthy else "Unhealthy"
        self.list = wire.ListAndWatchResponse(devices=[wire.Device(ID="dev0", health=health)])
        self._changed.set()
        self._changed = asyncio.Event()

    async def next(self) -> None:
        await self._changed.wait()


class _Bare(rpc.DevicePluginServicer):
    def __init__(self, news: _News) -> None:
        self._news = news

    async def GetDevicePluginOptions(self, request, context):  # noqa: ANN001, ANN202, ARG002, N802
        return wire.DevicePluginOptions()

    async def ListAndWatch(self, request, context):  # noqa: ANN001, ANN202, ARG002, N802
        while True:
            await context.write(self._news.list)
            await self._news.next()

    async def Allocate(self, request, context):  # noqa: ANN001, ANN202, ARG002, N802
        return wire.AllocateResponse(
            container_responses=[
                wire.ContainerAllocateResponse(
                    devices=[
                        wire.DeviceSpec(
                            container_path="/dev/null", host_path="/dev/null", permissions="rw"
                        )
                    ]
                )
                for _ in request.container_requests
            ]
        )


async def _serve(directory: Path, number: int, generation: int, news: _News) -> grpc.aio.Server:
    endpoint = f"bare-{number}-{generation}.sock"
    server = grpc.aio.server()
    rpc.add_DevicePluginServicer_to_server(_Bare(news), server)
    server.add_insecure_port(f"unix:{directory / endpoint}")
    await server.start()
    async with grpc.aio.insecure_channel(
        f"unix:{directory}/kubelet.sock", options=_LOCAL
    ) as channel:
        await rpc.RegistrationStub(channel).Register(
            wire.RegisterRequest(
                version="v1beta1",
                endpoint=endpoint,
                resource_name=f"bench.example.com/r{number}",
                options=wire.DevicePluginOptions(),
            ),
            timeout=15,
            wait_for_ready=True,
        )
    return server


def _hear(loop: asyncio.AbstractEventLoop, news: _News) -> None:
    """Take the health of the devices from the input, a line each."""
    for line in sys.stdin:
        loop.call_soon_threadsafe(partial(news.say, healthy=json.loads(line)))


async def _main(directory: Path, resources: int, *, once: bool) -> None:
    news = _News()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_hear, args=[loop, news], daemon=True).start()
    known, generation = 0, 0
    servers: list[grpc.aio.Server] = []
    while True:
        try:
            inode = (directory / "kubelet.sock").stat().st_ctime_ns
        except FileNotFoundError:
            inode = 0
        if inode and inode != known:
            known, generation = inode, generation + 1
            await asyncio.gather(*(server.stop(None) for server in servers))
            servers = await asyncio.gather(
                *(_serve(directory, number, generation, news) for number in range(resources))
            )
        await (asyncio.Event().wait() if once and known else asyncio.sleep(0.002))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2]), once="once" in sys.argv[3:]))
