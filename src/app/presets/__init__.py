"""Configurations for well-known devices, shipped as YAML."""

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

_SUFFIX: Final = ".yaml"


def presets() -> Mapping[str, str]:
    """Return the text of each preset by its name, in the order of names."""
    shipped = (each for each in files(__name__).iterdir() if each.name.endswith(_SUFFIX))
    texts = {each.name.removesuffix(_SUFFIX): each.read_text(encoding="utf-8") for each in shipped}
    return {name: texts[name] for name in sorted(texts)}
