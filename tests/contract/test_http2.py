"""What is on the wire between a kubelet and us, seen by peers that are not gRPC's own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import grpc.aio
import pytest
from h2.errors import ErrorCodes
from h2.events import ConnectionTerminated, Event, PingAckReceived
from tests.support.http2 import (
    ConnectionOverError,
    Link,
    dialled,
    framed,
    listening,
    received,
    status,
)

from deviceplugin.adapters.kubelet import host
from deviceplugin.adapters.kubelet.host import GrpcHost
from deviceplugin.adapters.kubelet.registrar import GrpcRegistrar
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.adapters.kubelet.translate import from_listing, from_options
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.errors import RegistrationUnclearError
from deviceplugin.domain.ports.driven.kubelet import Registration
from deviceplugin.domain.ports.driving.device_plugin import Options
from deviceplugin.testing.contracts.scripted import ScriptedPlugin, listing
from deviceplugin.testing.kubelet import FakeKubelet

GET_OPTIONS: Final = "/v1beta1.DevicePlugin/GetDevicePluginOptions"
LIST_AND_WATCH: Final = "/v1beta1.DevicePlugin/ListAndWatch"
PINGS: Final = 60

JOURNAL = MemoryJournal()


@asynccontextmanager
async def served(plugin: ScriptedPlugin, directory: Path) -> AsyncGenerator[Link]:
    """Serve a plugin, and dial it."""
    incarnation = await GrpcHost(SocketDirectory(str(directory)), JOURNAL).serve(plugin.front())
    try:
        async with dialled(directory / incarnation.endpoint) as link:
            yield link
    finally:
        await incarnation.close()


def registering(directory: Path) -> Callable[[], Coroutine[None, None, None]]:
    """Return what registers, each time with the same registrar."""
    registration = Registration(
        resource=ScriptedPlugin().resource, endpoint="p.sock", options=Options()
    )
    (directory / registration.endpoint).touch()
    registrar = GrpcRegistrar(SocketDirectory(str(directory)))
    return partial(registrar.register, registration, 10.0)


async def register(directory: Path) -> None:
    await registering(directory)()


async def test_register_says_localhost(tmp_path: Path) -> None:
    """Strict servers reject the percent-encoded path that gRPC says by itself."""
    async with listening(tmp_path / "kubelet.sock") as calls:
        await register(tmp_path)
    (headers,) = calls
    assert headers[":path"] == "/v1beta1.Registration/Register"
    assert headers[":authority"] == "localhost"


@pytest.mark.parametrize(
    "code",
    [ErrorCodes.REFUSED_STREAM, ErrorCodes.INTERNAL_ERROR, ErrorCodes.CANCEL],
    ids=lambda code: code.name,
)
async def test_a_register_that_is_cut_off_is_unclear_and_never_sent_again(
    code: ErrorCodes, tmp_path: Path
) -> None:
    """A kubelet may have gone on; when it refuses, it says so in an answer of its own."""
    async with listening(tmp_path / "kubelet.sock", reset=code) as calls:
        with pytest.raises(RegistrationUnclearError):
            await register(tmp_path)
    assert len(calls) == 1


async def test_registers_at_one_time_need_one_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that come later need another: it is closed when nobody uses it."""
    opened: list[str] = []
    open_channel = grpc.aio.insecure_channel

    def counted(target: str, options: Sequence[tuple[str, object]]) -> grpc.aio.Channel:
        opened.append(target)
        return open_channel(target, options=options)

    monkeypatch.setattr(grpc.aio, "insecure_channel", counted)
    again = registering(tmp_path)
    async with listening(tmp_path / "kubelet.sock") as calls:
        for times in (1, 2):
            await asyncio.gather(*(again() for _ in range(20)))
            assert (len(calls), len(opened)) == (20 * times, times)


async def test_the_fake_kubelet_says_localhost(tmp_path: Path) -> None:
    """As a plugin in Go wants to hear it: it rejects calls without an authority."""
    kubelet = FakeKubelet(tmp_path)
    loop = asyncio.get_running_loop()
    await loop.run_in_executor(None, kubelet.start)
    try:
        async with listening(tmp_path / "p.sock") as calls:
            await register(tmp_path)
    finally:
        await loop.run_in_executor(None, kubelet.stop)
    assert {headers[":authority"] for headers in calls} == {"localhost"}


@pytest.mark.parametrize(
    "authority",
    [
        "localhost",
        "/var/lib/kubelet/device-plugins/p.sock",
        "%2Fvar%2Flib%2Fkubelet%2Fdevice-plugins%2Fp.sock",
        "",
    ],
)
async def test_we_answer_whatever_authority_we_are_called_by(
    authority: str, tmp_path: Path
) -> None:
    """Kubelets say localhost, older ones the socket's path, some clients encode it or say none."""
    plugin = ScriptedPlugin()
    async with served(plugin, tmp_path) as link:
        stream = link.call(GET_OPTIONS, authority)
        assert await link.until(lambda events: status(stream, events)) == "0"
        answer = from_options(plugin.front().options).SerializeToString()
        assert received(stream, link.events) == framed(answer)


async def test_any_number_of_pings_leaves_an_idle_stream_open(tmp_path: Path) -> None:
    """A client that pings a quiet list gets an answer to each, and then the next list."""
    plugin = ScriptedPlugin()
    async with served(plugin, tmp_path) as link:
        stream = await _pinged(link)
        first = received(stream, link.events)
        plugin.show(listing("c"))
        await link.until(lambda events: received(stream, events) != first)
        assert received(stream, link.events) == first + framed(
            from_listing(listing("c")).SerializeToString()
        )
        assert not any(isinstance(each, ConnectionTerminated) for each in link.events)


async def test_gRPC_by_itself_ends_a_connection_that_pings(  # noqa: N802 - its name
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So an option of ours is what keeps it; when this fails, that option may go."""
    monkeypatch.setattr(host, "_OPTIONS", ())
    async with served(ScriptedPlugin(), tmp_path) as link:
        with pytest.raises((ConnectionOverError, ConnectionError)):
            await _pinged(link)


async def _pinged(link: Link) -> int:
    """Open the list and send pings without a pause; return the stream when each is answered."""
    stream = link.call(LIST_AND_WATCH, "localhost")
    await link.until(lambda events: received(stream, events))
    for number in range(PINGS):
        link.ping(number)
    await link.until(lambda events: _answers(events) == PINGS)
    return stream


def _answers(events: Sequence[Event]) -> int:
    return sum(isinstance(each, PingAckReceived) for each in events)
