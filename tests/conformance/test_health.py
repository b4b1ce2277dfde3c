"""What the real kubelet says of itself."""

import pytest
from tests.conformance.real import RealKubelet
from tests.conformance.world import World


@pytest.mark.parametrize("unlinked", [False, True])
def test_a_kubelet_that_listens_nowhere_says_that_it_is_well(
    real_world: World,
    unlinked: bool,  # noqa: FBT001
) -> None:
    """So nothing restarts it when kubelet.sock is gone."""
    kubelet = real_world.kubelet()
    assert isinstance(kubelet, RealKubelet)
    if unlinked:
        kubelet.socket.unlink()
    assert kubelet.health() == ""
