"""`deviceplugin run` follows its configuration: by signal, and when the file changes."""

import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from tests.support.process import DEVICEPLUGIN, PATIENCE, Process, eventually

from deviceplugin.testing.kubelet import (
    FakeKubelet,
    ListReceived,
    RegisterAsked,
    ResourceView,
    StreamEnded,
    StreamOpened,
)
from deviceplugin.testing.sysfs import FakeSysfs

SINK, ZEROS, FULL = RESOURCES = ("example.com/sink", "example.com/zeros", "example.com/full")
BAD: Final = "version: 1\nresources:\n  - nmae: x\n"

Write = Callable[[Path, str], None]


def in_place(path: Path, text: str) -> None:
    """Write as a shell does."""
    path.write_text(text)


def by_rename(path: Path, text: str) -> None:
    """Write as an editor does that keeps the old file to the last."""
    newer = path.with_name(f".{path.name}.new")
    newer.write_text(text)
    newer.rename(path)


def gone_for_a_moment(path: Path, text: str) -> None:
    """Write as an editor does that keeps a copy of the old file."""
    path.rename(path.with_name(f"{path.name}~"))
    path.write_text(text)


class Plugin:
    """A plugin that runs, its kubelet, and the file that it goes by."""

    def __init__(self, process: Process, kubelet: FakeKubelet, config: Path) -> None:
        self.process = process
        self.kubelet = kubelet
        self.config = config

    def hang_up(self) -> None:
        """Ask for the file to be read."""
        self.process.send(signal.SIGHUP)

    def await_lists(self, *names: str) -> None:
        """Return once the kubelet has a healthy device of each of these."""
        for name in names:
            self.kubelet.await_resource(name, _is_listed, PATIENCE)

    def await_said(self, event: str, count: int = 1) -> list[str]:
        """Return the lines about an event once there are so many."""
        eventually(lambda: len(self.said(event)) >= count)
        return self.said(event)

    def said(self, event: str) -> list[str]:
        """Return the lines about an event."""
        found = re.compile(rf" {event}( |$)")
        return [line for line in self.process.err.splitlines() if found.search(line)]

    def traffic(self, name: str) -> tuple[int, ...]:
        """Return what a resource has cost the kubelet: Registers, streams, lists, and ends."""
        kinds = (RegisterAsked, StreamOpened, ListReceived, StreamEnded)
        return tuple(len(self.kubelet.history.of(kind, name)) for kind in kinds)


def _is_listed(seen: ResourceView) -> bool:
    return seen.streams == 1 and seen.allocatable == 1


@pytest.fixture
def run(config: Path, place: Path, kubelet: FakeKubelet) -> Callable[..., "Running"]:
    """Return what runs a plugin on a file, by default the one with three resources."""

    def running(path: Path = config, *flags: str) -> Running:
        return Running(path, place, kubelet, flags)

    return running


class Running:
    """Runs a plugin that serves its three resources; in the end it must end in order."""

    def __init__(
        self, path: Path, place: Path, kubelet: FakeKubelet, flags: tuple[str, ...]
    ) -> None:
        self._process = Process(*DEVICEPLUGIN, "run", "--config", str(path), *flags, place=place)
        self._plugin = Plugin(self._process, kubelet, path)

    def __enter__(self) -> Plugin:
        self._process.__enter__()
        self._plugin.await_lists(*RESOURCES)
        return self._plugin

    def __exit__(self, kind: type[BaseException] | None, *failure: object) -> None:
        try:
            if kind is None:
                self._process.send(signal.SIGTERM)
                ended = self._process.ended()
                assert (ended.code, ended.out) == (0, ""), ended.err
                assert "Traceback" not in ended.err
        finally:
            self._process.__exit__(kind, None, None)


Run = Callable[..., Running]


def without(text: str, name: str) -> str:
    """Return a configuration without a resource."""
    return re.sub(rf"  - name: {name}\n.*\n", "", text)


def test_a_signal_makes_it_read_the_file(run: Run) -> None:
    """What did not change is answered, and costs the kubelet nothing."""
    with run() as plugin:
        before = [plugin.traffic(name) for name in RESOURCES]
        plugin.hang_up()
        (line,) = plugin.await_said("configuration_unchanged")
        assert f"source={plugin.config}" in line
        assert [plugin.traffic(name) for name in RESOURCES] == before


