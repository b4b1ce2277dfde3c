"""The gRPC service Registration."""

from random import Random
from typing import Final

import attrs
import grpc

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import RegistrationServicer
from deviceplugin.testing.kubelet.acceptor import Acceptor
from deviceplugin.testing.kubelet.connector import Connector, Request
from deviceplugin.testing.kubelet.errors import RefusedError
from deviceplugin.testing.kubelet.faults import Faults, ListOrder
from deviceplugin.testing.kubelet.history import History, Refused, RegisterAsked
from deviceplugin.testing.kubelet.link import Link
from deviceplugin.testing.kubelet.register_call import RegisterCall
from deviceplugin.testing.kubelet.streams import Streams

_FIRST_LIST: Final = 0.25
"""Seconds for which the answer to Register is held back, with `ListOrder.BEFORE`: a plugin may
well send no list before it is registered."""
_ANSWER_ARRIVES: Final = 0.05
"""Seconds from sending that answer until ListAndWatch, with `ListOrder.AFTER`: the two travel on
different connections."""


@attrs.frozen(kw_only=True, eq=False)
class Registrar(RegistrationServicer):
    """Answers Register, or does what the script says."""

    connector: Connector
    streams: Streams
    acceptor: Acceptor
    history: History
    faults: Faults
    chance: Random

    def Register(  # noqa: N802 - the wire's name
        self,
        request: pb.RegisterRequest,
        context: grpc.ServicerContext,
    ) -> pb.Empty:
        """Answer one plugin."""
        asked = Request(
            version=request.version,
            endpoint=request.endpoint,
            resource=request.resource_name,
        )
        try:
            self._register(asked, RegisterCall(context, self.acceptor.cut))
        except RefusedError as problem:
            refused = Refused(
                resource=asked.resource,
                endpoint=asked.endpoint,
                reason=str(problem),
            )
            self.history.add(refused)
            context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        return pb.Empty()

    def _register(self, asked: Request, call: RegisterCall) -> None:
        self.history.add(
            RegisterAsked(
                resource=asked.resource,
                endpoint=asked.endpoint,
                version=asked.version,
            ),
        )
        step = self.faults.take(asked.resource)
        step.before(call)
        link = self.connector.connect(asked, call)
        self._watch_lists(link, call)
        step.after(call)

    def _watch_lists(self, link: Link, call: RegisterCall) -> None:
        order = self.faults.list_order
        if order is ListOrder.RANDOM:
            order = self.chance.choice((ListOrder.BEFORE, ListOrder.AFTER))
        if order is ListOrder.AFTER:
            call.when_over(lambda: self.streams.open(link, pause=_ANSWER_ARRIVES))
            return
        begun = self.streams.open(link)
        if order is ListOrder.BEFORE:
            begun.wait(_FIRST_LIST)
