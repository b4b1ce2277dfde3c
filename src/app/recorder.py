"""Stores what looks at a machine read."""

from pathlib import Path

import attrs

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.recorded import NotedHostUse, NotedNodes, vacant, write
from deviceplugin.adapters.sysfs.recording import Questions, beside, taken
from deviceplugin.app.inspector import CONFIGURATION, Inspector
from deviceplugin.app.settings.hiding import hidden, named
from deviceplugin.domain.discovery.asking import asking
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Sighting
from deviceplugin.domain.recording.entries import Entry, Recording
from deviceplugin.domain.recording.masking import masked
from deviceplugin.domain.recording.secrets import FILES, held


@attrs.define
class Recorder:
    """Records the machine that an inspector looks at. Once."""

    inspector: Inspector
    _asked: Questions = attrs.field(factory=Questions, init=False)
    _nodes: NotedNodes = attrs.field(init=False)
    _host: NotedHostUse = attrs.field(init=False)
    _journal: MemoryJournal = attrs.field(factory=MemoryJournal, init=False)

    def __attrs_post_init__(self) -> None:
        """Be ready to take notes."""
        self._nodes = NotedNodes(self.inspector.nodes())
        self._host = NotedHostUse(self.inspector.host())

    def record(self, directory: str, *, mask: bool = False) -> Recording:
        """Store what looks read in a directory that is vacant, and return it.

        With `mask` numbers and addresses that tell one machine from others are made up. Raises
        `InvalidValueError`, `ScanError` and `OSError`.
        """
        vacant(directory)
        self._ask()
        sys_root = self.inspector.configuration.settings.sys_root
        below = taken(sys_root, self._asked)
        entries: dict[str, Entry] = {f"/sys{path}": entry for path, entry in below.items()}
        recording = Recording({**entries, **self._nodes.entries()}, uses=self._host.uses())
        configuration = self.inspector.configuration.text
        if mask:
            unread = beside(sys_root, below, FILES)
            more = [secret for path, text in unread for secret in held(path, text)]
            recording, masks = masked(recording, [*more, *named(configuration)])
            configuration = hidden(configuration, masks)
        write(recording, directory, masked=mask)
        if configuration:
            (Path(directory) / CONFIGURATION).write_text(configuration, encoding="utf-8")
        return recording

    def _ask(self) -> None:
        """Ask all that a look asks, and what an explanation of any device that it saw does."""
        seen = [each.candidate for each in self._seen()]
        devices = [each.devpath for each in seen if each.devpath]
        found = self._seen(asking(devices=devices)) if devices else ()
        paths = [each.candidate.node.path for each in found if each.candidate.node]
        if paths:
            self._seen(asking(nodes=paths))

    def _seen(self, *more: ResourceRule) -> tuple[Sighting, ...]:
        return self.inspector.scanner(
            *more,
            reader=self._asked.reader,
            nodes=self._nodes,
            host=self._host,
            journal=self._journal,
        ).sightings()
