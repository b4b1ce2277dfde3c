"""Looks at a machine as the plugin would, live or recorded, and serves nothing."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, cast

import attrs

from deviceplugin.adapters.logs import LoggingJournal
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.recorded import NotedNodes, Recorded, opened, vacant, write
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.recording import Questions, beside, replaying, taken
from deviceplugin.adapters.system import SystemDeviceNodes
from deviceplugin.adapters.system.recorded_nodes import RecordedDeviceNodes
from deviceplugin.app.container import Container
from deviceplugin.app.settings import PRESETS, Configuration
from deviceplugin.domain.discovery.asking import asking
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.recording.entries import Entry, Recording
from deviceplugin.domain.recording.masking import masked
from deviceplugin.domain.recording.secrets import FILES, held
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import Timing
from deviceplugin.domain.tree import FrozenTree

CONFIGURATION: Final = "plugin.yaml"
"""The file of a recorded directory that has the configuration it was recorded with."""


@attrs.frozen(kw_only=True)
class Inspector:
    """Looks at what a configuration describes.

    `root` is a directory with sys and dev, if the machine was told of so; one that was recorded
    answers as the machine did. What happens is recorded in `journal`.
    """

    configuration: Configuration
    root: str | None = None
    journal: Journal = attrs.field(factory=LoggingJournal)

    def look(self) -> FrozenTree:
        """Return what one look finds. Raises `ScanError`, and `InvalidValueError` for the root."""
        namespace = self.configuration.settings.domain
        return self._scanner().scan().freeze(namespace)

    def record(self, directory: str, *, mask: bool = False) -> Recording:
        """Store what looks read in a directory that is vacant, and return it.

        With `mask` numbers and addresses that tell one machine from others are made up. Raises
        `InvalidValueError`, `ScanError` and `OSError`.
        """
        vacant(directory)
        asked, nodes = Questions(), NotedNodes(self._nodes())
        self._ask(asked, nodes)
        sys_root = self.configuration.settings.sys_root
        below = taken(sys_root, asked)
        entries: dict[str, Entry] = {f"/sys{path}": entry for path, entry in below.items()}
        recording = Recording({**entries, **nodes.entries()})
        configuration = self._text()
        if mask:
            hidden = beside(sys_root, below, FILES)
            more = [secret for path, text in hidden for secret in held(path, text)]
            recording, masks = masked(recording, more)
            configuration = masks.text(configuration)
        write(recording, directory, masked=mask)
        if configuration:
            (Path(directory) / CONFIGURATION).write_text(configuration, encoding="utf-8")
        return recording

    def _ask(self, asked: Questions, nodes: DeviceNodes) -> None:
        """Ask all that a look asks, and what an explanation of any device that it saw does."""
        quiet = MemoryJournal()
        scanner = self._made(self.configuration.rules, nodes, asked.reader, quiet)
        scanner.scan()
        seen = [each.candidate for each in scanner.sightings()]
        devices = [each.devpath for each in seen if each.devpath]
        if not devices:
            return
        by_place = [*self.configuration.rules, asking(devices=devices)]
        found = self._made(by_place, nodes, asked.reader, quiet).sightings()
        paths = [each.candidate.node.path for each in found if each.candidate.node]
        if paths:
            by_node = [*self.configuration.rules, asking(nodes=paths)]
            self._made(by_node, nodes, asked.reader, quiet).sightings()

    def _scanner(self, *more: ResourceRule) -> SysfsScanner:
        recorded = self._recorded()
        reader = replaying(recorded.below("/sys")) if recorded else None
        rules = [*self.configuration.rules, *more]
        return self._made(rules, self._nodes(), reader, self.journal)

    def _recorded(self) -> Recorded | None:
        return None if self.root is None else opened(self.root)

    def _nodes(self) -> DeviceNodes:
        dev_root = self.configuration.settings.dev_root
        kind = RecordedDeviceNodes if self._recorded() else SystemDeviceNodes
        return kind(dev_root)

    def _made(
        self,
        rules: Sequence[ResourceRule],
        nodes: DeviceNodes,
        reader: Callable[[str], Files] | None,
        journal: Journal,
    ) -> SysfsScanner:
        settings = self.configuration.settings
        parts: dict[str, Any] = {
            "origin": "sysfs",
            "namespace": settings.domain,
            "plugin_dir": settings.plugin_dir,
            "policy_of": _no_policy,
            "author": None,
            "timing": Timing(),
            "rules": tuple(rules),
            "sys_root": settings.sys_root,
            "reader": reader,
            "nodes": nodes,
            "journal": journal,
        }
        return cast("SysfsScanner", Container(**parts).sysfs())

    def _text(self) -> str:
        """Return the configuration's file; nothing where presets are used."""
        source = self.configuration.source
        return "" if source == PRESETS else Path(source).read_text(encoding="utf-8")


def _no_policy(resource: ResourceName) -> None:
    """Prefer nothing: nobody is served."""
    del resource


def own_configuration(root: str) -> str | None:
    """Return the file of the configuration that a directory was recorded with, if there is one.

    Raises `InvalidValueError` if it was recorded, but is broken.
    """
    path = Path(root) / CONFIGURATION
    return str(path) if opened(root) is not None and path.exists() else None
