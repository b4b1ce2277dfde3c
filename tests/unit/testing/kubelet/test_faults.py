"""The script: a kubelet that is told to fail."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import grpc
import pytest
from tests.unit.testing.kubelet.conftest import only

from deviceplugin.testing.kubelet import (
    DropEarly,
    DropLate,
    FakeKubelet,
    Hang,
    Late,
    Profile,
    Refuse,
    Refused,
    RegisterAsked,
    Registered,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from tests.unit.testing.kubelet.conftest import BarePlugin, MakePlugin

WIDGET = "example.com/widget"
PATIENCE = 20.0


def test_it_refuses_as_often_as_told(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """The reason reaches the plugin with UNKNOWN, nothing is dialled, and then all is well."""
    kubelet.faults.on_register(Refuse("no room"), times=2)
    for _ in range(2):
        with pytest.raises(grpc.RpcError) as caught:
            plugin.register()
        assert caught.value.code() is grpc.StatusCode.UNKNOWN
        assert caught.value.details() == "no room"
    assert plugin.calls("GetDevicePluginOptions") == []
    plugin.register()
    assert [record.reason for record in kubelet.history.of(Refused)] == ["no room"] * 2


def test_it_may_fail_one_resource_alone(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    make_plugin: MakePlugin,
) -> None:
    """A step for one resource waits for it and does not touch others."""
    other = make_plugin("other.sock", "a.b/other")
    kubelet.faults.on_register(Refuse("you"), resource="a.b/other")
    plugin.register()
    with pytest.raises(grpc.RpcError, match="you"):
        other.register()
    other.register()


def test_it_hangs(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """It neither dials nor answers until the client gives up, and nothing is registered."""
    kubelet.faults.on_register(Hang())
    with pytest.raises(grpc.RpcError, match="DEADLINE_EXCEEDED"):
        plugin.register(timeout=0.2)
    kubelet.history.await_count(Refused, 1, timeout=PATIENCE)
    assert plugin.calls("GetDevicePluginOptions") == []
    plugin.register()


def test_it_answers_late(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    in_thread: Callable[..., Future[None]],
) -> None:
    """All is done, the stream is open, and only the answer is missing."""
    kubelet.faults.on_register(Late(0.3))
    pending = in_thread(plugin.register)
    (registered,) = kubelet.history.await_count(Registered, 1, timeout=PATIENCE)
    plugin.await_calls("ListAndWatch", 1)
    assert not pending.done()
    pending.result(PATIENCE)
    assert registered.resource == WIDGET


def test_it_drops_the_connection_in_place_of_the_answer(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
) -> None:
    """The plugin sees its call fail, and is registered."""
    kubelet.faults.on_register(DropLate())
    with pytest.raises(grpc.RpcError, match="UNAVAILABLE"):
        plugin.register()
    assert len(kubelet.history.of(Registered)) == 1
    plugin.await_calls("ListAndWatch", 1)


@only(Profile.V1_28, Profile.V1_34)
def test_of_old_an_early_drop_does_not_stop_it(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """Before 1.35 it goes on without the client, and the plugin is registered."""
    kubelet.faults.on_register(DropEarly())
    with pytest.raises(grpc.RpcError, match="UNAVAILABLE"):
        plugin.register()
    kubelet.history.await_count(Registered, 1, timeout=PATIENCE)


@only(Profile.V1_36, Profile.V1_37)
def test_of_late_an_early_drop_stops_it(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """From 1.35 it ends everything with the call."""
    kubelet.faults.on_register(DropEarly())
    with pytest.raises(grpc.RpcError, match="UNAVAILABLE"):
        plugin.register()
    kubelet.history.await_count(Refused, 1, timeout=PATIENCE)
    assert kubelet.history.of(Registered) == ()


def test_other_connections_are_not_dropped(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    make_plugin: MakePlugin,
    in_thread: Callable[..., Future[None]],
) -> None:
    """Only the client of that call loses its connection."""
    gate = threading.Event()
    other = make_plugin("other.sock", "a.b/other")
    other.on_options = lambda _: gate.wait(PATIENCE)
    pending = in_thread(other.register)
    other.await_calls("GetDevicePluginOptions", 1)
    kubelet.faults.on_register(DropLate())
    with pytest.raises(grpc.RpcError, match="UNAVAILABLE"):
        plugin.register()
    gate.set()
    pending.result(PATIENCE)


@pytest.mark.parametrize("step", [Hang(), Late(60)], ids=["hang", "late"])
def test_a_kubelet_dies_at_once_whatever_it_waits_for(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    in_thread: Callable[..., Future[None]],
    step: Hang | Late,
) -> None:
    """The end of the kubelet is the end of every wait."""
    kubelet.faults.on_register(step)
    pending = in_thread(plugin.register)
    kubelet.history.await_count(RegisterAsked, 1, timeout=PATIENCE)
    kubelet.stop()
    assert isinstance(pending.exception(PATIENCE), grpc.RpcError)