@pytest.mark.parametrize("write", [in_place, by_rename, gone_for_a_moment])
def test_a_file_that_changes_is_followed(run: Run, write: Write) -> None:
    """One resource goes with a last list, one comes; the others' streams go on as they are."""
    with run() as plugin:
        text = plugin.config.read_text()
        last, before = plugin.traffic(ZEROS), [plugin.traffic(name) for name in (SINK, FULL)]
        write(plugin.config, without(text, "zeros").replace("resources:", f"resources:\n{MORE}"))
        plugin.await_lists("example.com/more")
        gone = plugin.kubelet.await_resource(ZEROS, lambda seen: seen.streams == 0, PATIENCE)
        assert (gone.capacity, gone.allocatable) == (1, 0)
        registers, streams, lists, _ = last
        assert plugin.traffic(ZEROS) == (registers, streams, lists + 1, 1)
        assert [plugin.traffic(name) for name in (SINK, FULL)] == before
        (line,) = plugin.await_said("configuration_reloaded")
        assert "added=example.com/more removed=example.com/zeros changed= settings=" in (
            line.replace('""', "")
        )
        write(plugin.config, text)
        plugin.await_lists(*RESOURCES)
        assert [plugin.traffic(name) for name in (SINK, FULL)] == before
        assert plugin.said("configuration_rejected") == []


MORE: Final = "  - name: more\n    match: [{subsystem: mem, name: zero}]\n"


def test_a_bad_file_is_told_and_changes_nothing_until_a_good_one(run: Run) -> None:
    """With each fault's place; the lists go on, and the next good file is in force."""
    with run() as plugin:
        text = plugin.config.read_text()
        before = [plugin.traffic(name) for name in RESOURCES]
        plugin.config.write_text(BAD)
        (line,) = plugin.await_said("configuration_rejected")
        assert " WARNING " in line
        assert f"{plugin.config}:3:5: " in line
        assert line.endswith("failures=1")
        plugin.config.unlink()
        missing = plugin.await_said("configuration_rejected", 2)[-1]
        assert "No such file" in missing
        assert missing.endswith("failures=2")
        assert [plugin.traffic(name) for name in RESOURCES] == before
        plugin.config.write_text(text)
        plugin.await_said("configuration_unchanged")
        plugin.config.write_text(without(text, "zeros"))
        plugin.kubelet.await_resource(ZEROS, lambda seen: seen.streams == 0, PATIENCE)
        assert [plugin.traffic(name) for name in (SINK, FULL)] == [before[0], before[2]]


def test_a_config_map_is_followed(run: Run, config: Path, place: Path) -> None:
    """Kubernetes writes each version into a folder of its own and swaps a link to it."""
    volume = place / "volume"
    volume.mkdir()
    text = config.read_text()

    def publish(number: int, text: str) -> None:
        version = volume / f"..2026_{number}"
        version.mkdir()
        (version / "plugin.yaml").write_text(text)
        (volume / "..data_tmp").symlink_to(version.name)
        (volume / "..data_tmp").rename(volume / "..data")
        old = volume / f"..2026_{number - 1}"
        if old.exists():
            (old / "plugin.yaml").unlink()
            old.rmdir()

    publish(1, text)
    (volume / "plugin.yaml").symlink_to("..data/plugin.yaml")
    with run(volume / "plugin.yaml") as plugin:
        before = plugin.traffic(SINK)
        publish(2, text)
        publish(3, without(text, "zeros"))
        plugin.kubelet.await_resource(ZEROS, lambda seen: seen.streams == 0, PATIENCE)
        publish(4, BAD)
        plugin.await_said("configuration_rejected")
        publish(5, text)
        plugin.await_lists(*RESOURCES)
        assert plugin.traffic(SINK) == before
        assert len(plugin.said("configuration_reloaded")) == 2


def test_what_a_kubelet_was_told_at_register_makes_it_register_again(run: Run) -> None:
    """A policy is offered from Register on; other rules are not the kubelet's affair."""
    with run() as plugin:
        text = plugin.config.read_text()
        before = {name: plugin.traffic(name) for name in RESOURCES}
        changed = text.replace(
            "name: zero}]\n", "name: zero}]\n    allocation_policy: packed\n"
        ).replace('name: "null"}]\n', 'name: "null"}]\n    permissions: r\n')
        plugin.config.write_text(changed)
        seen = plugin.kubelet.await_resource(
            ZEROS, lambda seen: bool(seen.options and seen.options.preferred), PATIENCE
        )
        plugin.await_lists(*RESOURCES)
        assert seen.capacity == 1
        assert plugin.traffic(ZEROS)[0] == before[ZEROS][0] + 1
        assert plugin.traffic(SINK) == before[SINK]
        assert plugin.traffic(FULL) == before[FULL]


