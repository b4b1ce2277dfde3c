"""The soak: `make soak` runs it for thousands of rounds."""

import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from random import Random

import attrs
import pytest
from inotify_simple import flags
from tests.soak.__main__ import faults_of, spared
from tests.soak.accidents import Scene, accidents
from tests.soak.soak import Report
from tests.soak.subject import Figures, Subject

from deviceplugin.adapters.inotify.instance import open_instance
from deviceplugin.testing.kubelet import FakeKubelet

LEAK = """
import os, sys, threading, time

def leak():
    while True:
        os.dup(0)
        time.sleep(0.05)

if "tests.soak.plugin" in sys.orig_argv:
    threading.Thread(target=leak, daemon=True).start()
"""
ROOT = Path(__file__).parents[2]
FIGURES = Figures(kibibytes=1024, threads=3, native=6, descriptors=20, tasks=22)


def soaked(*words: str, path: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a soak to its end."""
    return subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "tests.soak", *words],
        env={**os.environ, "GRPC_VERBOSITY": "NONE"} | ({"PYTHONPATH": path} if path else {}),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("kubelet", ["1.28", "1.37"])
def test_a_short_soak_strands_and_leaks_nothing(kubelet: str) -> None:
    """A plugin in a process of its own, the devices and an accident changing at each round."""
    ended = soaked("--rounds", "30", "--kubelet", kubelet)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "stranded: 0" in ended.stdout
    assert "after 30 rounds" in ended.stdout


def test_a_leak_ends_it_and_is_told_with_the_round(tmp_path: Path) -> None:
    """Not only by the figures of the end: the accident that it began with is what helps."""
    (tmp_path / "sitecustomize.py").write_text(LEAK)
    ended = soaked("--rounds", "40", "--settle", "0.5", path=str(tmp_path))
    assert ended.returncode == 1, ended.stdout + ended.stderr
    said = re.search(r"round (\d+), [^:]+: descriptors: \d+ at the start, \d+ now", ended.stdout)
    assert said is not None, ended.stdout
    assert 20 <= int(said[1]) < 39


def test_where_time_is_over_first_there_is_a_measure_all_the_same() -> None:
    """That there were too few rounds is the only fault: not that nothing was measured."""
    ended = soaked("--rounds", "1000", "--seconds", "2")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert re.search(r"broken: \d+ of 1000 rounds: give it more --seconds", ended.stdout)
    assert ended.stdout.count("broken:") == 1, ended.stdout
    assert re.search(r"at the start: \d+\.\d MiB", ended.stdout)


def test_what_is_tolerated_is_printed_and_documented() -> None:
    """Who reads "none more" must know of what some more is no fault."""
    assert spared() == (
        "tolerated above the start: after a round 4 threads of gRPC's, 2 threads, 4 descriptors, "
        "4 tasks; in the end 2 threads of gRPC's"
    )
    said = " ".join((ROOT / "docs/testing.md").read_text(encoding="utf-8").split())
    assert "four of each, two of its own threads, and four of gRPC's" in said
    assert "none more, but for two of gRPC's threads" in said


def test_a_new_kubelets_socket_is_renamed_over_the_old_one(tmp_path: Path) -> None:
    """The name leads to the old one until then, and the plugin registers with the new one."""
    (tmp_path / "a").mkdir()
    place = tmp_path / "device-plugins"
    place.symlink_to("a")
    chance = Random(1)  # noqa: S311 - a course of events, no secret
    with (
        FakeKubelet(place) as kubelet,
        Subject(place) as subject,
        closing(open_instance()) as watch,
    ):
        subject.show({"widget": {"a": True}})
        scene = Scene(kubelet=kubelet, subject=subject, place=place, chance=chance)
        kubelet.await_resource("example.com/widget", lambda seen: seen.allocatable == 1, 10.0)
        for _ in range(4):
            before = kubelet.socket.stat().st_ino
            watch.add_watch(str(place), flags.DELETE | flags.MOVED_FROM | flags.MOVED_TO)
            accidents(kubelet)["kubelet.sock replaced"][0](scene)
            seen = [
                flags(event.mask).name or ""
                for event in watch.read(0)
                if event.name == "kubelet.sock"
            ]
            assert seen == ["DELETE", "MOVED_FROM", "MOVED_TO", "MOVED_TO"]
            assert kubelet.socket.stat().st_ino != before
            kubelet.await_resource("example.com/widget", lambda seen: seen.allocatable == 1, 10.0)


def test_who_asks_for_rounds_has_them_or_a_fault() -> None:
    """Who asks for seconds alone has what there is time for."""
    report = Report(rounds=70, start=FIGURES, end=FIGURES)
    assert faults_of(report, 100) == ["70 of 100 rounds: give it more --seconds"]
    assert faults_of(report, 70) == []
    assert faults_of(report, None) == []
    assert len(faults_of(Report(rounds=70), None)) == 1


@pytest.mark.parametrize("name", ["threads", "native", "descriptors", "tasks", "kibibytes"])
def test_what_it_has_grown_by_in_the_end_is_a_fault(name: str) -> None:
    more = {"native": 3, "kibibytes": 5 * 1024}.get(name, 1)
    grown = attrs.evolve(FIGURES, **{name: getattr(FIGURES, name) + more})
    assert len(faults_of(Report(rounds=70, start=FIGURES, end=grown), 70)) == 1
    assert faults_of(Report(rounds=70, start=grown, end=FIGURES), 70) == []
