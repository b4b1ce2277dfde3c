"""Parts of a plugin that goes by a configuration are told, and given back, together."""

import asyncio
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from deviceplugin import Manager
from deviceplugin.adapters.memory.device_source import MemoryDeviceSource
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.parts import follow
from deviceplugin.app.settings import load
from deviceplugin.domain.configuration_events import ConfigurationUnchanged
from deviceplugin.domain.discovery.rulebook import Rulebook
from deviceplugin.testing.rules import rule


class Told:
    """Stands for both who hear of changes, and notes what they are told to listen for."""

    def __init__(self) -> None:
        self.matters: Callable[[str], bool] = lambda _: True
        self.patterns: Iterable[str] = ()

    def attend_to(self, matters: Callable[[str], bool]) -> None:
        """Take note."""
        self.matters = matters

    def look_for(self, patterns: Iterable[str]) -> None:
        """Take note."""
        self.patterns = patterns


def test_whoever_goes_by_rules_is_told_of_others() -> None:
    """The source what to offer, the others what to listen for: else a change waits for a poll."""
    told: Any = Told()
    source = MemoryDeviceSource([], journal=MemoryJournal())
    rules = Rulebook(
        [
            rule("example.com/x", {"node": "/dev/x*"}),
            rule("example.com/y", {"subsystem": "misc", "name": "y"}),
        ]
    )
    follow(rules, source=source, uevents=told, nodes=told)
    assert set(told.patterns) == {"/dev/x*"}
    assert told.matters("misc")
    assert not told.matters("net")
    served = source.scan().freeze("example.com").resources
    assert {str(name) for name in served} == {"example.com/x", "example.com/y"}


async def test_a_plugin_that_ended_watches_no_file(tmp_path: Path) -> None:
    """All that it had opened is given back."""
    file = tmp_path / "plugin.yaml"
    file.write_text("version: 1\nresources: [{name: x, match: [{node: /dev/null}]}]\n")

    async def serve() -> None:
        flags = {"plugin_dir": str(tmp_path), "kubelet_root": str(tmp_path)}
        configuration, journal = load(str(file), {}, flags), MemoryJournal()
        manager = Manager.configured(
            configuration, journal=journal, reread=lambda: load(str(file), {}, flags)
        )
        manager.reload()
        serving = asyncio.ensure_future(manager.serve())
        await asyncio.wait_for(journal.next(ConfigurationUnchanged), 10)
        manager.stop()
        await serving

    await serve()
    before = _watching()
    await serve()
    assert _watching() == before


def _watching() -> int:
    """Return how many inotify instances this process has open."""
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    return sum(os.path.islink(each) and "inotify" in _target(each) for each in links)  # noqa: PTH114


def _target(link: str) -> str:
    try:
        return os.readlink(link)  # noqa: PTH115
    except FileNotFoundError:
        return ""
