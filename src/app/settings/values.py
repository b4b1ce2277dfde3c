"""The settings: their values, their defaults, and where each can be given."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.app.settings.addresses import ADDRESS, NOWHERE, Address
from deviceplugin.app.settings.shapes import DOMAIN, PATH, Schema, one_of
from deviceplugin.domain.discovery.rulebook import OnConflict
from deviceplugin.domain.ending import OnExit
from deviceplugin.domain.errors import InvalidResourceNameError, InvalidValueError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.routes import RegistrationMode
from deviceplugin.domain.timing import LONGEST_RESCAN, SHORTEST_RESCAN

REGISTRATIONS: Final = tuple(mode.value for mode in RegistrationMode)
ON_EXIT: Final = tuple(choice.value for choice in OnExit)
LOG_LEVELS: Final = ("debug", "info", "warning", "error")
LOG_FORMATS: Final = ("text", "json")
CONFLICTS: Final = tuple(each.value for each in OnConflict)
_SECONDS: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")


def _domain(text: str) -> str:
    try:
        return ResourceName(text, "any").domain
    except InvalidResourceNameError as error:
        raise InvalidValueError(f"{text!r}: {error.rule}") from error


def _path(text: str) -> str:
    if not text.startswith("/") or not text.isprintable():
        raise InvalidValueError(f"{text!r} must be an absolute path")
    return text


def _seconds(value: str | float) -> float:
    seconds = float(value) if not isinstance(value, str) or _SECONDS.fullmatch(value) else 0.0
    if not SHORTEST_RESCAN <= seconds <= LONGEST_RESCAN:
        raise InvalidValueError(
            f"{value!r} must be a number of seconds, {SHORTEST_RESCAN:g} to {LONGEST_RESCAN:.0f}, "
            "such as 5"
        )
    return seconds


def _registration(text: str) -> str:
    return _one_of(REGISTRATIONS, text)


def _on_exit(text: str) -> str:
    return _one_of(ON_EXIT, text)


def _log_level(text: str) -> str:
    return _one_of(LOG_LEVELS, text)


def _log_format(text: str) -> str:
    return _one_of(LOG_FORMATS, text)


def _conflict(text: str) -> str:
    return _one_of(CONFLICTS, text)


def _metrics(text: str) -> str:
    Address.of(text)
    return text


def _one_of(allowed: Sequence[str], text: str) -> str:
    if text not in allowed:
        raise InvalidValueError(f"{text!r} must be one of {', '.join(allowed)}")
    return text


@attrs.frozen(kw_only=True)
class Settings:
    """How the plugin runs, apart from what it offers. Raises `InvalidValueError`.

    - `domain`: of resources that are named without one. The default is nobody's: `.local` is
      reserved (RFC 6762), so it can never be a vendor's.
    - `plugin_dir`: the kubelet's plugin directory; `kubelet_root`: its --root-dir, below which are
      pod-resources and plugins_registry; `sys_root`, `dev_root`: where the host's /sys and /dev
      are mounted.
    - `proc_root`: where the host's /proc is mounted, for rules that leave out what the host uses.
    - `on_conflict`: a device that several resources claim goes to the first, or is an error.
    - `registration`: the way to the kubelet: we `register`, or a `watcher` finds us in
      plugins_registry; `auto` registers, and waits to be found where that cannot be.
    - `on_exit`: whether the plugin, when it ends, leaves the lists as they are, or says first that
      all devices are Unhealthy.
    - `metrics`: the address where they are told; none: nowhere.
    - `rescan_seconds`: from one look at the hardware to the next, if nothing tells of a change;
      None: seldom where each change is heard, often where not.
    """

    domain: str = attrs.field(default="devices.local", converter=_domain)
    plugin_dir: str = attrs.field(default="/var/lib/kubelet/device-plugins", converter=_path)
    kubelet_root: str = attrs.field(default="/var/lib/kubelet", converter=_path)
    registration: str = attrs.field(default="auto", converter=_registration)
    on_exit: str = attrs.field(default="leave", converter=_on_exit)
    sys_root: str = attrs.field(default="/sys", converter=_path)
    dev_root: str = attrs.field(default="/dev", converter=_path)
    proc_root: str = attrs.field(default="/proc", converter=_path)
    rescan_seconds: float | None = attrs.field(
        default=None, converter=attrs.converters.optional(_seconds)
    )
    on_conflict: str = attrs.field(default=OnConflict.FIRST.value, converter=_conflict)
    metrics: str = attrs.field(default=NOWHERE, converter=_metrics)
    log_level: str = attrs.field(default="info", converter=_log_level)
    log_format: str = attrs.field(default="text", converter=_log_format)


@attrs.frozen(kw_only=True)
class Option:
    """One setting as a file, the environment and the command line name it.

    `parse` takes its text and raises `InvalidValueError`; `schema` says the same of a file's value
    in the words of JSON Schema. One that is `live` can change while the plugin runs; the others
    hold from its next start on.
    """

    name: str
    parse: Callable[[str], str | float]
    schema: Schema
    help: str
    numeric: bool = False
    live: bool = False

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"{PREFIX}{self.name.upper()}"

    @property
    def flag(self) -> str:
        """The flag of the command line."""
        return f"--{self.name.replace('_', '-')}"


PREFIX: Final = "DEVICEPLUGIN_"
"""Of variables. A Kubernetes service named `deviceplugin` puts more of this prefix into each pod:
so unknown ones are no fault, and none of ours may begin with DEVICEPLUGIN_PORT or _SERVICE."""
CONFIG_VARIABLE: Final = f"{PREFIX}CONFIG"

OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {
        option.name: option
        for option in (
            Option(
                name="domain",
                parse=_domain,
                schema={"type": "string", **DOMAIN},
                help="domain of resources named without one",
                live=True,
            ),
            Option(
                name="plugin_dir", parse=_path, schema=PATH, help="the kubelet's plugin directory"
            ),
            Option(name="kubelet_root", parse=_path, schema=PATH, help="the kubelet's --root-dir"),
            Option(
                name="registration",
                parse=_registration,
                schema=one_of(REGISTRATIONS),
                help=" | ".join(REGISTRATIONS),
            ),
            Option(
                name="on_exit",
                parse=_on_exit,
                schema=one_of(ON_EXIT),
                help=f"what the kubelet is told of the devices in the end: {' | '.join(ON_EXIT)}",
            ),
            Option(
                name="sys_root", parse=_path, schema=PATH, help="where the host's /sys is mounted"
            ),
            Option(
                name="dev_root", parse=_path, schema=PATH, help="where the host's /dev is mounted"
            ),
            Option(
                name="proc_root",
                parse=_path,
                schema=PATH,
                help="where the host's /proc is mounted",
            ),
            Option(
                name="on_conflict",
                parse=_conflict,
                schema=one_of(CONFLICTS),
                help=" | ".join(CONFLICTS),
                live=True,
            ),
            Option(
                name="rescan_seconds",
                parse=_seconds,
                schema={"type": "number", "minimum": SHORTEST_RESCAN, "maximum": LONGEST_RESCAN},
                help="seconds from one look at the hardware to the next",
                numeric=True,
                live=True,
            ),
            Option(
                name="metrics",
                parse=_metrics,
                schema=ADDRESS,
                help=f"HOST:PORT where metrics are told to Prometheus | {NOWHERE}",
            ),
            Option(
                name="log_level",
                parse=_log_level,
                schema=one_of(LOG_LEVELS),
                help=" | ".join(LOG_LEVELS),
                live=True,
            ),
            Option(
                name="log_format",
                parse=_log_format,
                schema=one_of(LOG_FORMATS),
                help=" | ".join(LOG_FORMATS),
                live=True,
            ),
        )
    }
)
"""Every setting, by its key in the file."""
