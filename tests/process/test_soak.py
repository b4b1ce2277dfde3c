"""The soak: `make soak` runs it for thousands of rounds."""

import os
import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from tests.soak.__main__ import faults_of
from tests.soak.soak import Report
from tests.soak.subject import Figures

LEAK = """
import os, sys, threading, time

def leak():
    while True:
        os.dup(0)
        time.sleep(0.05)

if "tests.soak.plugin" in sys.orig_argv:
    threading.Thread(target=leak, daemon=True).start()
"""
FIGURES = Figures(kibibytes=1024, threads=3, native=6, descriptors=20, tasks=22)


def soaked(*flags: str, path: str = "") -> "subprocess.CompletedProcess[str]":
    """Run a soak to its end."""
    return subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", "tests.soak", *flags],
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
