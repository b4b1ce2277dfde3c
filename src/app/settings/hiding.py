"""Hides secrets in the text of a configuration, which stays what it is otherwise."""

import json
import re
from collections.abc import Iterator
from typing import Final

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from deviceplugin.app.settings.document import compose
from deviceplugin.domain.discovery.globs import is_literal
from deviceplugin.domain.recording.masks import Masks
from deviceplugin.domain.recording.secrets import (
    FILES,
    KEYS,
    by_form,
    cooked,
    identifies,
    raw,
)

_DIGIT: Final = re.compile("[0-9]")
_ANCHOR: Final = re.compile(r"(?:[&!]\S*\s+)*")
_LAST: Final = re.compile(r"[^/.]+$")


def named(text: str) -> Iterator[str]:
    """Yield the secrets that a configuration that can be read asks for, or has by their form.

    The machine may have none of these: often that is what the recording is about.
    """
    yield from by_form(raw(text))
    root = compose(text, "the configuration")
    for node, holder in () if root is None else _in(root):
        is_text = node.tag.endswith(":str") and is_literal(node.value)
        if holder and is_text and identifies(node.value):
            yield raw(node.value)


def hidden(text: str, masks: Masks) -> str:
    """Return a configuration that can be read, without secrets.

    However short one is, it is masked as a value of what holds such, in paths of udev's links and
    in comments.
    """
    root = compose(text, "the configuration")
    scalars: dict[int, tuple[ScalarNode, str | None]] = {}
    for node, holder in () if root is None else _in(root):
        # What stands for several values is one that is held, if any is.
        if holder or node.start_mark.index not in scalars:
            scalars[node.start_mark.index] = node, holder
    made, begin = "", 0
    for start, (node, holder) in sorted(scalars.items()):
        end = node.end_mark.index
        made += _beside(text[begin:start], masks) + _scalar(node, holder, text[start:end], masks)
        begin = end
    return made + _beside(text[begin:], masks)


def _in(node: Node, holder: str = "") -> Iterator[tuple[ScalarNode, str | None]]:
    """Yield each text, with the name of the file or key that has it, if that holds secrets.

    None: it is a word of the language.
    """
    if isinstance(node, ScalarNode):
        yield node, holder
    elif isinstance(node, SequenceNode):
        for each in node.value:
            yield from _in(each, holder)
    elif isinstance(node, MappingNode):
        for name, value in node.value:
            if isinstance(name, ScalarNode):
                # One that asks for a file may have a number in it.
                yield name, "" if _DIGIT.search(name.value) else None
            yield from _in(value, _holder(name) or holder)


def _holder(node: Node) -> str:
    last = _LAST.search(node.value) if isinstance(node, ScalarNode) else None
    return last[0] if last and last[0] in FILES | KEYS else ""


def _scalar(node: ScalarNode, holder: str | None, written: str, masks: Masks) -> str:
    if holder is None:
        return written
    value = node.value
    made = cooked(masks.held(holder, raw(value))) if holder else masks.name(value)
    if made == value:
        return written
    anchor = _ANCHOR.match(written)
    before = anchor[0] if anchor else ""
    # Without quotes digits would be a number.
    is_there = node.style in {"'", '"'} and value in written
    text = written[len(before) :].replace(value, made, 1) if is_there else _quoted(made)
    return _beside(before, masks) + text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _beside(text: str, masks: Masks) -> str:
    """Return what stands between the values, comments most of all, without secrets."""
    return cooked(masks.here(raw(text)))
