"""What happened to the configuration of a plugin that runs."""

from typing import ClassVar

import attrs

from deviceplugin.domain.events import Event, Level


@attrs.frozen(kw_only=True)
class ConfigurationReloaded(Event):
    """Another configuration is in force: resources by name, and settings by key, that changed.

    `reordered` are those that stayed, in their new order, if it is another one: the first resource
    that matches a device gets it.
    """

    source: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    reordered: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class ConfigurationUnchanged(Event):
    """It was read again, when asked for or after a bad one, and says what is in force."""

    source: str


@attrs.frozen(kw_only=True)
class ConfigurationRejected(Event):
    """It cannot be used, so the last good one stays; `failures` in a row so far.

    Each of `faults` is a line, `file:line:column: text`.
    """

    level: ClassVar[Level] = "warning"
    source: str
    faults: tuple[str, ...]
    failures: int


@attrs.frozen(kw_only=True)
class ConfigurationRejectedAgain(ConfigurationRejected):
    """It changed, and has the same faults as before: of interest to those who count."""

    level: ClassVar[Level] = "debug"


@attrs.frozen(kw_only=True)
class RestartNeeded(Event):
    """These settings changed, and hold from the next start on; the rest is in force."""

    level: ClassVar[Level] = "warning"
    source: str
    settings: tuple[str, ...]
