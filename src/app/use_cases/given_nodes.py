"""Remember which device nodes containers were given, for as long as the plugin lives."""

import attrs

from deviceplugin.app.use_cases.board import Board
from deviceplugin.domain.allocation import Grant, Request, check_in_place, given_nodes
from deviceplugin.domain.devices import DeviceId


@attrs.define(kw_only=True)
class GivenNodes:
    """What was last given of each device; it forgets those that have left the board.

    Nobody tells when a container has ended, and nobody need: whoever gets the device next is
    given its nodes anew.
    """

    board: Board
    _given: dict[DeviceId, frozenset[str]] = attrs.field(
        factory=dict[DeviceId, frozenset[str]], init=False
    )

    def note(self, request: Request, grant: Grant) -> None:
        """Take note of what a container is given."""
        self._given.update(given_nodes(request, grant))
        there = self.board.inventory.devices
        if len(self._given) > len(there):
            self._given = {key: self._given[key] for key in self._given if key in there}

    def check(self, request: Request) -> None:
        """Raise `MovedDeviceError` if a device has left a node that it was given as."""
        check_in_place(self._given, request)
