"""ListAndWatch: what the kubelet takes from lists, and what the end of a stream does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.testing.kubelet import (
    Device,
    FakeKubelet,
    Late,
    Limits,
    ListOrder,
    ListReceived,
    Pod,
    PodAdmitted,
    Quantity,
    RegisterAsked,
    Registered,
    StreamEnded,
    StreamOpened,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing

    from deviceplugin.testing.kubelet import Profile

WIDGET = "example.com/widget"
PATIENCE = 20.0
FOUR_MIB = 4 * 1024 * 1024


def await_counts(kubelet: FakeKubelet, capacity: int, allocatable: int) -> None:
    """Wait until the widget is known with these numbers."""
    kubelet.await_resource(
        WIDGET,
        lambda seen: (
            (seen.known, seen.capacity, seen.allocatable) == (True, capacity, allocatable)
        ),
        PATIENCE,
    )


class TestWhenTheListIsAskedFor:
    """ListAndWatch and the answer to Register."""

    def test_it_comes_while_register_is_pending_if_told(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """In the order `BEFORE` the list is there before Register is answered."""
        kubelet.faults.list_order = ListOrder.BEFORE
        plugin.send(*listing("a"))
        plugin.register()
        assert kubelet.resource(WIDGET).allocatable == 1

    def test_it_does_not_wait_for_ever(self, kubelet: FakeKubelet, plugin: BarePlugin) -> None:
        """A plugin that lists nothing until it is registered gets its answer all the same."""
        kubelet.faults.list_order = ListOrder.BEFORE
        plugin.register()
        assert plugin.calls("ListAndWatch")
        assert kubelet.history.of(ListReceived) == ()

    def test_it_comes_after_the_answer_if_told(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """In the order `AFTER` the plugin is not asked before Register is answered, be it late."""
        kubelet.faults.list_order = ListOrder.AFTER
        kubelet.faults.on_register(Late(0.2))
        plugin.register()
        (opened,) = kubelet.history.await_count(StreamOpened, 1, timeout=PATIENCE)
        (registered,) = kubelet.history.of(Registered)
        assert opened.at - registered.at >= 0.2
        plugin.await_calls("ListAndWatch", 1)

    def test_chance_gives_both_orders(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """In the order `RANDOM` the seed decides each time."""
        kubelet.faults.list_order = ListOrder.RANDOM
        plugin.send(*listing("a"))
        early: set[bool] = set()
        for number in range(1, 13):
            plugin.register(resource=f"example.com/r{number}")
            early.add(len(plugin.calls("ListAndWatch")) == number)
            plugin.await_calls("ListAndWatch", number)
        assert early == {True, False}

    def test_it_has_no_deadline(self, kubelet: FakeKubelet, plugin: BarePlugin) -> None:
        """The stream may stay open for ever."""
        plugin.register()
        (call,) = plugin.await_calls("ListAndWatch", 1)
        assert call.seconds_left is None
        assert kubelet.running


class TestWhatAListSays:
    """A list is the whole truth."""

    @pytest.fixture(autouse=True)
    def registered(self, kubelet: FakeKubelet, plugin: BarePlugin) -> None:
        """Begin with a plugin that has said nothing yet."""
        plugin.register()
        kubelet.history.await_count(StreamOpened, 1, timeout=PATIENCE)

    def test_before_the_first_one_the_resource_is_unknown(self, kubelet: FakeKubelet) -> None:
        """The node does not advertise it, though the plugin is registered."""
        assert not kubelet.resource(WIDGET).known
        assert WIDGET not in kubelet.node_status()
        assert kubelet.resource(WIDGET).endpoint == "bare.sock"

    def test_a_pod_before_the_first_one_runs_without_device(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """A resource that nobody listed is passed over, and the pod is admitted."""
        verdict = kubelet.admit(Pod.asking("early", {WIDGET: 1}))
        assert isinstance(verdict, PodAdmitted)
        assert verdict.containers["main"].ids == {}
        assert plugin.calls("Allocate") == []

    def test_an_empty_one_makes_it_known(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """No device is a legal list: 0 of 0."""
        plugin.send()
        await_counts(kubelet, 0, 0)
        assert kubelet.node_status() == {WIDGET: Quantity(0, 0)}

    def test_each_one_replaces_the_one_before(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """What is no longer listed is gone; nothing is merged."""
        plugin.send(*listing("a", "b", "c"))
        await_counts(kubelet, 3, 3)
        plugin.send(*listing("c", "d"))
        await_counts(kubelet, 2, 2)
        assert set(kubelet.resource(WIDGET).devices) == {"c", "d"}

    def test_only_healthy_is_healthy(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """Any other text counts for the capacity only."""
        plugin.send(*listing("a"), *listing("b", health="healthy"), *listing("c", health=""))
        await_counts(kubelet, 3, 1)

    def test_a_double_in_conflict_counts_twice(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """The same id once healthy and once not gives a capacity of two; the last one is kept."""
        plugin.send(*listing("a"), *listing("a", health="Unhealthy"))
        await_counts(kubelet, 2, 1)
        assert kubelet.resource(WIDGET).devices["a"].health == "Unhealthy"

    def test_topology_is_kept_as_it_came(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """No topology, an empty one and one with nodes are three things."""
        plugin.send(*listing("a"), *listing("b", nodes=[]), *listing("c", nodes=[1, -1]))
        await_counts(kubelet, 3, 3)
        assert kubelet.resource(WIDGET).devices == {
            "a": Device(id="a", nodes=None),
            "b": Device(id="b", nodes=()),
            "c": Device(id="c", nodes=(1, -1)),
        }

    def test_its_size_is_on_record(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """History tells how many devices came in how many bytes."""
        plugin.send(*listing("a", "b"))
        (record,) = kubelet.history.await_count(ListReceived, 1, timeout=PATIENCE)
        assert plugin.list is not None
        assert (record.devices, record.size) == (2, plugin.list.ByteSize())

    @pytest.mark.parametrize("excess", [0, 1])
    def test_four_mebibytes_are_the_limit(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
        excess: int,
    ) -> None:
        """A message of that size passes; one byte more ends the stream, and nothing is known."""
        plugin.send(*_of_size(listing, FOUR_MIB + excess))
        if excess:
            (ended,) = kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
            assert "ResourceExhausted" in ended.reason
            assert plugin.streams[0].over.wait(PATIENCE)
            assert not kubelet.resource(WIDGET).known
        else:
            (record,) = kubelet.history.await_count(ListReceived, 1, timeout=PATIENCE)
            assert record.size == FOUR_MIB


def _of_size(listing: Listing, size: int) -> list[pb.Device]:
    """Return a device whose list has exactly this many bytes: its id fills what is left."""
    overhead = pb.ListAndWatchResponse(devices=listing("x" * size)).ByteSize() - size
    return listing("x" * (size - overhead))


def _return(plugin: BarePlugin) -> None:
    plugin.streams[0].outbox.put(None)


def _fail(plugin: BarePlugin) -> None:
    plugin.streams[0].outbox.put(RuntimeError("broken"))


def _die(plugin: BarePlugin) -> None:
    plugin.stop()


class TestTheEndOfAStream:
    """The plugin is lost to the kubelet until it registers again."""

    @pytest.fixture(autouse=True)
    def listed(self, kubelet: FakeKubelet, plugin: BarePlugin, listing: Listing) -> None:
        """Begin with two devices, one of them healthy."""
        plugin.send(*listing("a"), *listing("b", health="Unhealthy"))
        plugin.register()
        await_counts(kubelet, 2, 1)

    @pytest.mark.parametrize(
        ("end", "reason"),
        [
            (_return, "EOF"),
            (_fail, "desc = broken"),
            (_die, "rpc error"),
        ],
    )
    def test_any_end_takes_the_devices(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        end: Callable[[BarePlugin], None],
        reason: str,
    ) -> None:
        """Return, error or death: nothing is allocatable, the capacity stays."""
        end(plugin)
        await_counts(kubelet, 2, 0)
        (ended,) = kubelet.history.of(StreamEnded)
        assert reason in ended.reason
        view = kubelet.resource(WIDGET)
        assert (view.stopped, view.streams) == (True, 0)
        assert kubelet.running

    def test_a_broken_connection_is_an_end_too(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """The stream can break without the death of either side; the plugin sees it end."""
        kubelet.cut_stream(WIDGET)
        await_counts(kubelet, 2, 0)
        assert plugin.streams[0].over.wait(PATIENCE)

    def test_the_kubelet_never_comes_back_by_itself(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        make_plugin: Callable[..., BarePlugin],
    ) -> None:
        """However long the plugin waits, it is not called again."""
        kubelet.cut_stream(WIDGET)
        await_counts(kubelet, 2, 0)
        make_plugin("other.sock", "a.b/other").register()
        kubelet.history.await_count(StreamOpened, 2, timeout=PATIENCE)
        assert len(plugin.calls("ListAndWatch")) == 1
        assert len(kubelet.history.of(RegisterAsked, WIDGET)) == 1

    def test_registering_again_brings_all_back(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """The first list of the new stream restores the numbers."""
        kubelet.cut_stream(WIDGET)
        await_counts(kubelet, 2, 0)
        plugin.register()
        await_counts(kubelet, 2, 1)
        assert not kubelet.resource(WIDGET).stopped


class TestGraceTime:
    """How long a resource is remembered without a plugin."""

    @pytest.fixture
    def forgetful(self, directory: Path, profile: Profile) -> Iterator[FakeKubelet]:
        """Give the test a kubelet that forgets at once."""
        with FakeKubelet(directory, profile=profile, limits=Limits(stop_grace=0)) as kubelet:
            yield kubelet

    def test_within_it_the_capacity_stays(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """The node shows the devices, none of them allocatable."""
        plugin.send(*listing("a"))
        plugin.register()
        await_counts(kubelet, 1, 1)
        kubelet.cut_stream(WIDGET)
        await_counts(kubelet, 1, 0)
        assert kubelet.node_status() == {WIDGET: Quantity(1, 0)}

    def test_after_it_the_node_keeps_the_name_alone(
        self,
        forgetful: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """At the next status update the resource is dropped, and shown as 0 from then on."""
        plugin.send(*listing("a"))
        plugin.register()
        await_counts(forgetful, 1, 1)
        assert forgetful.node_status() == {WIDGET: Quantity(1, 1)}
        forgetful.cut_stream(WIDGET)
        await_counts(forgetful, 1, 0)
        assert forgetful.node_status() == {WIDGET: Quantity(0, 0)}
        assert not forgetful.resource(WIDGET).known
        assert forgetful.resource(WIDGET).endpoint is None
        assert forgetful.node_status() == {WIDGET: Quantity(0, 0)}
