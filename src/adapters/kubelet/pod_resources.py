"""Who holds what, as the kubelet itself says on the socket of its pod resources."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

import grpc
import grpc.aio

from deviceplugin.adapters.kubelet.calls import answered
from deviceplugin.adapters.kubelet.fresh import Fresh
from deviceplugin.adapters.kubelet.held import HeldByName, by_resource
from deviceplugin.adapters.kubelet.sockets import MAX_PATH, connect_error
from deviceplugin.adapters.kubelet.translate import to_held
from deviceplugin.adapters.kubelet.wire.podresources_pb2 import ListPodResourcesRequest
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import PodResourcesListerStub
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.holders import Holders
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings

SOCKET: Final = "pod-resources/kubelet.sock"
"""The socket, below the kubelet's root."""
MAX_ANSWER: Final = 16 * 1024 * 1024
"""Bytes of the largest answer that is taken; the kubelet sets no bound."""
INTERVAL: Final = 0.1
"""Seconds from one call to the next: a tenth of what a kubelet allows all callers together."""

_OPTIONS: Final = (
    ("grpc.default_authority", "localhost"),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
    ("grpc.max_receive_message_length", MAX_ANSWER),
)

_HINT: Final = (
    "; is the kubelet's root mounted here? kubelet_root (--kubelet-root) names another one"
)


class PodResourcesHolders(Holders):
    """Calls List, which answers for all resources at once, on a fresh channel each time.

    `seconds` is the deadline of one call. What is in an answer, a thread of the worker's makes
    out: nobody else has to wait for a long one.
    """

    def __init__(self, kubelet_root: str, *, worker: Worker, clock: Clock, seconds: float) -> None:
        self._worker = worker
        self._file = Path(kubelet_root, SOCKET)
        self._seconds = seconds
        self._held = Fresh(self._list, clock=clock, interval=INTERVAL)

    async def holders(self, resource: ResourceName) -> Holdings:
        """Return what containers of the kubelet's pods hold; it knows all of them."""
        held = await self._held()
        return held.get(str(resource), Holdings(complete=True))

    async def all_holders(self) -> Mapping[ResourceName, Holdings]:
        """Return what containers of the kubelet's pods hold of every resource."""
        return by_resource(await self._held())

    async def _list(self) -> HeldByName:
        self._check_listening()
        target = f"unix:{quote(str(self._file))}"
        async with grpc.aio.insecure_channel(target, options=_OPTIONS) as channel:
            try:
                answer = await answered(
                    PodResourcesListerStub(channel).List(
                        ListPodResourcesRequest(), timeout=self._seconds
                    )
                )
            except grpc.aio.AioRpcError as error:
                raise self._unknown(self._explained(error)) from error
        try:
            return await self._worker.run(partial(to_held, answer))
        except HoldersUnknownError as error:
            raise self._unknown(str(error)) from error

    def _check_listening(self) -> None:
        """Find out by a bare connect whether anybody listens: gRPC would try until the end."""
        length = len(os.fsencode(self._file))
        if length > MAX_PATH:
            raise self._unknown(f"the path has {length} bytes, Linux allows {MAX_PATH}")
        if "," in str(self._file):
            raise self._unknown("gRPC takes no comma in a path; use a symbolic link to it")
        if code := connect_error(str(self._file)):
            raise self._unknown(os.strerror(code) + _HINT)

    def _explained(self, error: grpc.aio.AioRpcError) -> str:
        text = error.details() or error.code().name
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            return f"no answer within {self._seconds:g} s"
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return f"no kubelet of Kubernetes 1.20 or later answers there ({text})"
        return text

    def _unknown(self, reason: str) -> HoldersUnknownError:
        return HoldersUnknownError(f"{self._file}: {reason}")
