"""Numbers as sysfs shows them: 42, -1, 0.5 or 0x2a."""

import re
from fractions import Fraction
from typing import Final

_QUANTITY: Final = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]{1,32})|([0-9]{1,32}(?:\.[0-9]{1,32})?))")


def quantity(text: str) -> Fraction | None:
    """Return the number that a text is, white space around it aside; None if it is none.

    Without "0x" it is decimal, whatever it begins with: 0403 is 403.
    """
    found = _QUANTITY.fullmatch(text.strip())
    if found is None:
        return None
    number = Fraction(int(found[2], 16)) if found[2] else Fraction(found[3])
    return -number if found[1] else number
