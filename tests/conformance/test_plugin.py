"""Our plugin: whatever befalls a kubelet, each resource is back, and no kubelet is harmed."""

import asyncio
import random
from functools import partial

import pytest
from tests.conformance.ours import Allocatable, Stage, running, staged
from tests.conformance.world import World
from tests.support.stage import WIDGET, Puppet, beside, remove_tree

from deviceplugin import DeviceId, DeviceInfo, DeviceNode, Health, Request
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import (
    Container,
    ContainerStartError,
    Era,
    ListReceived,
    Numa,
    NumaPolicy,
    Pod,
    PodAdmitted,
    PodRejected,
    Registered,
)

SOON = 10.0
TWO_NODES = Numa(policy=NumaPolicy.RESTRICTED, nodes=(0, 1))


async def test_what_it_finds_is_there_for_pods(world: World) -> None:
    """Capacity, allocatable, and the device nodes of the one that a pod gets."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(
            widget={
                "a": DeviceInfo(nodes=[DeviceNode("/dev/a")], envs={"A": "1"}),
                "b": DeviceInfo(health=Health.UNHEALTHY),
            }
        )
        seen = await on.lists("a")
        assert (seen.capacity, seen.allocatable) == (2, 1)
        pod = Pod.asking("p", {WIDGET: 1})
        assert (await on.admit(pod)).containers["main"].ids[WIDGET] == {"a"}
        answer = (await beside(lambda: on.kubelet.start_container(pod, "main"))).answer
        assert [node.host_path for node in answer.devices] == ["/dev/a"]
        assert answer.envs == {"A": "1"}


async def test_any_number_of_restarts_ends_listed_once(world: World) -> None:
    """At spacings from nothing to half a second, ended by either signal."""
    chance = random.Random(11)  # noqa: S311 - a test's course, no secret
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="a b c")
        await on.lists("a", "b", "c")
        for gap in (0.0, *(chance.random() ** 2 / 2 for _ in range(18)), 0.0):
            await beside(partial(on.kubelet.restart, gap))
            await on.lists("a", "b", "c")
        await beside(on.kubelet.stop)
        await beside(on.kubelet.start)
        await on.lists("a", "b", "c")
        assert len(on.kubelet.history.of(Registered)) == 22


async def test_restarts_faster_than_registration_end_listed_once(world: World) -> None:
    """Five in a row without a look at us."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        for _ in range(4):
            for _ in range(5):
                await beside(on.kubelet.restart)
            await on.lists("a")


async def test_a_cut_stream_alone_brings_a_new_registration(world: World) -> None:
    """No file changes, the kubelet lives."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        for count in range(2, 6):
            await beside(lambda: on.kubelet.cut_stream(WIDGET))
            await on.registered(count)
            await on.lists("a", "b")
        assert len(on.kubelet.history.of(Registered)) == 5


async def test_a_removed_socket_brings_a_new_one(world: World) -> None:
    """Under another name: that of before is lost to some kubelets."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        for count in range(2, 5):
            (socket,) = on.sockets()
            await beside(socket.unlink)
            await on.registered(count)
            await on.lists("a")
            assert socket not in on.sockets()


async def test_a_kubelet_that_comes_late_finds_it_waiting(world: World) -> None:
    """And one that goes for a while."""
    kubelet = world.kubelet(start=False)
    async with staged(kubelet) as on:
        on.puppet.show(widget="a")
        await on.puppet.seen()
        await beside(kubelet.start)
        await on.lists("a")
        await beside(lambda: kubelet.restart(0.5))
        await on.lists("a")


