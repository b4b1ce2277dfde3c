"""The lifecycle that the documents draw is the one that the table decides."""

import re

from tests.support.lifecycle_diagram import DOCUMENT, document, drawn

from deviceplugin.domain.lifecycle import IGNORED, TABLE
from deviceplugin.domain.phases import Phase, Signal


def test_the_document_is_what_the_table_says_now() -> None:
    """If not: `make diagram`."""
    assert DOCUMENT.read_text() == document()


def test_every_pair_that_changes_something_is_written() -> None:
    """And none that does not."""
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)` \|", drawn(), re.MULTILINE)
    wanted = {
        (phase.name, signal.name, step.phase.name)
        for (phase, signal), step in TABLE.items()
        if signal not in IGNORED[phase]
    }
    assert set(rows) == wanted
    assert len(rows) == len(wanted)


def test_every_way_from_phase_to_phase_is_an_arrow() -> None:
    """But those of STOP, which a sentence tells."""
    arrows = {
        (before, signal, after)
        for before, after, label in re.findall(
            r"^    (\w+) --> (\w+): (.+)$", drawn(), re.MULTILINE
        )
        for signal in label.split("<br/>")
    }
    assert arrows == {
        (phase.name, signal.name, step.phase.name)
        for (phase, signal), step in TABLE.items()
        if step.phase is not phase and signal is not Signal.STOP
    }


def test_stop_leads_to_the_end_as_the_sentence_says() -> None:
    for phase in set(Phase) - {Phase.STOPPED, Phase.STOPPING}:
        assert TABLE[phase, Signal.STOP].phase in {Phase.STOPPING, Phase.STOPPED}
