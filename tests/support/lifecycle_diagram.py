"""Draws the lifecycle in docs/lifecycle.md from its table; run by `make diagram`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from deviceplugin.domain.lifecycle import IGNORED, TABLE
from deviceplugin.domain.phases import Command, Phase, Signal

DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "lifecycle.md"
BEGIN: Final = "<!-- from here on written by `make diagram` -->\n"

_WORDY: Final = (Command, Phase, Signal)


def drawn() -> str:
    """Return all that is written by the table: the diagram, the words, and every pair."""
    return "\n".join([*_diagram(), "", *_words(), "", *_pairs(), ""])


def document() -> str:
    """Return the document as it should be: what people wrote, then what the table says."""
    return DOCUMENT.read_text().split(BEGIN)[0] + BEGIN + "\n" + drawn()


def _decided() -> Iterator[tuple[Phase, Signal]]:
    return (pair for pair in TABLE if pair[1] not in IGNORED[pair[0]])


def _diagram() -> Iterator[str]:
    """Draw an arrow for each pair of phases, with all the signals that lead along it.

    STOP has none: it leads from each phase to the end, by way of a close where a server is.
    """
    arrows: dict[tuple[Phase, Phase], list[Signal]] = {}
    for phase, signal in _decided():
        after = TABLE[phase, signal].phase
        if signal is not Signal.STOP and after is not phase:
            arrows.setdefault((phase, after), []).append(signal)
    yield "```mermaid"
    yield "stateDiagram-v2"
    yield f"    [*] --> {Phase.WAITING.name}"
    for (phase, after), signals in arrows.items():
        label = "<br/>".join(signal.name for signal in signals)
        yield f"    {phase.name} --> {after.name}: {label}"
    yield f"    {Phase.STOPPED.name} --> [*]"
    yield "```"
    yield ""
    yield "`STOP` leads from each phase to `STOPPING` or, where there is no server, to `STOPPED`."


def _words() -> Iterator[str]:
    for kind in _WORDY:
        yield f"| {kind.__name__.lower()} | |"
        yield "|---|---|"
        yield from (f"| `{each.name}` | {each.value} |" for each in kind)
        yield ""


def _pairs() -> Iterator[str]:
    yield "| in | on | go to | and do |"
    yield "|---|---|---|---|"
    for phase, signal in _decided():
        step = TABLE[phase, signal]
        commands = ", ".join(f"`{command.name}`" for command in step.commands)
        yield f"| `{phase.name}` | `{signal.name}` | `{step.phase.name}` | {commands} |"
    yield ""
    yield f"The other {len(TABLE) - len(list(_decided()))} pairs change nothing."


if __name__ == "__main__":
    DOCUMENT.write_text(document())
