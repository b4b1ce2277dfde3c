"""`deviceplugin run --metrics`: what a monitor sees of a plugin that runs."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.support.process import DEVICEPLUGIN, PATIENCE, Process, eventually, ran

from deviceplugin.testing.kubelet import FakeKubelet, Pod, PodAdmitted

WITHOUT = """\
import sys
sys.modules["prometheus_client"] = None
import runpy
runpy.run_module("deviceplugin.app", run_name="__main__")
"""
"""The command line where the extra is not installed."""
BUILT = """\
import sys
from deviceplugin.app.manager import Manager
from deviceplugin.app.settings import load
manager = Manager.configured(load(sys.argv[1], {}, {}))
manager._container.run_plugin()
print("prometheus_client" in sys.modules)
"""


class Monitored:
    """A plugin that runs, and what it tells."""

    def __init__(self, process: Process) -> None:
        self._process = process

    def scraped(self) -> dict[str, float]:
        """Return all numbers, by name and labels as they are written."""
        found = re.search(r"metrics_served address=(\S+)", self._process.err)
        assert found is not None
        with urlopen(f"http://{found[1]}/metrics", timeout=PATIENCE) as answer:
            text = str(answer.read().decode())
        lines = [line.rpartition(" ") for line in text.splitlines() if line[:1] != "#"]
        return {name: float(number) for name, _, number in lines}

    def await_number(self, name: str, number: float) -> None:
        """Return once a number is this one."""
        eventually(lambda: self.scraped().get(f"deviceplugin_{name}") == number)


@pytest.fixture
def monitored(config: Path, place: Path, kubelet: FakeKubelet) -> Generator[Monitored]:
    """Run a plugin with three resources."""
    with running(config, place, "--metrics", ":0") as process:
        process.await_err("metrics_served address=127.0.0.1:")
        for name in ("sink", "zeros", "full"):
            kubelet.await_resource(f"example.com/{name}", lambda seen: seen.allocatable == 1)
        yield Monitored(process)


@contextmanager
def running(config: Path, place: Path, *flags: str) -> Generator[Process]:
    """Run a plugin that must end in order."""
    with Process(*DEVICEPLUGIN, "run", "--config", str(config), *flags, place=place) as process:
        yield process
        process.send(signal.SIGTERM)
        ended = process.ended()
        assert ended.code == 0, ended.err
        assert "Traceback" not in ended.err


def test_a_bad_file_is_seen_until_it_is_mended(monitored: Monitored, config: Path) -> None:
    """The plugin runs on meanwhile."""
    good = config.read_text()
    monitored.await_number("config_last_reload_successful", 1)
    config.write_text("version: 1\nresources: [{nmae: x}]\n")
    monitored.await_number("config_last_reload_successful", 0)
    monitored.await_number('config_reloads_total{outcome="rejected"}', 1)
    monitored.await_number('registered{resource="example.com/sink"}', 1)
    config.write_text(good)
    monitored.await_number("config_last_reload_successful", 1)


def test_every_resource_shows_what_the_kubelet_has_of_it(
    monitored: Monitored, kubelet: FakeKubelet
) -> None:
    """Registrations, streams, devices and allocations, each of its own resource."""
    sink = 'resource="example.com/sink"'
    for name in ("sink", "zeros", "full"):
        monitored.await_number(f'streams{{resource="example.com/{name}"}}', 1)
    monitored.await_number(f'devices{{health="healthy",{sink}}}', 1)
    assert isinstance(kubelet.admit(Pod.asking("pod", {"example.com/sink": 1})), PodAdmitted)
    monitored.await_number(f'allocations_total{{outcome="granted",{sink}}}', 1)
    monitored.await_number('allocations_total{outcome="granted",resource="example.com/full"}', 0)
    monitored.await_number(f'registrations_total{{outcome="accepted",{sink}}}', 1)
    kubelet.restart()
    monitored.await_number(f'registrations_total{{outcome="accepted",{sink}}}', 2)
    monitored.await_number(f"streams{{{sink}}}", 1)
    assert monitored.scraped()["deviceplugin_scan_duration_seconds_count"] >= 1


def test_a_resource_that_is_taken_out_is_shown_no_more(monitored: Monitored, config: Path) -> None:
    text = config.read_text()
    config.write_text(re.sub(r"  - name: full\n.*\n", "", text))
    eventually(lambda: not [name for name in monitored.scraped() if "example.com/full" in name])
    monitored.await_number('streams{resource="example.com/sink"}', 1)


def test_when_the_kubelet_is_gone_no_stream_is_open(
    monitored: Monitored, kubelet: FakeKubelet
) -> None:
    kubelet.stop()
    monitored.await_number('streams{resource="example.com/sink"}', 0)


def test_a_port_that_is_taken_keeps_no_device_from_a_pod(
    config: Path, place: Path, kubelet: FakeKubelet
) -> None:
    """As with the host's network, where another one may have it."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with running(config, place, "--metrics", address) as process:
            kubelet.await_resource("example.com/sink", lambda seen: seen.allocatable == 1)
            process.await_err(f'metrics_unavailable address={address} reason="the port is taken')


def test_without_the_extra_it_says_how_to_get_it(config: Path, place: Path) -> None:
    command = (sys.executable, "-c", WITHOUT, "run", "--config", str(config))
    ended = ran(*command, "--metrics", ":0", place=place)
    assert ended.code == 2
    assert "pip install 'deviceplugin[metrics]'" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("text", ["9100", "localhost", "x:99999", ":", "a b:1"])
def test_an_address_that_is_none_is_refused(config: Path, place: Path, text: str) -> None:
    ended = ran(*DEVICEPLUGIN, "run", "--config", str(config), "--metrics", text, place=place)
    assert ended.code == 2
    assert "must be HOST:PORT, such as 127.0.0.1:9100, or none" in ended.err


def test_who_wants_no_metrics_has_nothing_of_it_in_memory(config: Path) -> None:
    ended = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", BUILT, str(config)],
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "False\n"
