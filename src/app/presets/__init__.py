"""Configurations for well-known devices, shipped as YAML."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

_SUFFIX: Final = ".yaml"


def presets() -> Mapping[str, str]:
    """Return the text of each preset by its name, in the order of names."""
    shipped = (each for each in files(__name__).iterdir() if each.name.endswith(_SUFFIX))
    texts = {each.name.removesuffix(_SUFFIX): each.read_text(encoding="utf-8") for each in shipped}
    return {name: texts[name] for name in sorted(texts)}


def summary(text: str) -> str:
    """Return what a pod gets by a preset, in a few words: those that its text begins with."""
    comment = " ".join(
        line.removeprefix("#").strip() for line in text.partition("\nversion:")[0].splitlines()
    )
    return re.split(r"[.:;] |\.$", comment.removeprefix("A pod gets "), maxsplit=1)[0]
