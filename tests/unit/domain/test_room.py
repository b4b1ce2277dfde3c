"""Whoever names too much takes nobody's place."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.room import MAX_HELD, fitting, listed_bytes

wanted = st.dictionaries(
    st.text(max_size=300), st.frozensets(st.integers(0, 9), max_size=5), max_size=20
)


@given(wanted, st.integers(-2, 25), st.integers(-10, 2_000))
def test_what_fits_fits_and_no_more_would(
    wanted: Mapping[str, frozenset[int]], devices: int, size: int
) -> None:
    chosen = fitting(wanted, devices=devices, size=size)
    sizes = {key: listed_bytes(key, nodes) for key, nodes in wanted.items()}
    left = sorted(sizes[key] for key in wanted.keys() - set(chosen))
    used = sum(sizes[key] for key in chosen)
    assert len(chosen) <= max(devices, 0)
    assert used <= max(size, 0)
    if left:
        assert len(chosen) >= devices or used + left[0] > size
        assert all(sizes[key] <= left[0] for key in chosen)


def test_all_of_it_fits_as_a_rule() -> None:
    """So many as nobody has seen on a node, with ids as long as one of ours can be."""
    assert len(fitting({f"{number:063}": (0,) for number in range(MAX_HELD)})) == MAX_HELD
