"""Events of the application, written to the standard library's loggers."""

from deviceplugin.adapters.logs.formatters import JsonFormatter, TextFormatter
from deviceplugin.adapters.logs.journal import LoggingJournal

__all__ = ["JsonFormatter", "LoggingJournal", "TextFormatter"]
