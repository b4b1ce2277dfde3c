"""How long each timer of a registration's life runs."""

import attrs

from deviceplugin.domain.phases import Command
from deviceplugin.domain.ports.driven.clock import Chance
from deviceplugin.domain.timing import Timing


@attrs.define
class Waits:
    """The waits that commands ask for; those after failures grow with their number in a row."""

    timing: Timing
    chance: Chance
    failures: int = attrs.field(default=0, init=False)

    def seconds(self, command: Command) -> float:
        """Return how long the timer that `command` sets runs; to back off counts a failure."""
        match command:
            case Command.SET_STREAM_TIMER:
                return self.timing.stream
            case Command.SET_DOUBT_TIMER:
                return self.timing.doubt
            case Command.SET_SETTLE_TIMER:
                return self.timing.settle
            case Command.BACK_OFF_SLOWLY:
                backoff = self.timing.slow_backoff
            case _:
                backoff = self.timing.backoff
        self.failures += 1
        return backoff.delay(self.failures, self.chance.fraction())