def test_settings_change_too_or_say_that_they_await_a_restart(run: Run) -> None:
    """A log level holds at once, another directory does not; the rest is in force."""
    with run() as plugin:
        text = plugin.config.read_text()
        plugin.config.write_text(
            without(text, "zeros")
            .replace("domain:", "log_level: debug\nlog_format: json\ndomain:")
            .replace("sys_root: ", "sys_root: /else")
        )
        plugin.process.await_err("restart_needed")
        told = [json.loads(line) for line in plugin.process.err.splitlines() if line[0] == "{"]
        (reloaded,) = [each for each in told if each["event"] == "configuration_reloaded"]
        assert reloaded["settings"] == ["log_format", "log_level"]
        (needed,) = [each for each in told if each["event"] == "restart_needed"]
        assert (needed["level"], needed["settings"]) == ("warning", ["sys_root"])
        plugin.kubelet.await_resource(ZEROS, lambda seen: seen.streams == 0, PATIENCE)
        assert plugin.kubelet.resource(SINK).allocatable == 1


def test_a_flag_goes_before_the_file_again(run: Run, config: Path) -> None:
    """And what it goes before must be right all the same."""
    with run(config, "--log-level", "info") as plugin:
        text = plugin.config.read_text()
        plugin.config.write_text(f"log_level: error\n{without(text, 'zeros')}")
        plugin.await_said("configuration_reloaded")
        plugin.config.write_text(f"log_level: bad\n{without(text, 'zeros')}")
        assert "plugin.yaml:1:12" in plugin.await_said("configuration_rejected")[0]


def test_a_change_while_it_starts_is_not_missed(
    config: Path, place: Path, plugins: Path, kubelet: FakeKubelet
) -> None:
    """Signals come at any time, and the file may change between its reading and its watching."""
    with Process(*DEVICEPLUGIN, "run", "--config", str(config), place=place) as process:
        eventually(lambda: _ignores_hangups(process.pid))
        process.send(signal.SIGHUP)
        config.write_text(without(config.read_text(), "zeros"))
        process.send(signal.SIGHUP)
        kubelet.await_resource(SINK, _is_listed, PATIENCE)
        kubelet.await_resource(FULL, _is_listed, PATIENCE)
        eventually(lambda: kubelet.resource(ZEROS).streams == 0)
        assert len(kubelet.history.of(RegisterAsked, SINK)) == 1
        assert not process.is_over
    assert plugins.exists()


def _ignores_hangups(pid: int) -> bool:
    """Say whether the process has said what is to be done about SIGHUP."""
    status = Path(f"/proc/{pid}/status").read_text()
    masks = re.findall(r"^Sig(?:Ign|Cgt):\s*([0-9a-f]+)", status, re.MULTILINE)
    return any(int(mask, 16) & 1 << (signal.SIGHUP - 1) for mask in masks)


def test_a_hundred_signals_at_once_are_no_hundred_reads(run: Run, hardware: FakeSysfs) -> None:
    """Nor an end: it goes on, and reads the last state of the file."""
    with run() as plugin:
        text = plugin.config.read_text()
        for _ in range(100):
            plugin.hang_up()
        plugin.config.write_text(without(text, "zeros"))
        plugin.hang_up()
        plugin.kubelet.await_resource(ZEROS, lambda seen: seen.streams == 0, PATIENCE)
        assert plugin.traffic(SINK)[0] == 1
        assert len(list(hardware)) == 3


def test_without_a_file_a_signal_is_answered(
    place: Path, plugins: Path, hardware: FakeSysfs
) -> None:
    """The presets are what they were."""
    command = (*DEVICEPLUGIN, "run", "--plugin-dir", str(plugins), "--sys-root")
    with Process(*command, str(hardware.root), place=place) as process:
        eventually(lambda: "kubelet_awaited" in process.err)
        process.send(signal.SIGHUP)
        process.await_err("configuration_unchanged")
        process.send(signal.SIGTERM)
        assert process.ended().code == 0


def test_a_pipe_is_read_once(config: Path, place: Path, kubelet: FakeKubelet) -> None:
    """It has nothing more to say, so nothing waits for that."""
    text = config.read_text()
    pipe = place / "pipe"
    os.mkfifo(pipe)
    with Process(*DEVICEPLUGIN, "run", "--config", str(pipe), place=place) as process:
        pipe.write_text(text)
        for name in RESOURCES:
            kubelet.await_resource(name, _is_listed, PATIENCE)
        process.send(signal.SIGTERM)
        ended = process.ended()
        assert ended.code == 0
        assert "configuration_" not in ended.err
