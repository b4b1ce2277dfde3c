"""Each view of what the host uses obeys the laws of `HostUse`."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from deviceplugin.adapters.memory.device_nodes import MemoryDeviceNodes
from deviceplugin.adapters.memory.host_use import MemoryHostUse
from deviceplugin.adapters.recorded import NotedHostUse, RecordedHostUse
from deviceplugin.adapters.system import ProcHostUse
from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.ports.driven.host_use import HostUse
from deviceplugin.testing.contracts.host_use import HostUseContract, HostUseWorld


class _MemoryWorld:
    """A host that is told what it uses."""

    def __init__(self) -> None:
        self.host = MemoryHostUse()

    def mount(self, number: NodeNumber, place: str) -> None:
        self.host.mount(number, place)

    def swap(self, number: NodeNumber) -> None:
        self.host.swap(number)

    def route(self, interface: str) -> None:
        self.host.route(interface)

    def release(self) -> None:
        self.host.release()

    def break_down(self) -> None:
        self.host.fail("on purpose")


class TestMemoryHostUse(HostUseContract):
    """Without a file system."""

    @contextmanager
    def world(self) -> Generator[HostUseWorld]:
        yield _MemoryWorld()


class _NotedWorld:
    """Somebody takes notes of what is asked."""

    def __init__(self) -> None:
        self._told = _MemoryWorld()
        self.mount = self._told.mount
        self.swap = self._told.swap
        self.route = self._told.route
        self.release = self._told.release
        self.break_down = self._told.break_down

    @property
    def host(self) -> HostUse:
        return self._noted()

    def _noted(self) -> NotedHostUse:
        return NotedHostUse(self._told.host)


class _RecordedWorld(_NotedWorld):
    """What was noted is told again."""

    @property
    def host(self) -> HostUse:
        noted = self._noted()
        for ask in (noted.disks, noted.interfaces):
            with suppress(ScanError):
                ask()
        return RecordedHostUse(noted.uses())


class TestNotedHostUse(HostUseContract):
    """While a machine is recorded."""

    @contextmanager
    def world(self) -> Generator[HostUseWorld]:
        yield _NotedWorld()


class TestRecordedHostUse(HostUseContract):
    """Of a recording."""

    @contextmanager
    def world(self) -> Generator[HostUseWorld]:
        yield _RecordedWorld()


class _ProcWorld:
    """Files as the kernel shows them, of the first process."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._nodes = MemoryDeviceNodes()
        self.host = ProcHostUse(nodes=self._nodes, proc_root=str(root))
        (root / "1/net").mkdir(parents=True)
        self.release()

    def mount(self, number: NodeNumber, place: str) -> None:
        digits = f"{number.major}:{number.minor}"
        escaped = place.replace("\\", r"\134").replace(" ", r"\040")
        escaped = escaped.replace("\t", r"\011").replace("\n", r"\012")
        line = f"36 35 {digits} / {escaped} rw,noatime shared:1 - ext4 /dev/root rw\n"
        self._append("1/mountinfo", line)

    def swap(self, number: NodeNumber) -> None:
        path = f"/dev/swap{number.minor}"
        self._nodes.add_node(path, number)
        self._append("swaps", f"{path}          partition\t8388604\t0\t-2\n")

    def route(self, interface: str) -> None:
        line = f"{interface}\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n"
        self._append("1/net/route", line)

    def release(self) -> None:
        proc = "22 35 0:20 / /proc rw - proc proc rw\n"
        (self._root / "1/mountinfo").write_text(proc)
        (self._root / "swaps").write_text("Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n")
        local = "eth9\t0002A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
        (self._root / "1/net/route").write_text(f"Iface\tDestination\tGateway\n{local}")

    def break_down(self) -> None:
        shutil.rmtree(self._root)

    def _append(self, name: str, line: str) -> None:
        with (self._root / name).open("a") as file:
            file.write(line)


class TestProcHostUse(HostUseContract):
    """Files of a /proc."""

    @contextmanager
    def world(self) -> Generator[HostUseWorld]:
        with TemporaryDirectory() as directory:
            yield _ProcWorld(Path(directory))
