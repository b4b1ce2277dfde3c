"""Device nodes that rules ask for by path, and the devices in sysfs that they belong to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from deviceplugin.adapters.sysfs.folders import Folders
from deviceplugin.adapters.sysfs.memory import Folder
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber


class Places:
    """What is at the paths that rules ask for."""

    def __init__(self, folders: Folders, nodes: DeviceNodes, patterns: Iterable[str]) -> None:
        """Look at each path that is there once, whatever the number of patterns it fits."""
        found = defaultdict[Folder, list[str]](list)
        orphans: dict[NodeNumber, list[str]] = defaultdict(list)
        for path in sorted({path for each in patterns for path in nodes.matching(each)}):
            number = nodes.number(path)
            if number is None:
                folders.note(path, "is no device node")
            elif device := folders.device(f"/dev/{number.kind}/{number.major}:{number.minor}"):
                found[device].append(path)
            else:
                orphans[number].append(path)
        self._nodes = nodes
        self._orphans = dict(orphans)
        self.paths = {device: tuple(paths) for device, paths in found.items()}
        """The paths by which rules ask for a device, by its directory."""

    def without_device(self) -> Iterator[Candidate]:
        """Yield a candidate for each node that sysfs does not show, such as a pseudo-terminal."""
        for number, paths in self._orphans.items():
            path = min(self._nodes.resolve(each) for each in paths)
            digits = f"{number.major}:{number.minor}"
            yield Candidate(
                name=path.removeprefix("/dev/").replace("/", "-"),
                paths=tuple(paths),
                driver="",
                node=Node(path=path, kind=number.kind, number=digits),
                numa_unknown="sysfs does not show the device",
            )
