"""The configuration: what a file, the environment and flags say, checked as a whole.

For each setting: a flag (`--log-level`) goes before the environment (`DEVICEPLUGIN_LOG_LEVEL`),
that before the file (`log_level`), that before the default.
"""

from deviceplugin.app.settings.faults import Fault, InvalidConfigurationError, Place
from deviceplugin.app.settings.loading import PRESETS, Configuration, load
from deviceplugin.app.settings.values import CONFIG_VARIABLE, OPTIONS, Option, Settings

__all__ = [
    "CONFIG_VARIABLE",
    "OPTIONS",
    "PRESETS",
    "Configuration",
    "Fault",
    "InvalidConfigurationError",
    "Option",
    "Place",
    "Settings",
    "load",
]