async def test_a_directory_that_is_replaced_is_followed(world: World) -> None:
    """Removed with our live socket in it and made again by a new kubelet."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        await beside(on.kubelet.stop)
        await beside(lambda: remove_tree(world.directory))
        await beside(on.kubelet.start)
        await on.lists("a")


async def test_an_update_beside_the_old_one(world: World) -> None:
    """From 1.37 there is no moment without devices; before, they are back after the limit.

    Before 1.37 the end of the old stream cuts the new one, and the end of that one cuts whoever
    has registered by then, maybe before its list was asked for. So a plugin that is quick waits
    out the limit for a stream once: two seconds, if it is not told otherwise.
    """
    kubelet, quick = world.kubelet(), Timing(stream=1.0)
    by_socket = world.profile.era is Era.BY_SOCKET
    async with staged(kubelet) as old:
        old.puppet.show(widget="a b")
        await old.lists("a", "b")
        async with Allocatable(kubelet) as watch, running(kubelet, timing=quick) as new:
            new.puppet.show(widget="a b")
            await old.sees(lambda seen: seen.streams == 2)
            if by_socket:
                await old.sees(lambda _: len(kubelet.history.of(ListReceived)) >= 2)
            await old.stop()
            await old.lists("a", "b")
            await asyncio.sleep(0.5)
            assert (await old.lists("a", "b")).allocatable == 2
            seen = await watch.seen()
        lists = [each.devices for each in kubelet.history.of(ListReceived)]
    if by_socket:
        assert seen == {2}
        assert lists == [2, 2]


async def test_a_hundred_resources_are_all_back(world: World) -> None:
    """Each with one stream."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(**{f"r{number}": "a" for number in range(100)})
        for _ in range(2):
            for number in range(100):
                await on.lists("a", resource=f"example.com/r{number}")
            await beside(on.kubelet.restart)
        for number in range(100):
            await on.lists("a", resource=f"example.com/r{number}")


async def test_pods_live_through_all_of_it(world: World) -> None:
    """What they hold is theirs when the kubelet, the plugin, or both have started anew."""
    kubelet = world.kubelet()
    pod = Pod.asking("p", {WIDGET: 1})
    held = frozenset[str]()
    for number in range(3):
        async with staged(kubelet) as on:
            on.puppet.show(widget="a b")
            await on.lists("a", "b")
            given = (await on.admit(pod)).containers["main"].ids[WIDGET]
            assert given == (held or given)
            held = given
            await beside(kubelet.restart)
            await on.lists("a", "b")
            other = Pod.asking(f"q{number}", {WIDGET: 1})
            assert (await on.admit(other)).containers["main"].ids[WIDGET] == {"a", "b"} - held
            await beside(partial(kubelet.remove, other))
        await beside(
            lambda: kubelet.await_resource(
                WIDGET, lambda seen: (seen.streams, seen.allocatable) == (0, 0)
            )
        )


async def test_a_device_falls_ill_and_recovers(world: World) -> None:
    """On one stream; a pod cannot have it meanwhile."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        for _ in range(3):
            on.puppet.show(widget={"a": DeviceInfo(), "b": DeviceInfo(health=Health.UNHEALTHY)})
            assert (await on.lists("a")).capacity == 2
            verdict = await beside(lambda: on.kubelet.admit(Pod.asking("p", {WIDGET: 2})))
            assert isinstance(verdict, PodRejected)
            on.puppet.show(widget="a b")
            await on.lists("a", "b")
        assert len(on.kubelet.history.of(Registered)) == 1


async def test_a_vanished_device_is_never_dropped(world: World) -> None:
    """A held one that a kubelet misses can crash it at each start: it stays, as unhealthy."""
    async with staged(world.kubelet(numa=TWO_NODES)) as on:
        x, y = DeviceInfo(numa_nodes=[0]), DeviceInfo(numa_nodes=[1])
        on.puppet.show(widget={"x": x})
        await on.lists("x")
        pod = Pod.asking("p", {WIDGET: 1})
        await on.admit(pod)
        on.puppet.show(widget={"y": y})
        assert (await on.lists("y")).capacity == 2
        for _ in range(3):
            await beside(on.kubelet.restart)
            assert (await on.lists("y")).capacity == 2
            verdict = await beside(lambda: on.kubelet.admit(pod))
            assert isinstance(verdict, PodRejected)
            assert "previously allocated devices are no longer healthy" in verdict.message
        assert isinstance(await on.admit(Pod.asking("q", {WIDGET: 1})), PodAdmitted)


async def test_a_resource_that_goes_and_comes(world: World) -> None:
    """Its devices are unhealthy meanwhile; the others never notice."""
    gadget = "example.com/gadget"
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="a", gadget="g")
        await on.lists("a")
        await on.lists("g", resource=gadget)
        on.puppet.show(widget="a")
        await on.sees(lambda seen: seen.streams == 0 and seen.allocatable == 0, gadget)
        on.puppet.show(widget="a", gadget="g")
        await on.lists("g", resource=gadget)
        assert len(on.kubelet.history.of(Registered, WIDGET)) == 1


async def test_a_resource_without_devices_is_filled_later(world: World) -> None:
    """Without a new registration."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget="")
        seen = await on.sees(lambda seen: seen.known and seen.streams == 1)
        assert (seen.capacity, seen.allocatable) == (0, 0)
        on.puppet.show(widget="a")
        await on.lists("a")
        assert len(on.kubelet.history.of(Registered)) == 1


