"""The gRPC host obeys the laws of `Host`, seen by a gRPC client that dials its sockets."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import grpc
import grpc.aio
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.support.grpc_world import GrpcWorld
from tests.support.nobody import sealed

from deviceplugin.adapters.kubelet.host import GrpcHost
from deviceplugin.adapters.kubelet.registry import PluginsRegistry
from deviceplugin.adapters.kubelet.sockets import MAX_PATH, SocketDirectory
from deviceplugin.adapters.kubelet.translate import from_listing
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.prefer_devices import PreferByPolicy
from deviceplugin.domain.allocation import Grant
from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.errors import ServingError
from deviceplugin.domain.events import ListTooLarge
from deviceplugin.domain.inventory import Inventory, ListedDevice, Listing
from deviceplugin.domain.leftover_events import FileLeft
from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.domain.preference import Wish, packed
from deviceplugin.domain.room import MAX_LIST_BYTES
from deviceplugin.domain.tree import Devices
from deviceplugin.testing.contracts.host import HostContract
from deviceplugin.testing.contracts.host_world import HostWorld
from deviceplugin.testing.contracts.law import soon
from deviceplugin.testing.contracts.scripted import ScriptedPlugin, listing
from deviceplugin.testing.loop import run

JOURNAL = MemoryJournal()


class TestGrpcHost(HostContract):
    """Over gRPC on real sockets."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[HostWorld]:
        with TemporaryDirectory(ignore_cleanup_errors=True) as directory:
            yield GrpcWorld(Path(directory))


@pytest.mark.parametrize(
    "authority", ["localhost", "/var/lib/kubelet/p.sock", "var%2Flib%2Fp.sock"]
)
def test_any_authority_is_answered(authority: str, tmp_path: Path) -> None:
    """Kubelets say localhost, older ones their socket's path, some clients encode it."""

    async def law() -> None:
        served = await GrpcHost(SocketDirectory(str(tmp_path)), JOURNAL).serve(
            ScriptedPlugin().front()
        )
        target, options = (
            f"unix:{tmp_path / served.endpoint}",
            [("grpc.default_authority", authority)],
        )
        async with grpc.aio.insecure_channel(target, options=options) as channel:
            await DevicePluginStub(channel).GetDevicePluginOptions(wire.Empty())
        await served.close()

    run(law())


@pytest.mark.parametrize("kind", [GrpcHost, PluginsRegistry])
def test_what_may_not_be_removed_is_told_by_path_and_call_and_ends_no_plugin(
    kind: type[GrpcHost | PluginsRegistry], tmp_path: Path
) -> None:
    """The server keeps it to itself; a file that stays is one that a kubelet may meet."""
    journal = MemoryJournal()

    async def law() -> None:
        served = await kind(SocketDirectory(str(tmp_path)), journal).serve(
            ScriptedPlugin().front()
        )
        with sealed(tmp_path):
            await served.close()

    run(law())
    told = journal.of(FileLeft)
    assert {each.path for each in told} == {str(path) for path in tmp_path.iterdir()}
    assert len(told) == (1 if kind is GrpcHost else 2)
    for each in told:
        assert each.reason.startswith("unlink: Permission denied (uid ")
        assert "securityContext.runAsUser: 0" in each.reason


@pytest.mark.parametrize("kind", [GrpcHost, PluginsRegistry])
def test_a_directory_that_is_gone_leaves_nothing_to_tell(
    kind: type[GrpcHost | PluginsRegistry], tmp_path: Path
) -> None:
    """Nor does a file in its place."""
    journal = MemoryJournal()

    async def law(place: Path, leave: Callable[[], None]) -> None:
        served = await kind(SocketDirectory(str(place)), journal).serve(ScriptedPlugin().front())
        shutil.rmtree(place)
        leave()
        await served.close()

    place = tmp_path / "plugins"
    for leave in (place.mkdir, place.touch):
        place.mkdir(exist_ok=True)
        run(law(place, leave))
        assert journal.of(FileLeft) == ()


def test_a_server_that_could_not_start_leaves_nothing(tmp_path: Path) -> None:
    """Cancelled or failed half-way, neither a socket nor a server stays behind."""

    class Vanishing(GrpcHost):
        def _identity(self, name: str) -> FileIdentity:
            raise RuntimeError(name)

    async def law() -> None:
        with pytest.raises(RuntimeError):
            await Vanishing(SocketDirectory(str(tmp_path)), JOURNAL).serve(
                ScriptedPlugin().front()
            )

    run(law())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("turns", range(6))
def test_a_start_that_is_cancelled_leaves_nothing(turns: int, tmp_path: Path) -> None:
    """At whatever moment: a kubelet that restarts at once cancels many starts."""

    async def law() -> None:
        host = GrpcHost(SocketDirectory(str(tmp_path)), JOURNAL)
        serving = asyncio.ensure_future(host.serve(ScriptedPlugin().front()))
        for _ in range(turns):
            await asyncio.sleep(0)
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await (await serving).close()

    run(law())
    assert list(tmp_path.iterdir()) == []


