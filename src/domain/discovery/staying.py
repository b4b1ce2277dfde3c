"""A device that stays where it is, because a container may hold it."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.identity import Known
from deviceplugin.domain.holds import Hold
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.sharing import device_behind, share_base


@attrs.frozen
class Offered:
    """What was offered by an id: which unit that was, by its place, and where its members were.

    The place of a group is what makes it one, so that it is the same unit when a member comes.
    `guests` are what came along with it, by its place in the hardware, and was offered nowhere.
    Where it is a guess, only the id told: another device that could have it may be the one.
    """

    unit: str
    members: tuple[Known, ...]
    guests: tuple[Known, ...] = ()
    is_guess: bool = False

    @classmethod
    def of(
        cls, known: Known, members: Sequence[Candidate], guests: Sequence[Candidate] = ()
    ) -> "Offered":
        """Return what a unit of these members is offered as."""
        along = tuple(map(Known.of, guests))
        if len(members) == 1 and known.place == members[0].identity:
            return cls(known.place, (known,), along)
        return cls(known.place, tuple(map(Known.of, members)), along)

    def after(self, then: "Offered") -> "Offered":
        """Return this if it is held: the unit that it was then, with all that came along since."""
        now = {each.place for each in self.guests}
        gone = tuple(each for each in then.guests if each.place not in now)
        return Offered(then.unit, self.members, self.guests + gone, then.is_guess)


Whereabouts = Mapping[Hold, Offered]
"""What each device was offered as last, by its resource and id."""


@attrs.frozen(kw_only=True)
class Stay:
    """A device that is held: by which resource and id, in which units, and if it alone can be it.

    Its id is that of the device; `holds` are those of its units, `unit` is the place of the one
    that it was offered as, and `known` is what a member of it is known by now. A guest is what
    came along with it.
    """

    hold: Hold
    holds: tuple[Hold, ...]
    unit: str
    known: Known
    is_sure: bool = True
    is_guest: bool = False

    def __str__(self) -> str:
        """Return why it is not offered otherwise."""
        may_be = "hold it as" if self.is_sure else "hold it, or one like it, as"
        may_be = "hold it along with" if self.is_guest else may_be
        return f"a container may {may_be} {self.hold.id} of {self.hold.resource}"


Stays = Mapping[str, Stay]
"""Devices that are held, by what tells them from all others of a scan."""
NOBODY_STAYS: Final[Stays] = MappingProxyType({})


class HeldDevices:
    """Which devices are held, whole or in shares."""

    def __init__(self, holds: Iterable[Hold]) -> None:
        self._whole: dict[DeviceId, list[Hold]] = {}
        self._shares: dict[DeviceId, list[Hold]] = {}
        for hold in sorted(holds, key=str):
            self._whole.setdefault(hold.id, []).append(hold)
            device = device_behind(hold.id)
            if device is not None:
                self._shares.setdefault(device, []).append(hold)

    def __contains__(self, device: object) -> bool:
        """Say whether anything of the device of this id is held."""
        return device in self._whole or (
            bool(self._shares)
            and isinstance(device, DeviceId)
            and share_base(device) in self._shares
        )

    def of(self, device: DeviceId, resource: ResourceName | None = None) -> tuple[Hold, ...]:
        """Return what is held of the device of this id, of one resource or of any."""
        found = list(self._whole.get(device, ()))
        if self._shares:
            found += self._shares.get(share_base(device), ())
        return tuple(each for each in found if resource in {None, each.resource})
