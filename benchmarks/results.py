"""What a measure has found, and what it has to keep."""

from typing import Literal

import attrs


@attrs.frozen(kw_only=True)
class Result:
    """The medians of both, and a bound: on their ratio, their difference, or ours alone."""

    name: str
    unit: str
    bare: float | None
    ours: float
    bound: float | None
    """None: reported only."""
    of: Literal["ratio", "difference", "ours"] = "ratio"

    @property
    def figure(self) -> float:
        """What is held against the bound."""
        if self.bare is None or self.of == "ours":
            return self.ours
        return self.ours / self.bare if self.of == "ratio" else self.ours - self.bare

    @property
    def kept(self) -> bool:
        """Whether the bound is kept."""
        return self.bound is None or self.figure <= self.bound

    @property
    def shown(self) -> str:
        """The figure as text."""
        return f"{self.figure:.2f}" if self.of == "ratio" else f"{self.figure:+.1f} {self.unit}"