def test_a_hundred_streams_leave_room_for_calls(tmp_path: Path) -> None:
    """No number of open streams, dead ones included, keeps an Allocate waiting."""

    async def law() -> None:
        plugin = ScriptedPlugin()
        world = GrpcWorld(tmp_path)
        served = await world.host.serve(plugin.front())
        streams = [world.listings(served.endpoint) for _ in range(100)]
        for stream in streams:
            assert await anext(stream) == listing("a", "b")
        assert await world.allocate(served.endpoint, [DeviceId("a")]) == Grant()
        for stream in streams:
            await stream.aclose()
        await served.close()

    run(law())


def test_beside_open_streams_each_call_is_answered_within_a_tenth_of_a_second(
    tmp_path: Path,
) -> None:
    """Allocate, GetPreferredAllocation, PreStartContainer. Of a few rounds the best counts."""

    async def law() -> None:
        plugin, wanted = ScriptedPlugin(), [DeviceId("a")]
        world = GrpcWorld(tmp_path)
        served = await world.host.serve(plugin.front())
        streams = [world.listings(served.endpoint) for _ in range(4)]
        for stream in streams:
            assert await anext(stream) == listing("a", "b")
        wish = Wish(available=(DeviceId("a"), DeviceId("b")), size=1)
        rounds = list[float]()
        for _ in range(3):
            calls = (
                lambda: world.allocate(served.endpoint, wanted),
                lambda: world.prefer(served.endpoint, wish),
                lambda: world.prepare(served.endpoint, wanted),
            )
            taken = list[float]()
            for call in calls:
                begin = time.monotonic()
                await soon(call())
                taken.append(time.monotonic() - begin)
            rounds.append(max(taken))
        assert min(rounds) < 0.1, rounds
        for stream in streams:
            await stream.aclose()
        await served.close()

    run(law())


async def test_a_wish_about_ids_that_cannot_be_ours_has_no_preference(tmp_path: Path) -> None:
    """Another plugin may have left them with the kubelet; an error would fail the pod."""
    served = await GrpcHost(SocketDirectory(str(tmp_path)), JOURNAL).serve(
        ScriptedPlugin().front()
    )
    container = wire.ContainerPreferredAllocationRequest(
        available_deviceIDs=["a", "x" * 64], allocation_size=1
    )
    async with grpc.aio.insecure_channel(f"unix:{tmp_path / served.endpoint}") as channel:
        answer = await DevicePluginStub(channel).GetPreferredAllocation(
            wire.PreferredAllocationRequest(container_requests=[container])
        )
    await served.close()
    assert [list(each.deviceIDs) for each in answer.container_responses] == [[]]


MAD = st.builds(
    wire.ContainerPreferredAllocationRequest,
    available_deviceIDs=st.lists(st.sampled_from(["a", "b", "c", "d"]) | st.text(max_size=70)),
    must_include_deviceIDs=st.lists(st.sampled_from(["a", "b"]) | st.text(max_size=70)),
    allocation_size=st.integers(-(2**31), 2**31 - 1) | st.integers(0, 4),
)
SENSIBLE = st.builds(
    wire.ContainerPreferredAllocationRequest,
    available_deviceIDs=st.permutations("abcd"),
    must_include_deviceIDs=st.sampled_from(["", "a", "d"]),
    allocation_size=st.integers(2, 3),
)


@pytest.mark.parametrize("raises", [False, True])
# Without shrinking: what is wrong with any wish would be made smaller a server at a time.
@settings(max_examples=25, deadline=None, phases=[Phase.reuse, Phase.generate])
@given(sensible=SENSIBLE, others=st.lists(MAD, max_size=3))
def test_whatever_is_wished_for_has_an_answer_and_never_an_error(
    raises: bool,  # noqa: FBT001
    sensible: wire.ContainerPreferredAllocationRequest,
    others: list[wire.ContainerPreferredAllocationRequest],
) -> None:
    """An error would fail the pod and leak its devices; no preference leaves the kubelet free.

    So it is whether the policy works or not, one answer for each container; a wish that has
    sense is met if it works.
    """

    def policy(wish: Wish, devices: Devices) -> tuple[DeviceId, ...]:
        if raises:
            raise RuntimeError("no links between devices")
        return packed(wish, devices)

    wishes = [sensible, *others]
    board = Board(Inventory().observe(dict.fromkeys(map(DeviceId, "abcd"), DeviceInfo())))
    front = ScriptedPlugin().front()
    prefers = PreferByPolicy(
        resource=front.resource, board=board, journal=MemoryJournal(), policy=policy
    )

    async def law() -> None:
        with TemporaryDirectory() as place:
            sockets = SocketDirectory(place)
            served = await GrpcHost(sockets, JOURNAL).serve(
                attrs.evolve(front, preference=prefers)
            )
            async with grpc.aio.insecure_channel(sockets.target(served.endpoint)) as channel:
                answer = await DevicePluginStub(channel).GetPreferredAllocation(
                    wire.PreferredAllocationRequest(container_requests=wishes)
                )
            await served.close()
        assert len(answer.container_responses) == len(wishes)
        assert bool(answer.container_responses[0].deviceIDs) is not raises
        for wish, each in zip(wishes, answer.container_responses, strict=True):
            ids = list(each.deviceIDs)
            assert not ids or (
                len(set(ids)) == len(ids) == wish.allocation_size
                and set(wish.must_include_deviceIDs) <= set(ids) <= set(wish.available_deviceIDs)
            )

    run(law())


