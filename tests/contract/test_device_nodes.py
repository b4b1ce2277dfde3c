"""Each view of device nodes obeys the laws of `DeviceNodes`."""

from collections.abc import Generator
from contextlib import contextmanager

import attrs

from deviceplugin.adapters.memory.device_nodes import MemoryDeviceNodes
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


class TestMemoryDeviceNodes(DeviceNodesContract):
    """Without a file system."""

    @contextmanager
    def world(self) -> Generator[DeviceNodesWorld]:
        yield _MemoryWorld()
