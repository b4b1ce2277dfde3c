"""What the kubelet is told of devices, and what never disturbs it."""

import asyncio

import grpc.aio
from tests.support.stage import WIDGET, Raise, beside

from deviceplugin import DeviceInfo, Health
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub
from deviceplugin.domain.events import ScanFailed, ScanRecovered
from deviceplugin.testing.kubelet import ListReceived

SICK = DeviceInfo(health=Health.UNHEALTHY)
SICK_UNLESS = {"a": {"b": SICK}, "a b": {}}


async def test_changes_made_while_nobody_listens_arrive_as_one_list(stage: Raise) -> None:
    """A thousand scans without a stream block nothing; the first list is the newest."""
    async with stage(start=False) as on:
        for count in range(1000):
            on.puppet.show(widget=f"d{count}")
        on.puppet.show(widget="last")
        await on.puppet.seen()
        await beside(on.kubelet.start)
        await on.lists("last")
        assert len(on.kubelet.history.of(ListReceived)) == 1


async def test_a_scan_that_fails_changes_nothing(stage: Raise) -> None:
    """The stream stays, the last list stays, the error is recorded; a later scan goes on."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        on.puppet.fail(PermissionError("/sys is locked"))
        await on.journal.next(ScanFailed)
        seen = on.kubelet.resource(WIDGET)
        assert (seen.streams, seen.allocatable) == (1, 2)
        on.puppet.show(widget="a b c")
        await on.lists("a", "b", "c")
        assert len(on.journal.of(ScanRecovered)) == 1
        assert on.registrations() == 1


async def test_a_device_falls_ill_and_recovers_under_its_id(stage: Raise) -> None:
    """Unhealthy and Healthy again are told on the same stream."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        for _ in range(3):
            on.puppet.show(widget={"a": DeviceInfo(), "b": SICK})
            seen = await on.lists("a")
            assert seen.capacity == 2
            on.puppet.show(widget="a b")
            await on.lists("a", "b")
        assert on.registrations() == 1


async def test_a_device_that_flaps_ends_as_it_is(stage: Raise) -> None:
    """However fast it changes: what was seen last is what the kubelet has, on one stream."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        for last in ("a", "a b"):
            for _ in range(100):
                on.puppet.show(widget={"a": DeviceInfo(), "b": SICK})
                on.puppet.show(widget="a b")
            on.puppet.show(widget={key: DeviceInfo() for key in last.split()} | SICK_UNLESS[last])
            await on.puppet.seen()
            await on.lists(*last.split())
        assert on.registrations() == 1


async def test_a_vanished_device_stays_listed_as_unhealthy(stage: Raise) -> None:
    """A container may hold it, and a kubelet that misses a held id can crash at each start."""
    async with stage() as on:
        on.puppet.show(widget={"a": DeviceInfo(numa_nodes=[0]), "b": DeviceInfo(numa_nodes=[1])})
        await on.lists("a", "b")
        on.puppet.show(widget={"b": DeviceInfo(numa_nodes=[1])})
        seen = await on.lists("b")
        assert (seen.capacity, seen.devices["a"].nodes) == (2, (0,))
        await beside(on.kubelet.restart)
        seen = await on.lists("b")
        assert set(seen.devices) == {"a", "b"}


async def test_a_resource_without_devices_is_served_and_filled_later(stage: Raise) -> None:
    """An empty list is a list; a device that comes is told without a new registration."""
    async with stage() as on:
        on.puppet.show(widget="")
        seen = await on.sees(lambda seen: seen.known and seen.streams == 1)
        assert (seen.capacity, seen.allocatable) == (0, 0)
        on.puppet.show(widget="a")
        await on.lists("a")
        assert on.registrations() == 1


async def test_a_resource_that_goes_says_so_before_it_closes(stage: Raise) -> None:
    """Its last list is all Unhealthy, the others keep their stream; it may come back."""
    gadget = "example.com/gadget"
    async with stage() as on:
        on.puppet.show(widget="a", gadget="g")
        await on.lists("a")
        await on.lists("g", resource=gadget)
        on.puppet.show(widget="a")
        seen = await on.sees(lambda seen: seen.streams == 0, gadget)
        assert [device.healthy for device in seen.devices.values()] == [False]
        assert on.kubelet.history.of(ListReceived)[-1].devices == 1
        on.puppet.show(widget="a", gadget="h")
        seen = await on.lists("h", resource=gadget)
        assert set(seen.devices) == {"g", "h"}
        assert on.registrations() == 1


async def test_the_end_of_a_plugin_has_no_last_word(stage: Raise) -> None:
    """A rolling update must not make the resource flap: the stream just ends."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        lists = len(on.kubelet.history.of(ListReceived))
        on.manager.stop()
        await on.serving
        assert len(on.kubelet.history.of(ListReceived)) == lists


async def test_equal_lists_are_not_sent_again(stage: Raise) -> None:
    """Each list costs the kubelet a write to disk: scans that find the same say nothing."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        for _ in range(50):
            on.puppet.show(widget="b a")
        on.puppet.show(widget="a b c")
        await on.lists("a", "b", "c")
        assert len(on.kubelet.history.of(ListReceived)) == 2


async def test_a_scan_that_returns_ends_the_plugin(stage: Raise) -> None:
    """Its sockets are gone when `serve` returns."""
    async with stage() as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        on.puppet.end()
        await asyncio.wait_for(on.serving, 2)
        assert on.sockets() == []


async def test_a_person_who_looks_at_the_lists_does_not_hide_the_end_of_the_kubelets_stream(
    stage: Raise,
) -> None:
    """Such as with grpcurl, left open: it is another stream of the same server."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        (socket,) = on.sockets()
        async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            look = DevicePluginStub(channel).ListAndWatch(wire.Empty())
            await look.read()
            await beside(lambda: on.kubelet.cut_stream(WIDGET))
            await on.renewed(socket.name)
            await on.lists("a", "b")
            assert on.registrations() == 2
