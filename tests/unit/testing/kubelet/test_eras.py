"""Two endpoints of one resource: where the eras differ, and where both go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from tests.unit.testing.kubelet.conftest import only

from deviceplugin.testing.kubelet import (
    AllocateAsked,
    FakeKubelet,
    Limits,
    ListReceived,
    Pod,
    PodAdmitted,
    PodRejected,
    Profile,
    Registered,
    StreamEnded,
    StreamOpened,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing, MakePlugin

WIDGET = "example.com/widget"
PATIENCE = 20.0

era_a = only(Profile.V1_28, Profile.V1_34, Profile.V1_36)
era_b = only(Profile.V1_37)


def await_counts(kubelet: FakeKubelet, capacity: int, allocatable: int) -> None:
    """Wait until the widget has these numbers."""
    wanted = (capacity, allocatable)
    kubelet.await_resource(
        WIDGET,
        lambda seen: (seen.capacity, seen.allocatable) == wanted,
        PATIENCE,
    )


@pytest.fixture
def old(kubelet: FakeKubelet, make_plugin: MakePlugin, listing: Listing) -> BarePlugin:
    """Give the test a registered plugin with three devices."""
    plugin = make_plugin("old.sock")
    plugin.send(*listing("a", "b", "c"))
    plugin.register()
    await_counts(kubelet, 3, 3)
    return plugin


@pytest.fixture
def new(kubelet: FakeKubelet, old: BarePlugin, make_plugin: MakePlugin) -> BarePlugin:
    """Give the test a second plugin of the same resource, registered on a socket of its own."""
    assert old.list is not None
    plugin = make_plugin("new.sock")
    plugin.list = old.list
    plugin.register()
    kubelet.history.await_count(ListReceived, 2, timeout=PATIENCE)
    return plugin


class TestTwoSockets:
    """What both eras have in common."""

    def test_both_streams_are_open(self, kubelet: FakeKubelet, new: BarePlugin) -> None:
        """The older connection is not closed for the newer one."""
        assert kubelet.streams(WIDGET) == 2
        assert kubelet.resource(WIDGET).endpoint == new.endpoint

    def test_they_feed_one_table(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
        listing: Listing,
    ) -> None:
        """The last message wins, whichever stream it comes from."""
        old.send(*listing("a"))
        await_counts(kubelet, 1, 1)
        new.send(*listing("a", "b"))
        await_counts(kubelet, 2, 2)

    def test_allocate_goes_to_the_newer(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
    ) -> None:
        """The last one to register is asked."""
        assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
        assert (len(old.calls("Allocate")), len(new.calls("Allocate"))) == (0, 1)


class TestTheOlderStreamEnds:
    """A rolling update: the new plugin is up, the old one goes."""

    @era_a
    def test_the_newer_is_disconnected(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
    ) -> None:
        """Era A looks the client up by name: all unhealthy, and the new stream is cancelled."""
        old.stop()
        await_counts(kubelet, 3, 0)
        assert new.streams[0].over.wait(PATIENCE)
        kubelet.history.await_count(StreamEnded, 2, timeout=PATIENCE)
        assert kubelet.streams(WIDGET) == 0

    @era_a
    def test_the_next_register_works(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
    ) -> None:
        """Era A: the books are empty after that, so registering once more heals all."""
        old.stop()
        kubelet.history.await_count(StreamEnded, 2, timeout=PATIENCE)
        new.register()
        await_counts(kubelet, 3, 3)
        assert kubelet.streams(WIDGET) == 1

    @era_b
    def test_the_newer_goes_on(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
    ) -> None:
        """Era B keeps the devices and asks the survivor."""
        old.stop()
        kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
        view = kubelet.resource(WIDGET)
        assert (view.allocatable, view.streams, view.endpoint) == (3, 1, new.endpoint)


class TestTheNewerStreamEnds:
    """The update is taken back: the new plugin goes, the old one is still there."""

    @era_a
    def test_the_devices_are_lost(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
    ) -> None:
        """Era A knows one endpoint only, though the old stream is open and is heard again."""
        new.stop()
        await_counts(kubelet, 3, 0)
        assert kubelet.streams(WIDGET) == 1
        assert old.list is not None
        old.send(*old.list.devices)
        await_counts(kubelet, 3, 3)

    @era_b
    def test_the_older_is_promoted(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
    ) -> None:
        """Era B asks the survivor from now on, the devices are untouched."""
        new.stop()
        kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
        view = kubelet.resource(WIDGET)
        assert (view.allocatable, view.endpoint) == (3, old.endpoint)
        assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
        assert len(old.calls("Allocate")) == 1

    @era_b
    def test_only_the_last_loss_counts(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        new: BarePlugin,
    ) -> None:
        """Era B: the devices are unhealthy when no endpoint is left."""
        new.stop()
        kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
        old.stop()
        await_counts(kubelet, 3, 0)


class TestTheSameSocketTwice:
    """Registering again while connected."""

    @era_a
    def test_it_opens_another_stream(self, kubelet: FakeKubelet, old: BarePlugin) -> None:
        """Era A accepts each time: three registrations, three streams."""
        old.register()
        old.register()
        kubelet.history.await_count(ListReceived, 3, timeout=PATIENCE)
        assert kubelet.streams(WIDGET) == 3
        assert len(kubelet.history.of(Registered)) == 3

    @era_b
    def test_it_is_refused(self, kubelet: FakeKubelet, old: BarePlugin) -> None:
        """Era B dials and asks for the options, and then says that it is connected already."""
        with pytest.raises(grpc.RpcError) as caught:
            old.register()
        assert caught.value.code() is grpc.StatusCode.UNKNOWN
        path = kubelet.directory / old.endpoint
        assert caught.value.details() == f"device plugin already connected: {path}"
        assert len(old.calls("GetDevicePluginOptions")) == 2
        assert len(kubelet.history.of(StreamOpened)) == 1

    @era_b
    def test_the_death_of_the_refused_goes_unnoticed(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
    ) -> None:
        """Era B: the refusal has struck the live one out, so its devices stay for ever."""
        with pytest.raises(grpc.RpcError):
            old.register()
        old.stop()
        kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
        view = kubelet.resource(WIDGET)
        assert (view.allocatable, view.stopped) == (3, False)
        verdict = kubelet.admit(Pod.asking("p", {WIDGET: 1}))
        assert isinstance(verdict, PodRejected)
        assert "Unavailable" in verdict.message

    @era_b
    def test_that_socket_name_is_lost(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
        make_plugin: MakePlugin,
    ) -> None:
        """Era B: nobody can register there again until the kubelet restarts; elsewhere one can."""
        with pytest.raises(grpc.RpcError):
            old.register()
        old.stop()
        kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
        old.serve()
        with pytest.raises(grpc.RpcError, match="already connected"):
            old.register()
        make_plugin("elsewhere.sock").register()
        kubelet.restart()
        old.stop()
        old.serve().register()
        await_counts(kubelet, 3, 3)


class TestAFailedRegisterOfALiveResource:
    """Somebody else tries to register the same resource, and cannot be dialled."""

    @pytest.fixture
    def kubelet(self, directory: Path, profile: Profile) -> Iterator[FakeKubelet]:
        """Dial for a moment only."""
        with FakeKubelet(directory, profile=profile, limits=Limits(dial=0.3)) as kubelet:
            yield kubelet

    @pytest.fixture(autouse=True)
    def failed(self, old: BarePlugin) -> None:
        """Begin after the failure."""
        with pytest.raises(grpc.RpcError, match="failed to dial"):
            old.register(endpoint="missing.sock")

    def test_it_changes_nothing_at_first(self, kubelet: FakeKubelet, old: BarePlugin) -> None:
        """The live plugin is still asked and heard."""
        assert isinstance(kubelet.admit(Pod.asking("p", {WIDGET: 1})), PodAdmitted)
        assert len(kubelet.history.of(AllocateAsked)) == len(old.calls("Allocate")) == 1

    @era_a
    def test_the_death_of_the_live_one_goes_unnoticed(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
    ) -> None:
        """Era A has struck out the client by name: its devices stay allocatable."""
        old.stop()
        kubelet.history.await_count(StreamEnded, 1, timeout=PATIENCE)
        assert kubelet.resource(WIDGET).allocatable == 3

    @era_b
    def test_the_death_of_the_live_one_is_noticed(
        self,
        kubelet: FakeKubelet,
        old: BarePlugin,
    ) -> None:
        """Era B strikes out by socket path."""
        old.stop()
        await_counts(kubelet, 3, 0)
