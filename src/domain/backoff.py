"""How long to wait before the next try."""

import attrs


@attrs.frozen(kw_only=True)
class Backoff:
    """Seconds to wait after the n-th failure in a row: doubling, capped, with jitter."""

    first: float = 0.02
    cap: float = 30.0

    def delay(self, failures: int, fraction: float) -> float:
        """Return the wait after `failures` ≥ 1: half fixed, half by `fraction` in [0, 1)."""
        whole = min(self.cap, self.first * 2.0 ** min(failures - 1, 63))
        return whole * (0.5 + fraction / 2)
