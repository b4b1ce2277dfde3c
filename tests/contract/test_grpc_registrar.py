"""The gRPC registrar obeys the laws of `Registrar` with a kubelet over real gRPC."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import grpc
import grpc.aio
import pytest
from tests.support.nobody import nobody

from deviceplugin.adapters.kubelet.host import GrpcHost
from deviceplugin.adapters.kubelet.registrar import MAX_CALLS, GrpcRegistrar
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.devices import DeviceId, Health
from deviceplugin.domain.errors import (
    KubeletForbiddenError,
    KubeletUnreachableError,
    RegistrationRefusedError,
    RegistrationUnclearError,
    ServingForbiddenError,
)
from deviceplugin.domain.inventory import ListedDevice, Listing
from deviceplugin.domain.ports.driven.kubelet import Registration
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.contracts.law import BOUND, eventually, soon
from deviceplugin.testing.contracts.registrar import RegistrarContract
from deviceplugin.testing.contracts.registrar_world import RegistrarWorld
from deviceplugin.testing.contracts.scripted import ScriptedPlugin
from deviceplugin.testing.kubelet import (
    DropLate,
    FakeKubelet,
    Hang,
    Limits,
    Profile,
    Refuse,
    RegisterAsked,
    StreamOpened,
)
from deviceplugin.testing.loop import run

DIAL = 0.3
AT_ONCE = 0.5
"""Seconds for a Register that takes milliseconds. gRPC's first back-off is 0.8 at the least."""
ChannelOptions: TypeAlias = Sequence[tuple[str, str | int]]


class _GrpcWorld(RegistrarWorld):
    def __init__(self, directory: Path, profile: Profile) -> None:
        sockets = SocketDirectory(str(directory))
        self._registrar = GrpcRegistrar(sockets)
        self._host = GrpcHost(sockets, MemoryJournal())
        self.kubelet = FakeKubelet(directory, profile=profile, limits=Limits(dial=DIAL))

    @property
    def registrar(self) -> GrpcRegistrar:
        return self._registrar

    @property
    def host(self) -> GrpcHost:
        return self._host

    @property
    def dial_seconds(self) -> float:
        return DIAL

    async def start_kubelet(self) -> None:
        await _beside(self.kubelet.start)

    async def stop_kubelet(self) -> None:
        await _beside(self.kubelet.stop)

    def refuse_next(self, reason: str) -> None:
        self.kubelet.faults.on_register(Refuse(reason))

    def hang_next(self) -> None:
        self.kubelet.faults.on_register(Hang())

    def put_deaf(self, endpoint: str) -> None:
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.bind(str(self.kubelet.directory / endpoint))

    def remove(self, endpoint: str) -> None:
        (self.kubelet.directory / endpoint).unlink()

    async def asked(self, count: int) -> None:
        await eventually(lambda: len(self.kubelet.history.of(RegisterAsked)) >= count)

    def options(self, resource: ResourceName) -> Options | None:
        read = self.kubelet.resource(str(resource)).options
        return None if read is None else Options(read.pre_start, read.preferred)

    async def listed(self, resource: ResourceName) -> Listing:
        await eventually(lambda: self.kubelet.resource(str(resource)).devices)
        return tuple(
            ListedDevice(DeviceId(key), Health(device.health), device.nodes or ())
            for key, device in sorted(self.kubelet.resource(str(resource)).devices.items())
        )

    async def pass_time(self, seconds: float) -> None:
        """Time passes by itself."""


async def _beside(work: Callable[[], None]) -> None:
    """Run what waits for threads of its own on a thread, so that the loop goes on answering."""
    await asyncio.get_running_loop().run_in_executor(None, work)


class _GrpcRegistrar(RegistrarContract):
    turns = MAX_CALLS
    profile: Profile

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[RegistrarWorld]:
        with TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            world = _GrpcWorld(Path(directory), self.profile)
            try:
                yield world
            finally:
                await world.stop_kubelet()


class TestWithKubelet134(_GrpcRegistrar):
    """As Kubernetes 1.34 answers."""

    profile = Profile.V1_34


