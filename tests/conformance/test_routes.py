"""Our plugin by each way to the kubelet, and instances of it that come and go."""

from functools import partial

import pytest
from tests.conformance.kubelets import Kubelet
from tests.conformance.ours import Stage, running, staged
from tests.conformance.world import World
from tests.support.stage import WIDGET, beside

from deviceplugin import DeviceInfo, DeviceNode
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import Pod, RegisterAsked

IMPATIENT = Timing(patience=0.5)
WATCHFUL = Timing(settle=0.1, succession=0.5)
"""Knows soon that an instance which came after it has gone for good."""

each_way = pytest.mark.parametrize("registration", ["watcher", "auto"])
each_single_way = pytest.mark.parametrize("registration", ["register", "watcher"])


def asked(kubelet: Kubelet) -> int:
    """How often the kubelet was sent a Register."""
    return len(kubelet.history.of(RegisterAsked))


async def gets(stage: Stage, path: str) -> None:
    """See that a pod is given the only device, by a plugin that answers."""
    pod = Pod.asking("p", {WIDGET: 1})
    await stage.admit(pod)
    answer = (await beside(lambda: stage.kubelet.start_container(pod, "main"))).answer
    assert [node.host_path for node in answer.devices] == [path]
    await beside(partial(stage.kubelet.remove, pod))


@each_way
async def test_what_it_finds_is_there_for_pods_and_the_way_is_the_one_that_was_asked_for(
    world: World, registration: str
) -> None:
    """A watcher never sends Register; auto does, and puts nothing where a watcher looks."""
    async with staged(world.kubelet(), registration=registration) as on:
        on.puppet.show(widget={"a": DeviceInfo(nodes=[DeviceNode("/dev/a")])})
        await on.lists("a")
        await gets(on, "/dev/a")
        (socket,) = on.sockets()
        found = registration == "watcher"
        assert socket.parent.name == ("plugins_registry" if found else "device-plugins")
        assert asked(on.kubelet) == (0 if found else 1)


@each_way
async def test_a_kubelet_that_restarts_has_it_again(world: World, registration: str) -> None:
    """Ended by either signal, at once or after a while."""
    async with staged(world.kubelet(), registration=registration) as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        for gap in (0.0, 0.3, 0.0):
            await beside(partial(on.kubelet.restart, gap))
            await on.lists("a", "b")
        await beside(on.kubelet.stop)
        await beside(on.kubelet.start)
        await on.lists("a", "b")
        assert len(on.sockets()) == 1


@each_way
async def test_a_cut_stream_alone_means_a_new_socket(world: World, registration: str) -> None:
    """The kubelet lives and no file has changed; the socket of before is removed."""
    async with staged(world.kubelet(), registration=registration) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        for count in (2, 3):
            before = on.sockets()
            await beside(lambda: on.kubelet.cut_stream(WIDGET))
            await on.registered(count)
            await on.lists("a")
            await on.sees(lambda _: len(on.sockets()) == 1)
            assert on.sockets() != before


async def test_auto_is_found_where_nobody_takes_register_and_comes_back_to_it(
    world: World,
) -> None:
    """Such as when somebody removed kubelet.sock: this kubelet never listens there again."""
    async with staged(world.kubelet(), timing=IMPATIENT) as on:
        (world.directory / "kubelet.sock").unlink()
        on.puppet.show(widget="a")
        await on.lists("a")
        assert asked(on.kubelet) == 0
        assert [path.parent.name for path in on.sockets()] == ["plugins_registry"]
        await beside(on.kubelet.restart)
        await on.sees(lambda _: asked(on.kubelet) > 0)
        await on.lists("a")
        assert [path.parent.name for path in on.sockets()] == ["device-plugins"]


@each_single_way
async def test_the_newer_of_two_goes_and_the_older_one_takes_over(
    world: World, registration: str
) -> None:
    """An update that is rolled back, early or late.

    Kubelets up to 1.36 had forgotten the older one, though its stream is still open: a pod is
    given a device by it only once it has registered again.
    """
    kubelet = world.kubelet()
    async with staged(kubelet, registration=registration, timing=WATCHFUL) as old:
        old.puppet.show(widget={"a": DeviceInfo(nodes=[DeviceNode("/dev/old")])})
        await old.lists("a")
        async with running(kubelet, registration=registration) as new:
            new.puppet.show(widget={"a": DeviceInfo(nodes=[DeviceNode("/dev/new")])})
            await new.lists("a", streams=2)
        await old.lists("a")
        await gets(old, "/dev/old")
        assert len(old.sockets()) == 1


@each_single_way
async def test_the_older_of_two_goes_and_the_newer_one_has_it_all(
    world: World, registration: str
) -> None:
    """An update."""
    kubelet = world.kubelet()
    async with staged(kubelet, registration=registration) as old:
        old.puppet.show(widget={"a": DeviceInfo(nodes=[DeviceNode("/dev/old")])})
        await old.lists("a")
        async with running(kubelet, registration=registration, timing=Timing(stream=1.0)) as new:
            new.puppet.show(widget={"a": DeviceInfo(nodes=[DeviceNode("/dev/new")])})
            await new.lists("a", streams=2)
            await old.stop()
            # A pod that comes before the kubelet has met the newer one again is rejected.
            await new.sees(lambda seen: not seen.stopped and seen.streams == 1)
            await new.lists("a")
            await gets(new, "/dev/new")
            assert len(new.sockets()) == 1
