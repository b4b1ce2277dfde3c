"""Each view of device nodes obeys the laws of `DeviceNodes`."""

import os
import stat
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import pytest
from tests.support.nobody import nobody

from deviceplugin.adapters.memory.device_nodes import MemoryDeviceNodes
from deviceplugin.adapters.recorded import NotedNodes
from deviceplugin.adapters.system.device_nodes import SystemDeviceNodes
from deviceplugin.adapters.system.recorded_nodes import RecordedDeviceNodes
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.testing.contracts.device_nodes import DeviceNodesContract, DeviceNodesWorld


@attrs.frozen
class _MemoryWorld:
    nodes: MemoryDeviceNodes = attrs.field(factory=MemoryDeviceNodes)

    def add_node(self, path: str) -> NodeNumber:
        number = NodeNumber("char", 10, 232)
        self.nodes.add_node(path, number)
        return number

    def add_file(self, path: str) -> None:
        self.nodes.add_file(path)

    def add_link(self, path: str, target: str) -> None:
        self.nodes.add_link(path, target)

    def close(self, path: str) -> None:
        self.nodes.close(path)

    def open(self, path: str) -> None:
        self.nodes.open(path)


class _SystemWorld:
    """A folder in the place of /dev; making device nodes takes a right that few processes have."""

    nodes: SystemDeviceNodes

    def __init__(self, root: Path) -> None:
        self._root = root
        self._nobody = ExitStack()
        self.nodes = SystemDeviceNodes(f"{root}/")

    def add_node(self, path: str) -> NodeNumber:
        try:
            os.mknod(self._place(path), stat.S_IFCHR | 0o600, os.makedev(10, 232))
        except PermissionError:
            pytest.skip("mknod: this process may not make device nodes")
        return NodeNumber("char", 10, 232)

    def add_file(self, path: str) -> None:
        self._place(path).touch()

    def add_link(self, path: str, target: str) -> None:
        self._place(path).symlink_to(target)

    def close(self, path: str) -> None:
        """As anybody but root meets it: root may look into everything."""
        self._root.chmod(0o755)
        self._place(path).chmod(0)
        self._nobody.enter_context(nobody())

    def open(self, path: str) -> None:
        self.end()
        self._place(path).chmod(0o755)

    def end(self) -> None:
        """Be who we were."""
        self._nobody.close()

    def _place(self, path: str) -> Path:
        place = self._root / Path(path).relative_to("/dev")
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


class _RecordedWorld(_SystemWorld):
    """A folder in which files take the place of nodes."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._failures: dict[str, str] = {}
        self.nodes = RecordedDeviceNodes(str(root), failures=self._failures)

    def add_node(self, path: str) -> NodeNumber:
        self._place(path).write_text("char 10:232\n")
        return NodeNumber("char", 10, 232)

    def close(self, path: str) -> None:
        self._failures[path] = "EACCES"

    def open(self, path: str) -> None:
        del self._failures[path]


class _NotedWorld:
    """Somebody takes notes of what is asked."""

    def __init__(self) -> None:
        self._behind = _MemoryWorld()
        self.nodes = NotedNodes(self._behind.nodes)

    def add_node(self, path: str) -> NodeNumber:
        return self._behind.add_node(path)

    def add_file(self, path: str) -> None:
        self._behind.add_file(path)

    def add_link(self, path: str, target: str) -> None:
        self._behind.add_link(path, target)

    def close(self, path: str) -> None:
        self._behind.close(path)

    def open(self, path: str) -> None:
        self._behind.open(path)


class TestSystemDeviceNodes(DeviceNodesContract):
    """On a real file system."""

    @contextmanager
    def world(self) -> Generator[DeviceNodesWorld]:
        with TemporaryDirectory() as root:
            world = _SystemWorld(Path(root))
            try:
                yield world
            finally:
                world.end()


class TestMemoryDeviceNodes(DeviceNodesContract):
    """Without a file system."""

    @contextmanager
    def world(self) -> Generator[DeviceNodesWorld]:
        yield _MemoryWorld()


class TestRecordedDeviceNodes(DeviceNodesContract):
    """On a recorded tree."""

    @contextmanager
    def world(self) -> Generator[DeviceNodesWorld]:
        with TemporaryDirectory() as root:
            yield _RecordedWorld(Path(root))


class TestNotedNodes(DeviceNodesContract):
    """While a machine is recorded."""

    @contextmanager
    def world(self) -> Generator[DeviceNodesWorld]:
        yield _NotedWorld()