class TestWithKubelet137(_GrpcRegistrar):
    """As Kubernetes 1.37 answers."""

    profile = Profile.V1_37


def _registration(endpoint: str) -> Registration:
    return Registration(
        resource=ResourceName.parse("example.com/widget"), endpoint=endpoint, options=Options()
    )


def test_what_the_kubelet_completed_without_an_answer_is_unclear(tmp_path: Path) -> None:
    """The stream may open although Register failed: the caller must not register again."""

    async def law() -> None:
        world = _GrpcWorld(tmp_path, Profile.V1_34)
        await world.start_kubelet()
        world.kubelet.faults.on_register(DropLate())
        served = await world.host.serve(ScriptedPlugin().front())
        with pytest.raises(RegistrationUnclearError, match="connection to the kubelet broke"):
            await soon(world.registrar.register(_registration(served.endpoint), BOUND))
        await eventually(lambda: world.kubelet.history.of(StreamOpened))
        await served.close()
        await world.stop_kubelet()

    run(law())


def test_a_socket_without_the_service_is_named(tmp_path: Path) -> None:
    """What answers at kubelet.sock but is no kubelet is refused with the service asked for."""

    async def law() -> None:
        host = GrpcHost(SocketDirectory(str(tmp_path)), MemoryJournal())
        served = await host.serve(ScriptedPlugin().front())
        (tmp_path / "kubelet.sock").symlink_to(served.endpoint)
        registration = _registration(served.endpoint)
        with pytest.raises(RegistrationRefusedError, match=r"v1beta1\.Registration/Register"):
            await soon(GrpcRegistrar(host.directory).register(registration, BOUND))
        await served.close()

    run(law())


def test_a_kubelet_that_looks_elsewhere_is_told_where_we_are(tmp_path: Path) -> None:
    """Only its socket is mounted here: it looks in its own directory, and we serve in ours."""

    async def law() -> None:
        for name in ("kubelet", "ours"):
            (tmp_path / name).mkdir()
        (tmp_path / "plugins").symlink_to("ours")
        world = _GrpcWorld(tmp_path / "kubelet", Profile.V1_37)
        await world.start_kubelet()
        (tmp_path / "ours" / "kubelet.sock").symlink_to(world.kubelet.socket)
        sockets = SocketDirectory(str(tmp_path / "plugins"))
        served = await GrpcHost(sockets, MemoryJournal()).serve(ScriptedPlugin().front())
        with pytest.raises(RegistrationRefusedError, match="failed to dial") as refused:
            await GrpcRegistrar(sockets).register(_registration(served.endpoint), BOUND)
        told = str(refused.value)
        assert f"looks for {served.endpoint} in its own directory" in told
        assert f"{tmp_path / 'plugins' / served.endpoint} (really in {tmp_path / 'ours'})" in told
        assert "mounted" in told
        assert "--plugin-dir" in told
        await served.close()
        await world.stop_kubelet()

    run(law())


def test_a_missing_kubelet_is_told_by_path_and_reason(tmp_path: Path) -> None:
    """No kubelet.sock, and one that nobody listens on, are different reasons."""

    async def law() -> None:
        registrar = GrpcRegistrar(SocketDirectory(str(tmp_path)))
        with pytest.raises(KubeletUnreachableError, match=r"kubelet\.sock: connect: No such file"):
            await registrar.register(_registration("p.sock"), BOUND)

    run(law())


