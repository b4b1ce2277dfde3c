"""From a file, the environment and flags to one configuration."""

from collections.abc import Mapping
from typing import Any, Final

import attrs
from yaml.nodes import Node, ScalarNode

from deviceplugin.app.presets import offered
from deviceplugin.app.settings.document import compose, read_file
from deviceplugin.app.settings.faults import Fault, InvalidConfigurationError, Place
from deviceplugin.app.settings.reader import Reader
from deviceplugin.app.settings.resources import read_resources
from deviceplugin.app.settings.values import CONFIG_VARIABLE, OPTIONS, Settings
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.errors import InvalidValueError

VERSION: Final = "1"
PRESETS: Final = "presets"
"""The source of a configuration without a file."""


@attrs.frozen(kw_only=True)
class Configuration:
    """How the plugin runs and what it offers, and where that is written.

    `source` names that to people; `path` is its file, if it is one, and `text` what was read of
    it: a pipe is read once.
    """

    settings: Settings
    rules: tuple[ResourceRule, ...]
    source: str
    path: str | None = None
    text: str = attrs.field(default="", eq=False, repr=False)


def load(
    path: str | None, environ: Mapping[str, str], flags: Mapping[str, str | None]
) -> Configuration:
    """Return the configuration: a flag goes before the environment, that before the file.

    `flags` are texts by the setting's name; None, or an empty variable, counts as not given.
    Without `path` (or DEVICEPLUGIN_CONFIG), or `resources` in the file, presets are offered:
    those that need not be named.
    Raises `InvalidConfigurationError` with every fault, of values that others go before, too.
    """
    path = path or environ.get(CONFIG_VARIABLE) or None
    given, faults = _given(environ, flags)
    reader = Reader(path or PRESETS)
    text = ""
    try:
        keys: Mapping[str, Node] = {}
        if path is not None:
            text = read_file(path)
            keys = _document(reader, text)
        settings = Settings(**{**_in_file(reader, keys), **given})
        rules = _rules(reader, keys, settings.domain)
    except InvalidConfigurationError as error:
        raise InvalidConfigurationError([*faults, *error.faults]) from error
    if faults or reader.faults:
        raise InvalidConfigurationError([*faults, *reader.faults])
    return Configuration(
        settings=settings, rules=rules, source=reader.source, path=path, text=text
    )


def _given(
    environ: Mapping[str, str], flags: Mapping[str, str | None]
) -> tuple[dict[str, Any], list[Fault]]:
    """Return what the environment and flags say, by setting, and what is wrong with it."""
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for name, option in OPTIONS.items():
        variable = environ.get(option.variable) or None
        for source, text in ((option.variable, variable), (option.flag, flags.get(name))):
            if text is not None:
                try:
                    values[name] = option.parse(text)
                except InvalidValueError as error:
                    faults.append(Fault(source=source, text=str(error)))
    return values, faults


def _document(reader: Reader, text: str) -> Mapping[str, Node]:
    """Return what stands under each key of a document."""
    root = compose(text, reader.source)
    if root is None or (isinstance(root, ScalarNode) and not root.value):
        reason = "is empty: it needs 'version: 1'; without 'resources:' the presets are offered"
        fault = Fault(source=reader.source, text=reason, place=Place(1, 1))
        raise InvalidConfigurationError([fault])
    keys = reader.mapping(root, required=["version"], optional=[*OPTIONS, "resources"])
    version = keys.get("version")
    if version is not None and not _is_known(version):
        reader.note(version, f"version must be the number {VERSION}: no other is known")
    return keys


def _is_known(version: Node) -> bool:
    is_plain = isinstance(version, ScalarNode) and version.style is None
    return is_plain and bool(version.value == VERSION)


def _in_file(reader: Reader, keys: Mapping[str, Node]) -> dict[str, Any]:
    """Return what a file says, by setting; faults are noted."""
    values: dict[str, Any] = {}
    for name, option in OPTIONS.items():
        if name in keys:
            node = keys[name]
            if option.numeric:
                value = reader.checked(node, reader.number(node), option.parse)
            else:
                value = reader.parsed(node, option.parse)
            if value is not None:
                values[name] = value
    return values


def _rules(reader: Reader, keys: Mapping[str, Node], domain: str) -> tuple[ResourceRule, ...]:
    if "resources" in keys:
        return read_resources(reader, keys["resources"], domain)
    return preset_rules(offered(), domain)


def preset_rules(texts: Mapping[str, str], domain: str) -> tuple[ResourceRule, ...]:
    """Return the rules of presets, texts by name. Raises `InvalidConfigurationError`."""
    rules: list[ResourceRule] = []
    faults: list[Fault] = []
    for name, text in texts.items():
        reader = Reader(name)
        keys = _document(reader, text)
        rules += read_resources(reader, keys["resources"], domain) if "resources" in keys else ()
        faults += reader.faults
    if faults:
        raise InvalidConfigurationError(faults)
    return tuple(rules)
