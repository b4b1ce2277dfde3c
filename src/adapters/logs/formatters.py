"""Log lines for people and for machines, of our events and of whatever else is logged."""

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


class TextFormatter(logging.Formatter):
    """Lines such as `2026-07-01T12:00:00.000Z INFO kubelet_appeared directory=/plugins`.

    What is no event of ours says which logger it comes from.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, and below it the traceback of an exception that was logged."""
        origin = "" if _event(record) else f"{record.name}: "
        first = f"{_time(record)} {record.levelname} {origin}{record.getMessage()}"
        return "\n".join([first, *_details(self, record)])


class JsonFormatter(logging.Formatter):
    """One object a line: `time`, `level`, `logger`, then `event` and its facts, or else `message`.

    The traceback of an exception that was logged stands in `exception`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the object."""
        shown: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        shown |= _event(record) or {"message": record.getMessage()}
        if details := _details(self, record):
            shown["exception"] = "\n".join(details)
        return json.dumps(shown, default=str)


def _event(record: logging.LogRecord) -> dict[str, Any] | None:
    """Return the event that `LoggingJournal` put on the record; None if it is somebody else's."""
    name, facts = getattr(record, "event", None), getattr(record, "facts", None)
    return {"event": name, **facts} if isinstance(facts, Mapping) else None


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _details(formatter: logging.Formatter, record: logging.LogRecord) -> list[str]:
    details: list[str] = []
    if record.exc_info:
        details.append(formatter.formatException(record.exc_info))
    if record.stack_info:
        details.append(formatter.formatStack(record.stack_info))
    return details
