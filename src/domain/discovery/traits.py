"""What the hardware itself offers to know a device by."""

import re
from typing import Final

import attrs

# The digit of "i2c" is part of the word.
_NUMBER: Final = re.compile(r"(?<!^i)[0-9]+")


@attrs.frozen(kw_only=True)
class Traits:
    """From what is the same wherever the device is plugged in, to what only its place says.

    Each is empty if there is no such thing.
    """

    serial: str = ""
    unique: str = ""
    """A WWN, a UUID, or another name that no other device in the world has."""
    port: str = ""
    """The USB port, from its controller on."""
    address: str = ""
    """The PCI address; of an IOMMU group, the lowest of its members."""
    slot: str = ""
    """Where within that hardware it is, if something says so: it tells parts of one kind apart."""
    part: str = ""
    """Which part of that hardware it is, without a number that the kernel counts by."""
    model: str = ""
    """Vendor and product of what is on USB: another one is another device."""

    @property
    def known(self) -> tuple[str, ...]:
        """What there is of them, the most telling first; model and part aside."""
        known = (self.serial, self.unique, self.port, self.address, self.slot)
        return tuple(filter(None, known))

    def contradicts(self, other: "Traits") -> bool:
        """Say whether something that both know is not the same."""
        pairs = zip(attrs.astuple(self), attrs.astuple(other), strict=True)
        return any(mine and theirs and mine != theirs for mine, theirs in pairs)


NO_TRAITS: Final = Traits()


def stem(name: str) -> str:
    """Return a name of the kernel's without the number by which it counts: renderD, pcmCD0p.

    That is the first one; what follows it counts within the hardware.
    """
    return _NUMBER.sub("", name, count=1).strip("-._:")
