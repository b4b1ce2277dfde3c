"""The laws of `Chance`."""

from deviceplugin.domain.ports.driven.clock import Chance


class ChanceContract:
    """What holds for each source of chance: subclass it and provide `chance`."""

    def chance(self) -> Chance:
        """Return a source of chance."""
        raise NotImplementedError

    def test_a_fraction_is_at_least_zero_and_below_one(self) -> None:
        """No fraction leaves [0, 1), so that a delay made of it never exceeds its cap."""
        chance = self.chance()
        assert all(0 <= chance.fraction() < 1 for _ in range(1000))
