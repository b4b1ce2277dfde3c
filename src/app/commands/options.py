"""What several commands are told by: the configuration, and where the machine is."""

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from deviceplugin.adapters.logs import JsonFormatter, TextFormatter
from deviceplugin.app.inspector import own_configuration
from deviceplugin.app.settings import CONFIG_VARIABLE, OPTIONS, Configuration, Settings, load

_Command = TypeVar("_Command", bound=Callable[..., Any])

_ROOT: Final = (
    "A directory with the sys, dev and proc of a machine, such as one that `record` made, whose "
    "configuration is used if no other is given; --sys-root, --dev-root and --proc-root go before "
    "it, it goes before environment and file"
)


def configurable(command: _Command) -> _Command:
    """Add --config and a flag for each setting; the settings check the values themselves."""
    for option in reversed(list(OPTIONS.values())):
        text = f"{option.help} [{option.variable}]"
        command = click.option(option.flag, metavar="VALUE", help=text)(command)
    text = "The YAML file; without one, the presets not marked (if named) [DEVICEPLUGIN_CONFIG]"
    return click.option("--config", metavar="FILE", help=text)(command)


def rooted(command: _Command) -> _Command:
    """Add --root."""
    return click.option("--root", metavar="DIR", help=_ROOT)(command)


def probing(command: _Command) -> _Command:
    """Add --probe."""
    text = "Ask the probes of devices, once; else they are not asked and count as well"
    return click.option("--probe", is_flag=True, help=text)(command)


def _below(root: str, flags: Mapping[str, str | None]) -> Mapping[str, str | None]:
    """Return the flags with the roots of a machine that has all of them in one directory."""
    here = os.path.abspath(root)  # noqa: PTH100 - text in, text out
    given = {name: text for name, text in flags.items() if text is not None}
    return {**{f"{name}_root": f"{here}/{name}" for name in ("sys", "dev", "proc")}, **given}


def configured(
    path: str | None, flags: Mapping[str, str | None], root: str | None = None
) -> Configuration:
    """Read the configuration, and log as it says. Raises `InvalidValueError`."""
    if root is not None:
        path = path or os.environ.get(CONFIG_VARIABLE) or own_configuration(root)
        flags = _below(root, flags)
    configuration = load(path, os.environ, flags)
    logging.basicConfig(handlers=[logging.StreamHandler()], force=True)
    _log_as(configuration.settings)
    return configuration


def reconfigured(path: str | None, flags: Mapping[str, str | None]) -> Configuration:
    """Read the configuration again, and log as it says now. Raises `InvalidValueError`."""
    configuration = load(path, os.environ, flags)
    _log_as(configuration.settings)
    return configuration


def _log_as(settings: Settings) -> None:
    """Set level and format, each in one step: other threads may log meanwhile."""
    root = logging.getLogger()
    root.setLevel(settings.log_level.upper())
    for handler in root.handlers:
        handler.setFormatter(JsonFormatter() if settings.log_format == "json" else TextFormatter())
