"""How a test waits for a kubelet, and what it can look up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.testing.kubelet.conftest import PROFILES

from deviceplugin.testing.kubelet import (
    Container,
    Era,
    FakeKubelet,
    Limits,
    ListReceived,
    Pod,
    Profile,
    Record,
    RegisterAsked,
    Registered,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing, MakePlugin

    from deviceplugin.testing.kubelet import ResourceView

WIDGET = "example.com/widget"
PATIENCE = 20.0


def is_known(seen: ResourceView) -> bool:
    """Tell whether the resource was listed."""
    return seen.known


def test_waiting_ends_with_the_change(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    listing: Listing,
    in_thread: Callable[..., Future[ResourceView]],
) -> None:
    """Who waits is woken by the list, and gets the resource as it then is."""
    plugin.register()
    pending = in_thread(kubelet.await_resource, WIDGET, is_known, PATIENCE)
    plugin.send(*listing("a"))
    assert set(pending.result(PATIENCE).devices) == {"a"}


def test_waiting_in_vain_shows_what_there_is(kubelet: FakeKubelet) -> None:
    """The error tells the state instead of a bare timeout."""
    with pytest.raises(TimeoutError, match="known=False"):
        kubelet.await_resource(WIDGET, lambda seen: seen.known, timeout=0.01)
    with pytest.raises(TimeoutError, match="fewer than 1 Registered"):
        kubelet.history.await_count(Registered, 1, timeout=0.01)


def test_one_can_wait_for_a_dead_kubelet(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    listing: Listing,
    in_thread: Callable[..., Future[ResourceView]],
) -> None:
    """Waiting goes on over a restart."""
    kubelet.stop()
    pending = in_thread(kubelet.await_resource, WIDGET, is_known, PATIENCE)
    plugin.stop()
    kubelet.start()
    plugin.send(*listing("a"))
    plugin.serve().register()
    assert pending.result(PATIENCE).allocatable == 1


def test_history_is_kept_by_kind_and_resource(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    make_plugin: MakePlugin,
) -> None:
    """Records can be counted; their times do not matter for equality."""
    plugin.register()
    make_plugin("other.sock", "a.b/other").register()
    assert len(kubelet.history.of(Registered)) == 2
    assert kubelet.history.of(Registered, WIDGET) == (
        Registered(resource=WIDGET, endpoint="bare.sock"),
    )
    (asked,) = kubelet.history.of(RegisterAsked, "a.b/other")
    assert asked.version == "v1beta1"
    assert kubelet.history.of(ListReceived) == ()
    assert kubelet.history.of(Record, WIDGET)


def test_one_can_follow_what_happens(kubelet: FakeKubelet, plugin: BarePlugin) -> None:
    """Whoever shows history waits for what comes after that which was shown."""
    known = len(list(kubelet.history))
    plugin.register()
    first = kubelet.history.await_more(known, timeout=PATIENCE)[0]
    assert isinstance(first, RegisterAsked)
    kubelet.stop()
    assert kubelet.history.await_more(len(list(kubelet.history)), timeout=0.01) == ()


def test_all_resources_can_be_listed(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    listing: Listing,
) -> None:
    """Known are those that were listed, by name."""
    assert kubelet.resources() == {}
    plugin.send(*listing("a"))
    plugin.register()
    kubelet.await_resource(WIDGET, is_known, PATIENCE)
    assert set(kubelet.resources()) == {WIDGET}


def test_profiles_have_names() -> None:
    """A command line may choose one; an unknown name lists the known ones."""
    assert Profile.named("1.37") is Profile.V1_37
    with pytest.raises(LookupError, match=r"1\.28, 1\.34, 1\.36, 1\.37"):
        Profile.named("1.20")


def test_there_are_four_profiles_of_two_eras() -> None:
    """Up to 1.36 endpoints are told apart by name, from 1.37 on by socket; nothing else is."""
    eras = [(each.version, each.era) for each in PROFILES]
    assert eras == [
        ("1.28", Era.BY_NAME),
        ("1.34", Era.BY_NAME),
        ("1.36", Era.BY_NAME),
        ("1.37", Era.BY_SOCKET),
    ]
    assert [Profile.named(version) for version, _ in eras] == PROFILES
    assert set(Era) == {era for _, era in eras}


def test_clocks_can_be_scaled() -> None:
    """All times shrink together, sizes stay."""
    fast = Limits().scaled(0.01)
    assert (fast.dial, fast.pre_start, fast.stop_grace) == (0.1, 0.3, 3.0)
    assert fast.message_bytes == Limits().message_bytes


def test_pods_have_their_own_identity() -> None:
    """Two pods of one name are two pods, and containers are found by name."""
    assert Pod("p", []) != Pod("p", [])
    assert Pod("p", [], uid="u") == Pod("p", [], uid="u")
    pod = Pod("p", [Container("main"), Container("init", init=True)])
    assert [container.name for container in pod.in_order] == ["init", "main"]
    with pytest.raises(LookupError, match="no container 'x'"):
        pod.container("x")
