"""Events as records of the standard library's logging."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from deviceplugin.adapters.logs.lines import facts, line
from deviceplugin.domain.event_names import event_name
from deviceplugin.domain.events import Event, Level
from deviceplugin.domain.ports.driven.journal import Journal

_LEVELS: Final[Mapping[Level, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
}


class LoggingJournal(Journal):
    """Writes each event as one record of `logger`, by default the one named deviceplugin.

    The message is the event's line; the record also carries its name as `event` and a mapping of
    its `facts`, for formatters that want them apart.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logger or logging.getLogger("deviceplugin")

    def record(self, event: Event) -> None:
        """Log `event`. Somebody's filter or handler that raises is no affair of the caller's."""
        level = _LEVELS[event.level]
        if not self._logger.isEnabledFor(level):
            return
        name, known = event_name(type(event)), facts(event)
        with suppress(Exception):
            self._logger.log(level, "%s", line(name, known), extra={"event": name, "facts": known})
