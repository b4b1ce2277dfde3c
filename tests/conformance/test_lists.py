"""What lists amount to."""

import pytest
from tests.conformance.bare import WIDGET, devices
from tests.conformance.world import World, healthy_ids

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.testing.kubelet import Pod, PodRejected

_LIMIT = 4 * 1024 * 1024


@pytest.mark.parametrize("health", ["healthy", "", "Degraded", "HEALTHY", "Unhealthy", " Healthy"])
def test_only_one_word_is_healthy(world: World, health: str) -> None:
    """Byte by byte; every other word counts as capacity alone."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send(*devices("a b"), *devices("c", health=health))
    plugin.register()
    seen = kubelet.await_resource(WIDGET, lambda seen: seen.known)
    assert (seen.capacity, seen.allocatable) == (3, 2)


def test_a_list_replaces_all_that_was_before(world: World) -> None:
    """Nothing is merged."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b c")
    plugin.send(*devices("c d"))
    seen = kubelet.await_resource(WIDGET, lambda seen: healthy_ids(seen) == {"c", "d"})
    assert seen.capacity == 2


def test_an_id_twice_counts_once(world: World) -> None:
    """As long as both say the same."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send(*devices("a a b"))
    plugin.register()
    seen = kubelet.await_resource(WIDGET, lambda seen: seen.known)
    assert (seen.capacity, seen.allocatable) == (2, 2)


@pytest.mark.parametrize("first", ["Healthy", "Unhealthy"])
def test_an_id_once_healthy_and_once_not_counts_twice(world: World, first: str) -> None:
    """In whatever order: capacity 2, allocatable 1."""
    kubelet, plugin = world.kubelet(), world.plugin()
    second = "Unhealthy" if first == "Healthy" else "Healthy"
    plugin.send(*devices("a", health=first), *devices("a", health=second))
    plugin.register()
    seen = kubelet.await_resource(WIDGET, lambda seen: seen.known)
    assert (seen.capacity, seen.allocatable) == (2, 1)


def test_an_empty_list_is_a_list(world: World) -> None:
    """The resource is known with 0 of 0, and a pod that asks for it fails."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send()
    plugin.register()
    seen = kubelet.await_resource(WIDGET, lambda seen: seen.known)
    assert (seen.capacity, seen.allocatable) == (0, 0)
    verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
    assert isinstance(verdict, PodRejected)
    assert "no healthy devices present" in verdict.message
    assert plugin.calls("Allocate") == []


def test_a_list_of_four_mebibytes_is_taken(world: World) -> None:
    """To the byte."""
    kubelet, plugin = world.kubelet(), world.plugin()
    plugin.send(*_of_size(_LIMIT))
    plugin.register()
    kubelet.await_resource(WIDGET, lambda seen: seen.allocatable > 1000, 20)


def test_a_longer_list_ends_the_stream(world: World) -> None:
    """Nothing of it is advertised; what was there before is not allocatable any more."""
    kubelet, plugin = world.kubelet(), world.plugin()
    world.listed(kubelet, plugin, "a b")
    plugin.send(*_of_size(_LIMIT + 1))
    assert plugin.streams[0].over.wait(20)
    seen = kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 0)
    assert seen.capacity == 2


def _of_size(size: int) -> list[wire.Device]:
    """Return devices whose list has just this size in bytes."""
    each = wire.ListAndWatchResponse(devices=[_numbered(0)]).ByteSize()
    listed = [_numbered(number) for number in range(size // each)]
    listed[0].ID += "x" * (size % each)
    assert wire.ListAndWatchResponse(devices=listed).ByteSize() == size
    return listed


def _numbered(number: int) -> wire.Device:
    return wire.Device(ID=f"{number:01000}", health="Healthy")