@pytest.mark.parametrize("size", [1, 3])
async def test_an_init_container_hands_its_devices_on(world: World, size: int) -> None:
    """A second Allocate for the same ids is no error."""
    async with staged(world.kubelet()) as on:
        on.puppet.show(widget={name: DeviceInfo(envs={name: "1"}) for name in "abc"})
        await on.lists("a", "b", "c")
        containers = [Container("init", {WIDGET: 1}, init=True), Container("main", {WIDGET: size})]
        pod = Pod("p", containers)
        given = (await on.admit(pod)).containers
        assert given["init"].ids[WIDGET] <= given["main"].ids[WIDGET]
        answer = (await beside(lambda: on.kubelet.start_container(pod, "main"))).answer
        assert set(answer.envs) == given["main"].ids[WIDGET]


async def test_a_container_does_not_start_again_on_the_path_that_its_device_has_left(
    world: World,
) -> None:
    """The kubelet makes it of what it was given: it is told which id is where now, and waits."""

    class Author(Puppet):
        def pre_start_container(self, request: Request) -> None:
            del request

    def at(path: str) -> DeviceInfo:
        return DeviceInfo(nodes=[DeviceNode(path)])

    async with staged(world.kubelet(), Author()) as on:
        on.puppet.show(widget={"a": at("/dev/ttyUSB0")})
        await on.lists("a")
        pod, newer = (Pod.asking(name, {WIDGET: 1}) for name in ("p", "q"))
        await on.admit(pod)
        await beside(lambda: on.kubelet.start_container(pod, "main"))
        # A list does not show nodes: that there is another device tells that it is the newer one.
        ill = DeviceInfo(health=Health.UNHEALTHY)
        on.puppet.show(widget={"a": at("/dev/ttyUSB1"), "b": ill})
        await on.sees(lambda seen: seen.capacity == 2)
        moved = "a was given as /dev/ttyUSB0 and is /dev/ttyUSB1 now"
        with pytest.raises(ContainerStartError, match=moved):
            await beside(lambda: on.kubelet.start_container(pod, "main"))
        on.kubelet.remove(pod)
        await on.admit(newer)
        answer = (await beside(lambda: on.kubelet.start_container(newer, "main"))).answer
        assert [node.host_path for node in answer.devices] == ["/dev/ttyUSB1"]


async def test_a_preference_that_breaks_costs_no_pod_and_no_device(world: World) -> None:
    """An error would fail the pod, and keep what the kubelet had set aside until it restarts."""

    class Author(Puppet):
        def preferred_allocation(self, *_: object) -> list[DeviceId]:
            raise RuntimeError("no links between devices")

    async with staged(world.kubelet(), Author()) as on:
        on.puppet.show(widget="a b c")
        await on.lists("a", "b", "c")
        pods = [Pod.asking(name, {WIDGET: 1}) for name in "pqr"]
        held = {key for pod in pods for key in await _given(on, pod)}
        assert held == {"a", "b", "c"}


async def _given(on: Stage, pod: Pod) -> set[str]:
    return set((await on.admit(pod)).containers["main"].ids[WIDGET])
