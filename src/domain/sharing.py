"""Shares: several units that stand for one device.

A share has an id of its own and the fate of its device: it is as healthy, sits where it sits, and
brings what it brings. Its id is the device's with a number behind `MARK`. Where a device has one
unit only, the unit's id is the device's.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.devices import MAX_ID, DeviceId, DeviceInfo, id_as_held
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.tree import Devices

MARK: Final = "::"
MAX_SHARES: Final = 1000
"""Shares of one device at most: no node runs as many pods, and lists have a bound."""
_text: Final = attrgetter("value")


def checked_count(count: int) -> int:
    """Return a number of shares. Raises `InvalidValueError` if there cannot be so many."""
    if not 1 <= count <= MAX_SHARES:
        raise InvalidValueError(f"{count} must be a number of shares from 1 to {MAX_SHARES}")
    return count


def share_ids(device: DeviceId, count: int) -> tuple[DeviceId, ...]:
    """Return the ids of a device's shares; of the only one it is the device's own.

    A longer device id is shortened, with a hash, so that there is room for each number. Raises
    `InvalidValueError` for a number of shares that cannot be.
    """
    if checked_count(count) == 1:
        return (device,)
    begin = share_base(device)
    return tuple(DeviceId(f"{begin}{MARK}{number}") for number in range(count))


def share_base(device: DeviceId) -> DeviceId:
    """Return what the ids of a device's shares begin with."""
    return DeviceId.shorten(device.value, MAX_ID - len(MARK) - len(str(MAX_SHARES - 1)))


def device_behind(share: DeviceId) -> DeviceId | None:
    """Return what the id of a share begins with, see `share_base`; None if it is no share's."""
    begin, mark, number = share.value.rpartition(MARK)
    is_share = bool(begin and mark) and number.isascii() and number.isdigit()
    return id_as_held(begin) if is_share else None


def shared(devices: Devices, count: int) -> Devices:
    """Return the shares of each device, each with the id of its device in `share_of`.

    Raises `InvalidValueError` for a number of shares that cannot be.
    """
    if checked_count(count) == 1:
        return devices
    shares: dict[DeviceId, DeviceInfo] = {}
    for device, info in devices.items():
        share = attrs.evolve(info, share_of=device.value)
        shares.update(dict.fromkeys(share_ids(device, count), share))
    return MappingProxyType(shares)


def devices_of(shares: Devices) -> Mapping[DeviceId, DeviceId]:
    """Return the id of the device that each unit stands for: its own if it is no share."""
    return {key: DeviceId(info.share_of) if info.share_of else key for key, info in shares.items()}


Order = Callable[[Collection[DeviceId], Collection[DeviceId], Devices], list[DeviceId]]
"""From free units, those of them that are taken in any case, and what is known of all units, to
the order in which units of one place are to be taken."""


def fullest_first(
    free: Collection[DeviceId], musts: Collection[DeviceId], units: Devices
) -> list[DeviceId]:
    """Return the shares of one device after the other: what is used most already comes first."""
    device = _devices_among(free, units)
    left = Counter(device.values())
    begun = {device[key] for key in musts if key in device}
    return sorted(
        free,
        key=lambda key: (device[key] not in begun, left[device[key]], device[key], key.value),
    )


def in_turn(
    free: Collection[DeviceId], musts: Collection[DeviceId], units: Devices
) -> list[DeviceId]:
    """Return a share of each device in turn: one that is used least comes first."""
    device = _devices_among(free, units)
    load = Counter(info.share_of for info in units.values() if info.share_of)
    load.subtract(Counter(device[key] for key in free if key not in musts))
    turns: list[tuple[int, str, DeviceId]] = []
    for key in sorted(set(free) - set(musts), key=_text):
        turns.append((load[device[key]], key.value, key))
        load[device[key]] += 1
    return [*sorted(musts, key=_text), *(key for _, _, key in sorted(turns))]


def _devices_among(keys: Iterable[DeviceId], units: Devices) -> dict[DeviceId, str]:
    return {key: (units[key].share_of if key in units else "") or key.value for key in keys}
