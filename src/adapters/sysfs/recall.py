"""Judges devices anew only if something that their last judgement depends on is otherwise."""

from collections.abc import Callable, Iterable, Mapping

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Memo, Memory
from deviceplugin.adapters.sysfs.walk import Entry
from deviceplugin.domain.discovery.rulebook import Sighting
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber


class AskedNodes(DeviceNodes):
    """Device nodes as `nodes` knows them; remembers what was asked, and what the answer was."""

    def __init__(self, nodes: DeviceNodes) -> None:
        self._nodes = nodes
        self._asked: list[tuple[str, str, object]] = []

    def watch(self) -> list[tuple[str, str, object]]:
        """Return a list that grows by each question from now on, with its answer."""
        self._asked = []
        return self._asked

    def number(self, path: str) -> NodeNumber | None:
        """Return what the node at `path` stands for."""
        answer = self._nodes.number(path)
        self._asked.append(("number", path, answer))
        return answer

    def resolve(self, path: str) -> str:
        """Return `path` with links resolved."""
        answer = self._nodes.resolve(path)
        self._asked.append(("resolve", path, answer))
        return answer

    def matching(self, pattern: str) -> Iterable[str]:
        """Return the host paths that match a glob."""
        return self._nodes.matching(pattern)

    def take_refusals(self) -> Mapping[str, int]:
        """Return the directories that could not be looked into."""
        return self._nodes.take_refusals()

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
        folders: Folders,
        nodes: AskedNodes,
        memory: Memory,
        looking: Callable[[], Callable[[Entry], Sighting]],
    ) -> None:
        self._folders = folders
        self._nodes = nodes
        self._memory = memory
        common = folders.watch()
        self._look = looking()
        self._last = memory.memos if folders.same(memory.common) else dict[str, Memo]()
        self._common = tuple(common)
        self._memos: dict[str, Memo] = {}

    def at(self, entry: Entry) -> Sighting:
        """Return the candidate, with the rules that match it."""
        path = entry.folder.path
        memo = self._last.get(path)
        if memo is None or not self._holds(memo, entry):
            memo = self._looked(entry)
        if memo.sighting.candidate.uses is None:
            self._memos[path] = memo
        return memo.sighting

    def end(self) -> None:
        """Keep what was looked at for the next scan."""
        self._memory.memos, self._memory.common = self._memos, self._common
        self._folders.end()

    def _holds(self, memo: Memo, entry: Entry) -> bool:
        return (
            memo.folder is entry.folder
            and memo.subsystem == entry.subsystem
            and memo.paths == entry.paths
            and (not memo.others or self._folders.same(memo.others))
            and (not memo.nodes or self._nodes.same(memo.nodes))
        )

    def _looked(self, entry: Entry) -> Memo:
        others = self._folders.watch()
        asked = self._nodes.watch()
        sighting = self._look(entry)
        return Memo(
            entry.folder, entry.subsystem, entry.paths, sighting, tuple(others), tuple(asked)
        )
