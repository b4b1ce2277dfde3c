"""A fake kubelet in the process of a plugin that lives on an event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import grpc

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import (
    DevicePluginServicer,
    RegistrationStub,
    add_DevicePluginServicer_to_server,
)
from deviceplugin.testing.kubelet import FakeKubelet, Pod, PodAdmitted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from deviceplugin.testing.kubelet import ResourceView

WIDGET = "example.com/widget"


class AioPlugin(DevicePluginServicer):
    """Serves one device from the loop."""

    async def GetDevicePluginOptions(  # noqa: N802
        self,
        request: pb.Empty,
        context: object,
    ) -> pb.DevicePluginOptions:
        del request, context
        return pb.DevicePluginOptions()

    async def ListAndWatch(  # noqa: N802
        self,
        request: pb.Empty,
        context: object,
    ) -> AsyncIterator[pb.ListAndWatchResponse]:
        del request, context
        yield pb.ListAndWatchResponse(devices=[pb.Device(ID="a", health="Healthy")])
        await asyncio.Event().wait()

    async def Allocate(  # noqa: N802
        self,
        request: pb.AllocateRequest,
        context: object,
    ) -> pb.AllocateResponse:
        del request, context
        return pb.AllocateResponse(container_responses=[pb.ContainerAllocateResponse()])

    async def GetPreferredAllocation(  # noqa: N802
        self,
        request: pb.PreferredAllocationRequest,
        context: object,
    ) -> pb.PreferredAllocationResponse:
        raise AssertionError((request, context))

    async def PreStartContainer(  # noqa: N802
        self,
        request: pb.PreStartContainerRequest,
        context: object,
    ) -> pb.PreStartContainerResponse:
        raise AssertionError((request, context))


def is_there(seen: ResourceView) -> bool:
    """Tell whether the device can be had."""
    return seen.allocatable == 1


async def test_it_needs_no_loop_and_disturbs_none(kubelet: FakeKubelet) -> None:
    """Register is awaited in the loop that serves the call back; waiting is done in a thread."""
    server = grpc.aio.server()
    add_DevicePluginServicer_to_server(AioPlugin(), server)
    server.add_insecure_port(f"unix:{kubelet.directory}/aio.sock")
    await server.start()
    target = f"unix:{kubelet.socket}"
    async with grpc.aio.insecure_channel(target) as channel:
        request = pb.RegisterRequest(version="v1beta1", endpoint="aio.sock", resource_name=WIDGET)
        await RegistrationStub(channel).Register(request, timeout=20)
    await asyncio.to_thread(kubelet.await_resource, WIDGET, is_there)
    verdict = await asyncio.to_thread(kubelet.admit, Pod.asking("p", {WIDGET: 1}))
    assert isinstance(verdict, PodAdmitted)
    await asyncio.to_thread(kubelet.stop)
    await server.stop(None)
