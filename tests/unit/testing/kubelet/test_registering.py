"""Register: what is checked, in which order, and what the kubelet does before it answers."""

from __future__ import annotations

import socket
from threading import Event
from typing import TYPE_CHECKING

import grpc
import pytest
from tests.unit.testing.kubelet.conftest import only

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.testing.kubelet import (
    FakeKubelet,
    Limits,
    Options,
    OptionsRead,
    Pod,
    Profile,
    Refused,
    RegisterAsked,
    Registered,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Future
    from pathlib import Path

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing, MakePlugin

WIDGET = "example.com/widget"
PATIENCE = 20.0
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""An HTTP/2 frame: the server has no wishes."""


@pytest.fixture
def hasty(directory: Path, profile: Profile) -> Iterator[FakeKubelet]:
    """Give the test a kubelet that dials for a moment only."""
    with FakeKubelet(directory, profile=profile, limits=Limits(dial=0.3)) as kubelet:
        yield kubelet


def refusal(
    plugin: BarePlugin,
    *,
    version: str = "v1beta1",
    endpoint: str | None = None,
    resource: str | None = None,
) -> str:
    """Return the text by which Register fails."""
    with pytest.raises(grpc.RpcError) as caught:
        plugin.register(version=version, endpoint=endpoint, resource=resource)
    assert caught.value.code() is grpc.StatusCode.UNKNOWN
    return str(caught.value.details())


@pytest.mark.usefixtures("kubelet")
class TestWhatIsChecked:
    """The request itself."""

    @pytest.mark.parametrize("version", ["v1beta2", "v1alpha", "1", ""])
    def test_an_unknown_version_is_refused(self, plugin: BarePlugin, version: str) -> None:
        """Any version but v1beta1 fails with UNKNOWN, and the text names the one that would do."""
        expected = (
            f'requested API version "{version}" is not supported by kubelet. '
            'Supported version is ["v1beta1"]'
        )
        assert refusal(plugin, version=version) == expected

    def test_a_bad_name_is_refused(self, plugin: BarePlugin) -> None:
        """A name that is no extended resource fails with UNKNOWN and is repeated in the text."""
        text = refusal(plugin, resource="kubernetes.io/x")
        assert text == 'the ResourceName "kubernetes.io/x" is invalid'

    def test_the_version_comes_before_the_name(self, plugin: BarePlugin) -> None:
        """A request with both faults is told about the version."""
        assert "API version" in refusal(plugin, version="v2", resource="bad")

    def test_nothing_is_dialled_for_a_bad_request(
        self,
        plugin: BarePlugin,
        kubelet: FakeKubelet,
    ) -> None:
        """The plugin is not called back when version or name is bad."""
        refusal(plugin, version="v2")
        refusal(plugin, resource="bad")
        assert plugin.calls("GetDevicePluginOptions") == []
        assert kubelet.history.of(OptionsRead) == ()


class TestTheEndpoint:
    """Where the kubelet dials."""

    @pytest.mark.parametrize(
        "endpoint", ["bare.sock", "./bare.sock", "/bare.sock", "x/../bare.sock"]
    )
    def test_it_is_joined_below_the_directory(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        endpoint: str,
    ) -> None:
        """The endpoint is not checked, only joined to the directory and cleaned."""
        plugin.register(endpoint=endpoint)
        assert [record.endpoint for record in kubelet.history.of(Registered)] == [endpoint]

    def test_it_may_leave_the_directory_and_come_back(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """`../<directory>/p.sock` is as good as `p.sock`."""
        plugin.register(endpoint=f"../{kubelet.directory.name}/bare.sock")
        assert kubelet.resource(WIDGET).endpoint is not None

    def test_an_absolute_path_does_not_work(self, hasty: FakeKubelet, plugin: BarePlugin) -> None:
        """An absolute path is joined as well, so nothing is there."""
        text = refusal(plugin, endpoint=str(hasty.directory / "bare.sock"))
        assert text == "failed to dial device plugin: context deadline exceeded"

    @pytest.mark.usefixtures("hasty")
    @pytest.mark.parametrize("endpoint", ["missing.sock", ""])
    def test_a_missing_one_fails_when_the_dial_time_is_over(
        self,
        plugin: BarePlugin,
        endpoint: str,
    ) -> None:
        """A path without a listener fails with UNKNOWN, not sooner than the dial limit."""
        assert refusal(plugin, endpoint=endpoint) == (
            "failed to dial device plugin: context deadline exceeded"
        )

    def test_the_dial_time_is_used_up(self, hasty: FakeKubelet, plugin: BarePlugin) -> None:
        """The failure comes after the dial limit, by the kubelet's own clock."""
        refusal(plugin, endpoint="missing.sock")
        (asked,), (refused,) = hasty.history.of(RegisterAsked), hasty.history.of(Refused)
        assert refused.at - asked.at >= 0.3

    def test_a_listener_that_says_nothing_is_no_plugin(
        self,
        hasty: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """A socket that takes connections but speaks no HTTP/2 fails as if nobody listened."""
        with socket.socket(socket.AF_UNIX) as mute:
            mute.bind(str(hasty.directory / "mute.sock"))
            mute.listen()
            assert "failed to dial" in refusal(plugin, endpoint="mute.sock")


class TestTheDialBack:
    """What happens before Register is answered."""

    def test_options_are_read_before_the_answer(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        in_thread: Callable[..., Future[None]],
    ) -> None:
        """Register stays pending for as long as GetDevicePluginOptions does."""
        answer = Event()
        plugin.on_options = lambda _: answer.wait(PATIENCE)
        pending = in_thread(plugin.register)
        plugin.await_calls("GetDevicePluginOptions", 1)
        assert not pending.done()
        assert kubelet.history.of(Registered) == ()
        answer.set()
        pending.result()
        assert len(kubelet.history.of(Registered)) == 1

    def test_the_authority_is_localhost(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        in_thread: Callable[..., Future[str]],
    ) -> None:
        """The kubelet's calls carry `localhost`, where Python would send the socket's path."""
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(kubelet.directory / "raw.sock"))
            listener.listen()
            pending = in_thread(refusal, plugin, endpoint="raw.sock")
            peer, _ = listener.accept()
            with peer:
                peer.sendall(SETTINGS)
                received = b""
                while b"GetDevicePluginOptions" not in received:
                    received += peer.recv(4096)
        assert b"localhost" in received
        assert b"raw.sock" not in received
        assert "Unavailable" in pending.result()

    def test_the_options_that_count_are_those_it_asks_for(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """What Register itself says about options is ignored, either way."""
        plugin.options.pre_start_required = True
        plugin.register(options=pb.DevicePluginOptions(get_preferred_allocation_available=True))
        assert kubelet.resource(WIDGET).options == Options(pre_start=True, preferred=False)

    def test_options_are_asked_for_once(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
        listing: Listing,
    ) -> None:
        """One call for each connection; later lists and pods do not repeat it."""
        plugin.send(*listing("a"))
        plugin.register()
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        kubelet.admit(Pod.asking("p", {WIDGET: 1}))
        assert len(plugin.calls("GetDevicePluginOptions")) == 1

    def test_failing_options_fail_register(self, kubelet: FakeKubelet, plugin: BarePlugin) -> None:
        """The plugin's error is told as Go would print it, and nothing is registered."""

        def fail(context: grpc.ServicerContext) -> None:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not yet")

        plugin.on_options = fail
        assert refusal(plugin) == (
            "failed to get device plugin options: "
            "rpc error: code = FailedPrecondition desc = not yet"
        )
        assert kubelet.resource(WIDGET).endpoint is None

    def test_many_register_at_once(
        self,
        kubelet: FakeKubelet,
        make_plugin: MakePlugin,
        in_thread: Callable[..., Future[None]],
    ) -> None:
        """A pending Register does not stop another."""
        slow, quick = make_plugin("slow.sock", "a.b/slow"), make_plugin("quick.sock", "a.b/quick")
        answer = Event()
        slow.on_options = lambda _: answer.wait(PATIENCE)
        pending = in_thread(slow.register)
        slow.await_calls("GetDevicePluginOptions", 1)
        quick.register()
        assert not pending.done()
        answer.set()
        pending.result()
        assert kubelet.running


class TestAClientThatGivesUp:
    """Register's own deadline, while the options are pending."""

    @only(Profile.V1_28, Profile.V1_34)
    def test_of_old_it_is_registered_all_the_same(
        self,
        kubelet: FakeKubelet,
        plugin: BarePlugin,
    ) -> None:
        """Before 1.35 the call for options has no deadline: it completes, with all its effect."""
        answer = Event()
        plugin.on_options = lambda _: answer.wait(PATIENCE)
        with pytest.raises(grpc.RpcError, match="DEADLINE_EXCEEDED"):
            plugin.register(timeout=0.3)
        answer.set()
        kubelet.history.await_count(Registered, 1, timeout=PATIENCE)
        assert [call.seconds_left for call in plugin.calls("GetDevicePluginOptions")] == [None]

    @only(Profile.V1_36, Profile.V1_37)
    def test_of_late_it_is_not_registered(self, kubelet: FakeKubelet, plugin: BarePlugin) -> None:
        """From 1.35 the call for options inherits Register's deadline and ends with it."""
        over = Event()

        def hang(context: grpc.ServicerContext) -> None:
            context.add_callback(over.set)
            over.wait(PATIENCE)

        plugin.on_options = hang
        with pytest.raises(grpc.RpcError, match="DEADLINE_EXCEEDED"):
            plugin.register(timeout=0.3)
        assert over.wait(PATIENCE)
        (refused,) = kubelet.history.await_count(Refused, 1, timeout=PATIENCE)
        assert "failed to get device plugin options" in refused.reason
        (call,) = plugin.calls("GetDevicePluginOptions")
        assert call.seconds_left is not None
        assert call.seconds_left < 1  # gRPC rounds up
        assert kubelet.history.of(Registered) == ()
