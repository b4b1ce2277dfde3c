"""The programs of the page for plugin authors do what the page says, to their end."""

import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from tests.support.process import PATIENCE, Process

from deviceplugin.testing.kubelet import FakeKubelet, Pod, PodAdmitted

PAGE: Final = Path(__file__).parents[2] / "docs" / "plugin-authors.md"
PROGRAMS: Final = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
YELLOW: Final = "color.example.com/yellow"
LOOPS, SOURCE, POWERS, ALLOCATES = range(4)

GIVEN: Final[Mapping[int, tuple[int, Mapping[str, str], str]]] = {
    LOOPS: (1, {}, ""),
    SOURCE: (1, {}, ""),
    POWERS: (3, {"YELLOW": "dev2"}, "ready: dev2\n"),
    ALLOCATES: (1, {"YELLOW": "dev0"}, ""),
}
"""Of each program: its devices, what a container of one has of it, and what it prints."""


def test_every_program_of_the_page_is_run() -> None:
    assert len(PROGRAMS) == len(GIVEN)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("index", GIVEN)
def test_a_program_of_the_page_gives_what_it_says_and_ends_in_order(
    index: int, number: signal.Signals, place: Path, plugins: Path, kubelet: FakeKubelet
) -> None:
    """With 0, without a word of complaint, and without a socket left behind."""
    count, envs, out = GIVEN[index]
    text = PROGRAMS[index].replace(", Yellow()", f", Yellow(), plugin_dir={str(plugins)!r}")
    assert text != PROGRAMS[index]
    with Process(sys.executable, "-c", text, place=place) as process:
        kubelet.await_resource(YELLOW, lambda seen: seen.allocatable == count, PATIENCE)
        pod = Pod.asking("p", {YELLOW: 1})
        verdict = kubelet.admit(pod)
        assert isinstance(verdict, PodAdmitted)
        assert dict(verdict.containers["main"].answer.envs) == envs
        kubelet.start_container(pod, "main")
        process.send(number)
        ended = process.ended()
    assert (ended.code, ended.out, ended.err) == (0, out, "")
    assert list(plugins.glob("dp-*")) == []
