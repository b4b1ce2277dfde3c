"""Hints, and the policies that merge them."""

import pytest

from deviceplugin.testing.kubelet import Device, Numa, NumaPolicy
from deviceplugin.testing.kubelet.numa import Hint, VanishedDeviceError, affinity, hints

BEST_EFFORT = Numa(policy=NumaPolicy.BEST_EFFORT, nodes=(0, 1))
RESTRICTED = Numa(policy=NumaPolicy.RESTRICTED, nodes=(0, 1))
SINGLE = Numa(policy=NumaPolicy.SINGLE_NODE, nodes=(0, 1))


def hints_for(request: int, *nodes: tuple[int, ...] | None) -> dict[frozenset[int], bool]:
    """Return the hints for devices on these nodes, all free, on a machine of two nodes."""
    devices = {str(i): Device(id=str(i), nodes=on) for i, on in enumerate(nodes)}
    found = hints(
        devices=devices,
        available=set(devices),
        reusable=(),
        request=request,
        nodes=(0, 1),
    )
    return {hint.mask or frozenset(): hint.preferred for hint in found}


class TestHints:
    """Which sets of nodes have enough devices."""

    def test_the_smallest_are_preferred(self) -> None:
        """One node will do for one device; both nodes do as well, but are not preferred."""
        assert hints_for(1, (0,), (1,)) == {
            frozenset({0}): True,
            frozenset({1}): True,
            frozenset({0, 1}): False,
        }

    def test_what_needs_both_nodes_prefers_both(self) -> None:
        """Two devices on two nodes fit on both only."""
        assert hints_for(2, (0,), (1,)) == {frozenset({0, 1}): True}

    @pytest.mark.parametrize("node", [-1, 99])
    def test_a_node_that_is_not_there_fits_nowhere(self, node: int) -> None:
        """-1 and a number beyond the machine give no hint at all."""
        assert hints_for(1, (node,)) == {}

    @pytest.mark.parametrize("other", [None, (), (-1,)])
    def test_beside_a_known_node_others_do_not_count(self, other: tuple[int, ...] | None) -> None:
        """Of a mixture only the devices on known nodes make hints."""
        assert hints_for(1, (0,), other) == {frozenset({0}): True, frozenset({0, 1}): False}
        assert hints_for(2, (0,), other) == {}

    def test_a_device_on_two_nodes_hints_at_both(self) -> None:
        """It fits on either node."""
        assert hints_for(1, (0, 1))[frozenset({0})]
        assert hints_for(1, (0, 1))[frozenset({1})]

    def test_a_vanished_device_is_an_error(self) -> None:
        """The table must know each device that is asked about."""
        with pytest.raises(VanishedDeviceError):
            hints(devices={}, available={"gone"}, reusable=(), request=1, nodes=(0,))

    def test_reused_devices_must_be_in_the_mask(self) -> None:
        """A mask that leaves out a reused device is no hint."""
        devices = {"a": Device(id="a", nodes=(0,)), "b": Device(id="b", nodes=(1,))}
        found = hints(devices=devices, available={"b"}, reusable={"a"}, request=1, nodes=(0, 1))
        assert {hint.mask for hint in found} == {frozenset({0}), frozenset({0, 1})}

    def test_one_that_is_reused_on_a_node_that_is_not_there_is_in_no_mask(self) -> None:
        """Nor is anything with it: it is not left out of account, as one without topology is."""
        devices = {"a": Device(id="a", nodes=(-1,)), "b": Device(id="b", nodes=(0,))}
        assert (
            hints(devices=devices, available={"b"}, reusable={"a"}, request=1, nodes=(0, 1)) == []
        )


class TestPolicies:
    """Who is admitted, and where."""

    @pytest.mark.parametrize("numa", [RESTRICTED, SINGLE])
    def test_no_preference_is_admitted_anywhere(self, numa: Numa) -> None:
        """A resource without topology never rejects a container."""
        assert affinity(numa, {"r": None}) is not None

    @pytest.mark.parametrize("numa", [RESTRICTED, SINGLE])
    def test_no_hint_is_rejected(self, numa: Numa) -> None:
        """A resource that fits nowhere rejects the container."""
        assert affinity(numa, {"r": []}) is None

    def test_what_spans_two_nodes_is_restricted_but_not_single(self) -> None:
        """The restricted policy takes two nodes when it must, the other does not."""
        wanted = {"r": [Hint(frozenset({0, 1}), preferred=True)]}
        assert affinity(RESTRICTED, wanted) == Hint(frozenset({0, 1}), preferred=True)
        assert affinity(SINGLE, wanted) is None

    @pytest.mark.parametrize("numa", [RESTRICTED, SINGLE])
    def test_two_resources_must_meet(self, numa: Numa) -> None:
        """Resources on different nodes reject the container, on a common one they share it."""
        zero, one = Hint(frozenset({0}), preferred=True), Hint(frozenset({1}), preferred=True)
        assert affinity(numa, {"a": [zero], "b": [one]}) is None
        assert affinity(numa, {"a": [zero, one], "b": [one]}) == one

    def test_best_effort_admits_everything(self) -> None:
        """What fits nowhere gets devices of any node, what would fit is kept together."""
        both = Hint(frozenset({0, 1}), preferred=False)
        zero, one = Hint(frozenset({0}), preferred=True), Hint(frozenset({1}), preferred=True)
        assert affinity(BEST_EFFORT, {"r": []}) == both
        assert affinity(BEST_EFFORT, {"a": [zero], "b": [one]}) == both
        assert affinity(BEST_EFFORT, {"a": [zero, one], "b": [one]}) == one

    @pytest.mark.parametrize(
        ("masks", "best"),
        [
            # The demanding resource needs two nodes: two are better than one, and than three.
            ([{0}, {0, 1}, {0, 1, 2}], {0, 1}),
            ([{0, 1, 2}, {1, 2}, {0, 1}], {0, 1}),
            # No two are common to both resources.
            ([{2}, {1}], {1}),
        ],
    )
    def test_without_preference_best_effort_takes_as_many_nodes_as_are_needed(
        self, masks: list[set[int]], best: set[int]
    ) -> None:
        """The nearest number that is not above it; of equal ones the lowest nodes."""
        numa = Numa(policy=NumaPolicy.BEST_EFFORT, nodes=(0, 1, 2))
        wanted = {
            "easy": [Hint(frozenset(mask), preferred=False) for mask in masks],
            "demanding": [
                Hint(frozenset({0, 1}), preferred=False),
                Hint(frozenset({0, 1, 2}), preferred=False),
            ],
        }
        best_hint = affinity(numa, wanted)
        assert best_hint is not None
        assert best_hint.mask == frozenset(best)

    def test_of_equally_wide_masks_the_lower_number_wins(self) -> None:
        """A mask counts as a number: nodes 1 and 2 are six, 0 and 3 are nine."""
        numa = Numa(policy=NumaPolicy.RESTRICTED, nodes=(0, 1, 2, 3))
        masks = [frozenset({0, 3}), frozenset({1, 2})]
        best = affinity(numa, {"r": [Hint(mask, preferred=True) for mask in masks]})
        assert best == Hint(masks[1], preferred=True)

    def test_on_a_machine_of_one_node_everything_is_aligned(self) -> None:
        """With one node the single-node policy has nothing to filter by."""
        numa = Numa(policy=NumaPolicy.SINGLE_NODE, nodes=(0,))
        best = affinity(numa, {"r": [Hint(frozenset({0}), preferred=True)]})
        assert best == Hint(None, preferred=True)
