"""What a measure has found, and what it has to keep."""

import math
from typing import Literal, Self

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
    absent: str = ""
    """Why nothing was measured, if so."""

    @classmethod
    def left_out(cls, name: str, why: str) -> Self:
        """Return what stands for a measure that cannot be made here: it keeps and breaks nothing.

        It is there to be read, so that nobody takes what was not measured for kept.
        """
        return cls(name=name, unit="", bare=None, ours=math.nan, bound=None, absent=why)

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
