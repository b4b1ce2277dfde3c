"""Where something is served for others to ask."""

import re
from typing import Final, Self

import attrs

from deviceplugin.app.settings.shapes import Schema, anchored
from deviceplugin.domain.errors import InvalidValueError

NOWHERE: Final = "none"
LOOPBACK: Final = "127.0.0.1"
"""The host if none is named: to be open to others takes saying so."""

_HOST: Final = r"([A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])?"
_PORT: Final = (
    "(0|[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
)
_ADDRESS: Final = re.compile(f"{_HOST}:{_PORT}")
ADDRESS: Final[Schema] = {"type": "string", "pattern": anchored(f"({NOWHERE}|{_HOST}:{_PORT})")}


@attrs.frozen
class Address:
    """A host, by name or number, and a port; 0 is any that is free."""

    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Self | None:
        """Return what `host:port` means, "[::1]:9100" too; None for "none".

        Raises `InvalidValueError`.
        """
        if text == NOWHERE:
            return None
        if not _ADDRESS.fullmatch(text):
            raise InvalidValueError(
                f"{text!r} must be HOST:PORT, such as 127.0.0.1:9100, or {NOWHERE}"
            )
        host, _, port = text.rpartition(":")
        return cls(host.strip("[]") or LOOPBACK, int(port))

    def __str__(self) -> str:
        """Return it as `of` takes it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"
