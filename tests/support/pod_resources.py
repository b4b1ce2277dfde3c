"""A kubelet's pod resources, and nothing else of it: answers what a test says."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from deviceplugin.adapters.kubelet.wire import podresources_pb2 as wire
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import (
    PodResourcesListerServicer,
    add_PodResourcesListerServicer_to_server,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class PodResources(PodResourcesListerServicer):
    """Serves List on `<root>/pod-resources/kubelet.sock` while it is started.

    Fails with `refusal` if there is one, answers only when it `may_answer`, and counts the calls.
    """

    def __init__(self, root: Path) -> None:
        self.calls = 0
        self.refusal: tuple[grpc.StatusCode, str] | None = None
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.on_call: Callable[[int], Awaitable[None]] | None = None
        """Awaited with the number of each call, before its answer is made."""
        self.nodes: tuple[int, ...] = ()
        """NUMA nodes of every device: a kubelet has an entry for each."""
        self.socket = root / "pod-resources" / "kubelet.sock"
        self._holders: list[tuple[str, str]] = []
        self._server: Any = None

    def hold(self, resource: str, *ids: str) -> None:
        """Let one container more hold these devices."""
        self._holders += [(resource, each) for each in ids]

    def free(self, resource: str, *ids: str) -> None:
        """Let no container hold these devices."""
        freed = {(resource, each) for each in ids}
        self._holders = [each for each in self._holders if each not in freed]

    async def start(self) -> None:
        """Serve."""
        self.socket.parent.mkdir(parents=True, exist_ok=True)
        self.socket.unlink(missing_ok=True)
        self._server = grpc.aio.server(options=[("grpc.max_send_message_length", -1)])
        add_PodResourcesListerServicer_to_server(self, self._server)
        self._server.add_insecure_port(f"unix:{self.socket}")
        await self._server.start()

    async def stop(self) -> None:
        """End at once; gRPC removes the socket."""
        if self._server is not None:
            await self._server.stop(0)
            self._server = None

    async def List(  # noqa: N802 - the protocol's name
        self,
        request: wire.ListPodResourcesRequest,
        context: Any,  # noqa: ANN401
    ) -> wire.ListPodResourcesResponse:
        """Say which pods hold what."""
        del request
        self.calls += 1
        if self.on_call is not None:
            await self.on_call(self.calls)
        await self.may_answer.wait()
        if self.refusal is not None:
            await context.abort(*self.refusal)
        return wire.ListPodResourcesResponse(pod_resources=[self._idle(), *self._pods()])

    def _pods(self) -> list[wire.PodResources]:
        """Make a pod for each device that is held."""
        return [
            wire.PodResources(
                name=f"pod-{number}",
                namespace="default",
                containers=[
                    wire.ContainerResources(name="main", devices=self._entries(resource, id_))
                ],
            )
            for number, (resource, id_) in enumerate(self._holders)
        ]

    def _entries(self, resource: str, id_: str) -> list[wire.ContainerDevices]:
        if not self.nodes:
            return [wire.ContainerDevices(resource_name=resource, device_ids=[id_])]
        return [
            wire.ContainerDevices(
                resource_name=resource,
                device_ids=[id_],
                topology=wire.TopologyInfo(nodes=[wire.NUMANode(ID=node)]),
            )
            for node in self.nodes
        ]

    @staticmethod
    def _idle() -> wire.PodResources:
        """A pod that holds no device."""
        return wire.PodResources(
            name="idle", namespace="default", containers=[wire.ContainerResources(name="main")]
        )

    async def GetAllocatableResources(  # noqa: N802
        self,
        request: wire.AllocatableResourcesRequest,
        context: Any,  # noqa: ANN401
    ) -> wire.AllocatableResourcesResponse:
        """Fail the test: nobody needs it."""
        raise NotImplementedError

    async def Get(  # noqa: N802
        self,
        request: wire.GetPodResourcesRequest,
        context: Any,  # noqa: ANN401
    ) -> wire.GetPodResourcesResponse:
        """Fail the test: nobody needs it."""
        raise NotImplementedError
