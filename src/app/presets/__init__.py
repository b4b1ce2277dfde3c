"""Configurations for well-known devices, shipped as YAML.

Those in this folder are offered where a file does not say what else to offer: by none of them can
a pod harm the host's disks, memory or screens. Those in `named` wait to be named.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Final

_SUFFIX: Final = ".yaml"


@cache
def presets() -> Mapping[str, str]:
    """Return the text of each preset by its name, in the order of names."""
    return MappingProxyType(
        dict(sorted({**offered(), **_texts(files(__name__) / "named")}.items()))
    )


def offered() -> Mapping[str, str]:
    """Return the presets that are offered without being named."""
    return _texts(files(__name__))


def _texts(folder: Traversable) -> Mapping[str, str]:
    shipped = [each for each in folder.iterdir() if each.name.endswith(_SUFFIX)]
    texts = {each.name.removesuffix(_SUFFIX): each.read_text(encoding="utf-8") for each in shipped}
    return dict(sorted(texts.items()))


def summary(text: str) -> str:
    """Return what a pod gets by a preset, in a few words: those that its text begins with."""
    comment = " ".join(
        line.removeprefix("#").strip() for line in text.partition("\nversion:")[0].splitlines()
    )
    return re.split(r"[.:;] |\.$", comment.removeprefix("A pod gets "), maxsplit=1)[0]
