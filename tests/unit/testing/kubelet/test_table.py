"""What a list of devices amounts to."""

import pytest

from deviceplugin.testing.kubelet import Device, Quantity
from deviceplugin.testing.kubelet.table import Snapshot


@pytest.mark.parametrize("health", ["Unhealthy", "healthy", "HEALTHY", "", "Degraded", "Healthy "])
def test_only_the_exact_text_is_healthy(health: str) -> None:
    """Any health but `Healthy` counts for the capacity and cannot be allocated."""
    snapshot = Snapshot.of([Device(id="a"), Device(id="b", health=health)])
    assert snapshot.quantity == Quantity(2, 1)


def test_an_empty_list_is_nothing() -> None:
    """A list without devices is legal, and amounts to 0 of 0."""
    assert Snapshot.of([]).quantity == Quantity(0, 0)


def test_an_equal_double_counts_once() -> None:
    """The same id twice with the same health is one device, and the last one is kept."""
    snapshot = Snapshot.of([Device(id="a", nodes=(0,)), Device(id="a", nodes=(1,))])
    assert snapshot.quantity == Quantity(1, 1)
    assert snapshot.devices["a"].nodes == (1,)


def test_a_double_in_conflict_counts_twice() -> None:
    """The same id once healthy and once not makes a capacity of two."""
    snapshot = Snapshot.of([Device(id="a"), Device(id="a", health="Unhealthy")])
    assert snapshot.quantity == Quantity(2, 1)


def test_losing_the_plugin_keeps_the_capacity() -> None:
    """All devices turn unhealthy, none goes."""
    snapshot = Snapshot.of([Device(id="a"), Device(id="b", health="x")]).failed()
    assert snapshot.quantity == Quantity(2, 0)
    assert set(snapshot.devices) == {"a", "b"}
