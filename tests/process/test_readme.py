"""The plugin that the README shows is a plugin."""

import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from tests.support.process import PATIENCE, Process, eventually

from deviceplugin.app.manager import PLUGIN_DIRECTORY
from deviceplugin.testing.kubelet import FakeKubelet, Pod, PodAdmitted

README: Final = Path(__file__).parents[2] / "README.md"
YELLOW: Final = "color.example.com/yellow"
FAILED: Final = re.compile(f"registration_failed resource={YELLOW} ")


@pytest.fixture
def plugin() -> str:
    """Return the text of the plugin."""
    found = re.search(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def watches(process: Process) -> bool:
    """Return whether it has told the kernel which directory it waits for."""
    for each in Path(f"/proc/{process.pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            if "inotify wd:" in each.read_text():
                return True
    return False


@pytest.mark.skipif(
    os.path.lexists(PLUGIN_DIRECTORY),
    reason="there may be a real kubelet here, which nobody asked to register with",
)
def test_it_runs_as_it_stands_and_waits_for_a_kubelet(plugin: str, place: Path) -> None:
    """Without a word of complaint, until somebody ends it."""
    with Process(sys.executable, "-c", plugin, place=place) as process:
        eventually(lambda: watches(process))
        assert not process.is_over
        process.send(signal.SIGTERM)
        ended = process.ended()
    assert (ended.code, ended.out, ended.err) == (-signal.SIGTERM, "", "")


def test_with_a_kubelet_pods_can_have_what_it_offers(
    plugin: str, place: Path, plugins: Path, kubelet: FakeKubelet
) -> None:
    """After the kubelet's restart, too; the one news may be that it was away for a moment."""
    text = plugin.replace("Yellow()", f"Yellow(), plugin_dir={str(plugins)!r}")
    assert text != plugin
    with Process(sys.executable, "-c", text, place=place) as process:
        for number in range(2):
            kubelet.await_resource(YELLOW, lambda seen: seen.allocatable == 1, PATIENCE)
            pod = Pod.asking(f"p{number}", {YELLOW: 1})
            verdict = kubelet.admit(pod)
            assert isinstance(verdict, PodAdmitted)
            (node,) = verdict.containers["main"].answer.devices
            assert node.host_path == "/dev/null"
            kubelet.remove(pod)
            kubelet.restart()
        assert not process.is_over
        assert [line for line in process.err.splitlines() if not FAILED.match(line)] == []


QUIET: Final = """
class Broken:
    def scan(self, notifier):
        raise PermissionError("not as this user")

Manager("color.example.com", Broken(), plugin_dir={directory!r}).run()
"""


def test_without_logging_set_up_there_are_warnings_alone(place: Path, plugins: Path) -> None:
    """As the README says: a first failure is seen, that a kubelet is awaited is not."""
    text = "from deviceplugin import Manager\n" + QUIET.format(directory=str(plugins))
    with Process(sys.executable, "-c", text, place=place) as process:
        eventually(lambda: "scan_failed" in process.err)
        lines = process.err.splitlines()
    assert [line for line in lines if not line.startswith("scan_failed reason=")] == []
