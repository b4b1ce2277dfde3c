"""The shape of sysfs: real directories below devices/, links to them from everywhere else."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import attrs

from deviceplugin.adapters.memory.device_nodes import MemoryDeviceNodes
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber


@attrs.frozen(kw_only=True)
class FakeDevice:
    """A device in the tree: its path below the root, its bus or class, and its node, if any."""

    path: str
    subsystem: str
    on_bus: bool = False
    driver: str = ""
    number: NodeNumber | None = None
    node: str = ""

    @property
    def name(self) -> str:
        """Its name in sysfs."""
        return self.path.rpartition("/")[2]

    @property
    def entry(self) -> str:
        """Where its bus or class lists it."""
        home = self.home
        return f"{home}/devices/{self.name}" if self.on_bus else f"{home}/{self.name}"

    @property
    def home(self) -> str:
        """The directory of its bus or class."""
        return f"/bus/{self.subsystem}" if self.on_bus else f"/class/{self.subsystem}"


class SysfsTree:
    """Devices in a directory of its own, `directory/sys`, and their nodes."""

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.root = Path(directory) / "sys"
        self.nodes = MemoryDeviceNodes()
        self._devices: dict[str, FakeDevice] = {}
        for name in ("bus", "class", "dev/block", "dev/char", "devices/virtual"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def __iter__(self) -> Iterator[FakeDevice]:
        """Go through the devices."""
        return iter(tuple(self._devices.values()))

    def at(self, path: str) -> Path:
        """Return where a path below the root, "/class/tty", is."""
        return self.root / path.lstrip("/")

    def write(self, path: str, text: str | bytes) -> None:
        """Make or replace a file, with a newline at its end as the kernel has it."""
        data = text if isinstance(text, bytes) else f"{text}\n".encode()
        self.at(path).parent.mkdir(parents=True, exist_ok=True)
        self.at(path).write_bytes(data)

    def link(self, path: str, target: str) -> None:
        """Make or replace a link from one place below the root to another, as the kernel does."""
        link = self.at(path)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(os.path.relpath(self.at(target), link.parent))

    def add(
        self, device: FakeDevice, attributes: Mapping[str, str | bytes] | None = None
    ) -> FakeDevice:
        """Make the device with its links, its `uevent`, these attributes, and its node."""
        self.at(device.path).mkdir(parents=True)
        self._announce(device)
        for name, text in (attributes or {}).items():
            self.write(f"{device.path}/{name}", text)
        return device

    def remove(self, device: FakeDevice) -> None:
        """Take the device away, with all that is below it and their nodes."""
        for each in self._with_descendants(device):
            self._withdraw(each)
        shutil.rmtree(self.at(device.path), ignore_errors=True)

    def rename(self, device: FakeDevice, name: str) -> FakeDevice:
        """Give the device another name in sysfs, not its node; return it as it is then."""
        renamed = f"{device.path.rpartition('/')[0]}/{name}"
        moved = self._with_descendants(device)
        for each in moved:
            self._withdraw(each)
        self.at(device.path).rename(self.at(renamed))
        for each in moved:
            self._announce(attrs.evolve(each, path=renamed + each.path.removeprefix(device.path)))
        return self._devices[renamed]

    def bind(self, device: FakeDevice, driver: str) -> FakeDevice:
        """Bind the device to a driver, or to none; return it as it is then."""
        self._withdraw(device)
        bound = attrs.evolve(device, driver=driver)
        self._announce(bound)
        return bound

    def _with_descendants(self, device: FakeDevice) -> list[FakeDevice]:
        return [each for each in self if f"{each.path}/".startswith(f"{device.path}/")]

    def _announce(self, device: FakeDevice) -> None:
        self._devices[device.path] = device
        self.link(device.entry, device.path)
        self.at(device.home).mkdir(parents=True, exist_ok=True)
        self.link(f"{device.path}/subsystem", device.home)
        self.write(f"{device.path}/uevent", "\n".join(_uevent(device)))
        if device.driver:
            self._link_driver(device)
        if device.number:
            self._announce_node(device, device.number)

    def _link_driver(self, device: FakeDevice) -> None:
        home = f"{device.home}/drivers/{device.driver}"
        self.link(f"{home}/{device.name}", device.path)
        self.link(f"{device.path}/driver", home)

    def _announce_node(self, device: FakeDevice, number: NodeNumber) -> None:
        self.write(f"{device.path}/dev", f"{number.major}:{number.minor}")
        self.link(_by_number(number), device.path)
        self.nodes.add_node(f"/dev/{device.node}", number)

    def _withdraw(self, device: FakeDevice) -> None:
        self._devices.pop(device.path, None)
        links = [
            device.entry,
            f"{device.path}/driver",
            f"{device.home}/drivers/{device.driver}/{device.name}",
        ]
        if device.number:
            links.append(_by_number(device.number))
            with suppress(KeyError):  # a test may have taken the node away
                self.nodes.remove(f"/dev/{device.node}")
        for link in links:
            if self.at(link).is_symlink():
                self.at(link).unlink()


def _by_number(number: NodeNumber) -> str:
    return f"/dev/{number.kind}/{number.major}:{number.minor}"


def _uevent(device: FakeDevice) -> Iterator[str]:
    if device.number:
        yield f"MAJOR={device.number.major}"
        yield f"MINOR={device.number.minor}"
        yield f"DEVNAME={device.node}"
    if device.driver:
        yield f"DRIVER={device.driver}"
