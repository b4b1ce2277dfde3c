"""The talk with a plugin that was found in plugins_registry: who it is, and whether it is in."""

import threading
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

import grpc

from deviceplugin.adapters.kubelet.wire import pluginregistration_pb2 as pb
from deviceplugin.adapters.kubelet.wire.pluginregistration_pb2_grpc import RegistrationStub
from deviceplugin.testing.kubelet.errors import UnwelcomeError
from deviceplugin.testing.kubelet.goerror import FAILURES, go_text
from deviceplugin.testing.kubelet.history import History, InfoAsked, StatusSent
from deviceplugin.testing.kubelet.limits import Limits

PREFIX: Final = "RegisterPlugin error --"


class Introduction:
    """A connection for one talk; a context manager that closes it. All errors `UnwelcomeError`."""

    def __init__(self, path: str, limits: Limits, history: History) -> None:
        """Prepare to dial `path`. The authority is the path, as nobody tells Go's gRPC another."""
        self._path = path
        self._limits = limits
        self._history = history
        self._settled = threading.Event()
        self._ready = False
        self.closed = False
        self._channel = grpc.insecure_channel(
            f"unix:{quote(path)}",
            options=[
                ("grpc.default_authority", quote(path, safe="")),
                ("grpc.use_local_subchannel_pool", 1),
            ],
        )
        self._stub = RegistrationStub(self._channel)

    def __enter__(self) -> Self:
        """Do nothing more."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """End the talk, from any thread."""
        self.closed = True
        self._settled.set()
        self._channel.close()

    def ask(self) -> pb.PluginInfo:
        """Dial and ask who is there."""
        self._dial()
        self._history.add(InfoAsked(socket=self._path))
        try:
            return self._stub.GetInfo(pb.InfoRequest(), timeout=self._limits.plugin_info)
        except FAILURES as problem:
            raise UnwelcomeError(
                f"{PREFIX} failed to get plugin info using RPC GetInfo at socket "
                f"{self._path}, err: {go_text(problem)}"
            ) from problem

    def tell(self, error: str = "") -> None:
        """Say that the plugin is registered, or why not."""
        self._history.add(StatusSent(socket=self._path, error=error))
        status = pb.RegistrationStatus(plugin_registered=not error, error=error)
        try:
            self._stub.NotifyRegistrationStatus(status, timeout=self._limits.plugin_status)
        except FAILURES as problem:
            raise UnwelcomeError(
                f"{PREFIX} failed to send registration status at socket "
                f"{self._path}, err: {go_text(problem)}"
            ) from problem

    def _dial(self) -> None:
        try:
            self._channel.subscribe(self._see, try_to_connect=True)
            self._settled.wait(self._limits.dial)
            self._channel.unsubscribe(self._see)
        except ValueError:  # closed meanwhile
            self._ready = False
        if not self._ready:
            raise UnwelcomeError(f"{PREFIX} dial failed at socket {self._path}")

    def _see(self, state: grpc.ChannelConnectivity) -> None:
        if state is grpc.ChannelConnectivity.READY:
            self._ready = True
            self._settled.set()