def test_an_outage_is_no_reason_to_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel that failed backs off for a second and more; no later Register has any of it.

    Not even while such a channel is still open, as that of a Register under way is: each of ours
    has one beside it here, with the same options, that goes on dialling in vain.
    """
    opened, beside = grpc.aio.insecure_channel, list[grpc.aio.Channel]()

    def opening(target: str, options: ChannelOptions) -> grpc.aio.Channel:
        beside.append(opened(target, options=options))
        return opened(target, options=options)

    async def law() -> None:
        world = _GrpcWorld(tmp_path, Profile.V1_37)
        served = await world.host.serve(ScriptedPlugin().front())
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.bind(str(tmp_path / "kubelet.sock"))
            deaf.listen()
            hanging_up = asyncio.ensure_future(_beside(lambda: _hang_up(deaf)))
            for _ in range(3):
                with pytest.raises(RegistrationUnclearError):
                    await world.registrar.register(_registration(served.endpoint), BOUND)
            assert len(beside) == 3
            await asyncio.gather(*map(_backed_off, beside))
            deaf.shutdown(socket.SHUT_RDWR)
            await hanging_up
        await served.close()
        await world.start_kubelet()
        served = await world.host.serve(ScriptedPlugin().front())
        await world.registrar.register(_registration(served.endpoint), AT_ONCE)
        for channel in beside:
            await channel.close()
        await served.close()
        await world.stop_kubelet()

    monkeypatch.setattr(grpc.aio, "insecure_channel", opening)
    run(law())


async def _backed_off(channel: grpc.aio.Channel) -> None:
    """Let it dial, and return when it has failed and waits."""
    state = channel.get_state(try_to_connect=True)
    while state is not grpc.ChannelConnectivity.TRANSIENT_FAILURE:
        await soon(channel.wait_for_state_change(state))
        state = channel.get_state(try_to_connect=True)


def test_a_register_that_waits_for_the_dead_holds_up_no_other(tmp_path: Path) -> None:
    """The next kubelet is called on a connection of its own, though its path is the same."""

    async def law() -> None:
        world = _GrpcWorld(tmp_path, Profile.V1_37)
        loop = asyncio.get_running_loop()
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(tmp_path / "kubelet.sock"))
            dead.listen()
            dead.setblocking(False)
            first = await world.host.serve(ScriptedPlugin().front())
            register = world.registrar.register(_registration(first.endpoint), 10 * BOUND)
            waiting = asyncio.create_task(register)
            # The look whether anybody listens, and then gRPC, which gets no word in answer.
            taken = [(await soon(loop.sock_accept(dead)))[0] for _ in range(2)]
            await world.start_kubelet()
            second = await world.host.serve(ScriptedPlugin().front())
            await soon(world.registrar.register(_registration(second.endpoint), BOUND))
            assert not waiting.done()
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting
            for each in taken:
                each.close()
        await first.close()
        await second.close()
        await world.stop_kubelet()

    run(law())


def _hang_up(listener: socket.socket) -> None:
    """Take each connection and end it, until the listener is shut."""
    with suppress(OSError):
        while True:
            listener.accept()[0].close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can stop being root")
def test_a_kubelet_that_we_may_not_connect_to_is_a_matter_of_permission() -> None:
    """It is told from one that is not there: only a person can mend it."""

    async def law(place: Path) -> None:
        world = _GrpcWorld(place, Profile.V1_37)
        await world.start_kubelet()
        world.kubelet.socket.chmod(0o700)
        served = await world.host.serve(ScriptedPlugin().front())
        with nobody():
            with pytest.raises(KubeletForbiddenError, match=r"kubelet\.sock: connect: Perm"):
                await world.registrar.register(_registration(served.endpoint), BOUND)
            assert await world.registrar.reachable()  # so that it is asked to register, and told
        await world.registrar.register(_registration(served.endpoint), BOUND)
        await served.close()
        await world.stop_kubelet()

    with TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        run(law(Path(directory)))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can stop being root")
def test_a_bind_that_is_refused_is_a_matter_of_permission(tmp_path: Path) -> None:
    """Where the look at the directory finds nothing, as under SELinux, bind itself says it."""

    class Blind(SocketDirectory):
        def check(self) -> None:
            """Find nothing."""

    async def law() -> None:
        host = GrpcHost(Blind(str(tmp_path)), MemoryJournal())
        with nobody(), pytest.raises(ServingForbiddenError, match="bind: Permission denied"):
            await host.serve(ScriptedPlugin().front())
        served = await host.serve(ScriptedPlugin().front())
        await served.close()

    run(law())
    assert list(tmp_path.iterdir()) == []
