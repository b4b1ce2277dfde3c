"""Which devices are taken, and when the plugin has a say."""

from random import Random
from typing import ClassVar

import pytest

from deviceplugin.testing.kubelet import Device
from deviceplugin.testing.kubelet.choice import Choice, Pool
from deviceplugin.testing.kubelet.errors import AllocationError

Asked = list[tuple[frozenset[str], frozenset[str], int]]


def run(
    pool: Pool,
    size: int,
    *,
    reuse: str = "",
    preferred: str = "",
) -> tuple[set[str], Asked]:
    """Choose, and return what was taken and what the plugin was asked."""
    asked: Asked = []

    def prefer(available: frozenset[str], must: frozenset[str], size: int) -> frozenset[str]:
        asked.append((available, must, size))
        return frozenset(preferred)

    choice = Choice("r", size, Random(1))  # noqa: S311
    choice.reuse(reuse)
    choice.complete(pool, prefer)
    return choice.taken, asked


def unbound(ids: str) -> Pool:
    """Return a pool in which no device is aligned."""
    return Pool(unbound=frozenset(ids))


class TestWhenThePluginIsAsked:
    """GetPreferredAllocation and what it is told."""

    def test_never_if_reuse_is_enough(self) -> None:
        """Nothing is asked when finished init containers leave all that is needed."""
        assert run(unbound("cd"), 2, reuse="ab") == ({"a", "b"}, [])

    def test_always_without_affinity(self) -> None:
        """Without affinity it is asked even if there is no choice."""
        taken, asked = run(unbound("ab"), 2)
        assert taken == {"a", "b"}
        assert asked == [(frozenset("ab"), frozenset(), 2)]

    def test_reused_ones_must_be_included(self) -> None:
        """Reused devices are in both sets, and the size counts them."""
        taken, asked = run(unbound("bc"), 2, reuse="a", preferred="c")
        assert taken == {"a", "c"}
        assert asked == [(frozenset("abc"), frozenset("a"), 2)]

    def test_about_the_aligned_ones_if_they_are_more_than_enough(self) -> None:
        """With affinity only aligned devices are offered."""
        pool = Pool(aligned=frozenset("abc"), unbound=frozenset("x"))
        taken, asked = run(pool, 2, preferred="bcx")
        assert taken == {"b", "c"}
        assert asked == [(frozenset("abc"), frozenset(), 2)]

    def test_never_if_the_aligned_ones_are_just_enough(self) -> None:
        """All of them are taken, and there is nothing to ask."""
        pool = Pool(aligned=frozenset("ab"), unaligned=frozenset("x"))
        assert run(pool, 2) == ({"a", "b"}, [])

    def test_about_all_if_the_aligned_ones_are_too_few(self) -> None:
        """The aligned ones are taken and must be included; the rest is free to choose."""
        pool = Pool(aligned=frozenset("a"), unaligned=frozenset("xy"))
        taken, asked = run(pool, 2, preferred="y")
        assert taken == {"a", "y"}
        assert asked == [(frozenset("axy"), frozenset("a"), 2)]


class TestWhatIsMadeOfTheAnswer:
    """A preference is a wish."""

    def test_a_short_one_is_filled_up(self) -> None:
        """What is missing is taken from the other candidates."""
        taken, _ = run(unbound("abcd"), 3, preferred="b")
        assert len(taken) == 3
        assert "b" in taken

    def test_a_long_one_is_cut(self) -> None:
        """Of too many wishes some are taken, nothing else."""
        taken, _ = run(unbound("abcdef"), 2, preferred="abc")
        assert len(taken) == 2
        assert taken < set("abc")

    def test_foreign_ids_are_dropped(self) -> None:
        """An id that was not offered cannot be had."""
        taken, _ = run(unbound("ab"), 1, preferred="zb")
        assert taken == {"b"}

    def test_filling_up_goes_from_near_to_far(self) -> None:
        """Devices of other nodes come before those of no node."""
        pool = Pool(aligned=frozenset("a"), unaligned=frozenset("b"), unbound=frozenset("c"))
        taken, _ = run(pool, 2)
        assert taken == {"a", "b"}


def _not_asked(available: frozenset[str], must: frozenset[str], size: int) -> frozenset[str]:
    raise AssertionError((available, must, size))


def test_too_few_devices_are_an_error_with_both_numbers() -> None:
    """The plugin is not asked, and what was reused by then stays taken."""
    choice = Choice("example.com/widget", 3, Random(1))  # noqa: S311
    choice.reuse("a")
    with pytest.raises(AllocationError) as caught:
        choice.complete(unbound("b"), _not_asked)
    assert str(caught.value) == (
        "requested number of devices unavailable for example.com/widget. "
        "Requested: 2, Available: 1"
    )
    assert choice.taken == {"a"}


class TestSortingByAffinity:
    """Which devices are aligned."""

    devices: ClassVar = {
        "near": Device(id="near", nodes=(0,)),
        "both": Device(id="both", nodes=(1, 0)),
        "far": Device(id="far", nodes=(1,)),
        "nowhere": Device(id="nowhere", nodes=(-1,)),
        "unknown": Device(id="unknown"),
    }

    def test_a_device_counts_for_the_best_of_its_nodes(self) -> None:
        """One on two nodes is aligned with either; node -1 is as good as no topology."""
        pool = Pool.sort(self.devices, self.devices, frozenset({0}))
        assert pool.aligned == {"near", "both"}
        assert pool.unaligned == {"far"}
        assert pool.unbound == {"nowhere", "unknown"}

    def test_without_a_mask_none_is_aligned(self) -> None:
        """No affinity, no alignment."""
        assert Pool.sort(self.devices, self.devices, None).unbound == set(self.devices)

    def test_without_topology_none_is_aligned(self) -> None:
        """A resource whose devices name no node is not filtered."""
        plain = {"a": Device(id="a"), "b": Device(id="b", nodes=())}
        assert Pool.sort(plain, plain, frozenset({0})).unbound == {"a", "b"}
