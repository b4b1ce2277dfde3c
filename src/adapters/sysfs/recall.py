"""Judges devices anew only if something that their last judgement depends on is otherwise."""

from collections.abc import Callable, Iterable

from deviceplugin.adapters.sysfs.memory import Memo, Memory
from deviceplugin.adapters.sysfs.remembering import RememberingFiles
from deviceplugin.adapters.sysfs.walk import Entry
from deviceplugin.domain.discovery.rulebook import Sighting
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber


class AskedNodes(DeviceNodes):
    """Device nodes as `nodes` knows them; remembers what was asked, and what the answer was."""

    def __init__(self, nodes: DeviceNodes) -> None:
        self._nodes = nodes
        self.asked: list[tuple[str, str, object]] = []

    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path` stands for."""
        answer = self._nodes.number(path)
        self.asked.append(("number", path, answer))
        return answer

    def resolve(self, path: str) -> str:
        """Return `path` with links resolved."""
        answer = self._nodes.resolve(path)
        self.asked.append(("resolve", path, answer))
        return answer

    def matching(self, pattern: str) -> Iterable[str]:
        """Return the host paths that match a glob."""
        return self._nodes.matching(pattern)

    def same(self, asked: tuple[tuple[str, str, object], ...]) -> bool:
        """Say whether each answer would be the same now."""
        return all(getattr(self._nodes, how)(path) == answer for how, path, answer in asked)


class Recall:
    """For one scan: what a look makes of devices, or what it made of them in the last one.

    `looking` prepares the looks of this scan; what it asks, all of them depend on. What a device
    is used for can change without a sign in its directory, so who was asked for that is asked
    again.
    """

    def __init__(
        self,
        files: RememberingFiles,
        nodes: AskedNodes,
        memory: Memory,
        looking: Callable[[], Callable[[Entry], Sighting]],
    ) -> None:
        self._files = files
        self._nodes = nodes
        self._memory = memory
        common = files.watch()
        self._look = looking()
        same = files.same(memory.common.items())
        self._last = memory.memos if same else dict[str, Memo]()
        self._common = dict(common)
        self._memos: dict[str, Memo] = {}

    def at(self, entry: Entry) -> Sighting:
        """Return the candidate, with the rules that match it."""
        memo = self._last.get(entry.path)
        if memo is not None and self._holds(memo, entry):
            self._files.notes.extend(memo.notes)
        else:
            memo = self._looked(entry)
        if memo.sighting.candidate.uses is None:
            self._memos[entry.path] = memo
        return memo.sighting

    def end(self) -> None:
        """Keep what was looked at for the next scan."""
        self._memory.memos, self._memory.common = self._memos, self._common
        self._files.end()

    def _holds(self, memo: Memo, entry: Entry) -> bool:
        return (
            memo.subsystem == entry.subsystem
            and memo.paths == entry.paths
            and self._files.same(memo.records)
            and (not memo.nodes or self._nodes.same(memo.nodes))
        )

    def _looked(self, entry: Entry) -> Memo:
        touched = self._files.watch()
        self._nodes.asked.clear()
        noted = len(self._files.notes)
        self._files.directory(entry.path)
        sighting = self._look(entry)
        return Memo(
            subsystem=entry.subsystem,
            paths=entry.paths,
            sighting=sighting,
            records=tuple(touched.items()),
            nodes=tuple(self._nodes.asked),
            notes=tuple(self._files.notes[noted:]),
        )