@pytest.mark.parametrize("spare", [0, 1, 2])
def test_the_longest_path_that_linux_takes_is_served_and_dialled(spare: int) -> None:
    """GRPC counts what stands before it as well if a target begins with `unix://`."""
    name = len(SocketDirectory.new_name(ScriptedPlugin().resource))

    async def law(place: Path) -> None:
        directory = place / ("x" * (MAX_PATH - spare - name - len(str(place)) - 2))
        directory.mkdir()
        sockets = SocketDirectory(str(directory))
        served = await GrpcHost(sockets, JOURNAL).serve(ScriptedPlugin().front())
        assert len(str(sockets.file(served.endpoint))) == MAX_PATH - spare
        async with grpc.aio.insecure_channel(sockets.target(served.endpoint)) as channel:
            await DevicePluginStub(channel).GetDevicePluginOptions(wire.Empty())
        await served.close()

    with TemporaryDirectory() as place:
        run(law(Path(place)))


def test_a_bind_that_grpc_answers_with_no_port_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So older ones said that it failed; newer ones raise."""
    real = grpc.aio.server

    def quiet(**options: Any) -> grpc.aio.Server:  # noqa: ANN401 - as gRPC's own
        server = real(**options)
        monkeypatch.setattr(server, "add_insecure_port", _no_port)
        return server

    monkeypatch.setattr(grpc.aio, "server", quiet)

    async def law() -> None:
        with pytest.raises(ServingError, match=": bind: "):
            await GrpcHost(SocketDirectory(str(tmp_path)), JOURNAL).serve(ScriptedPlugin().front())

    run(law())
    assert list(tmp_path.iterdir()) == []


def _no_port(target: str) -> int:
    del target
    return 0


def _long_list(size: int) -> Listing:
    """Return a list whose message has `size` bytes."""
    devices = [ListedDevice(DeviceId(f"{n:063}"), Health.HEALTHY) for n in range(size // 76)]
    lack = size - from_listing(tuple(devices)).ByteSize()
    assert 0 <= lack < 76
    devices[0] = ListedDevice(DeviceId("x" * (63 - (76 - lack) if lack else 63)), Health.HEALTHY)
    if lack:
        devices.append(ListedDevice(DeviceId("y" * 63), Health.HEALTHY))
    assert from_listing(tuple(devices)).ByteSize() == size
    return tuple(devices)


async def test_a_first_list_that_no_kubelet_takes_is_told_and_the_next_is_awaited(
    tmp_path: Path,
) -> None:
    """Nothing is cut off it: a kubelet would take what is left for all there is."""
    plugin, journal = ScriptedPlugin(), MemoryJournal()
    world = GrpcWorld(tmp_path, journal)
    plugin.show(_long_list(MAX_LIST_BYTES + 1))
    served = await world.host.serve(plugin.front())
    async with aclosing(world.listings(served.endpoint)) as listings:
        first = asyncio.ensure_future(anext(listings))
        await journal.next(ListTooLarge)
        assert not first.done()
        plugin.show(listing("a"))
        assert await first == listing("a")
    await served.close()
    assert len(journal.of(ListTooLarge)) == 1


async def test_a_list_that_no_kubelet_takes_is_not_sent_and_the_stream_lives(
    tmp_path: Path,
) -> None:
    """Else the stream would end, and we would register again for ever."""
    plugin, journal = ScriptedPlugin(), MemoryJournal()
    world = GrpcWorld(tmp_path, journal)
    served = await world.host.serve(plugin.front())
    async with aclosing(world.listings(served.endpoint)) as listings:
        assert await anext(listings) == listing("a", "b")
        longest = _long_list(MAX_LIST_BYTES)
        for sent in (longest, listing("c")):
            plugin.show(_long_list(MAX_LIST_BYTES + 1))
            await journal.next(ListTooLarge)
            plugin.show(sent)
            assert await anext(listings) == sent
    await served.close()
    first, _ = journal.of(ListTooLarge)
    assert (first.resource, first.size, first.bound) == (
        plugin.resource,
        4_194_305,
        4_194_304,
    )
    assert "several resource types" in first.reason
