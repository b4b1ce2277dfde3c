"""Builders of devices as the kernel shows them."""

from collections.abc import Mapping
from typing import Literal

from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.testing.sysfs.tree import FakeDevice, SysfsTree

Attributes = Mapping[str, str | bytes]

_MISC = 10
_USB_DEVICE = 189
_USB_SERIAL = 188
_ACM = 166
_DISK = 8


class Hardware(SysfsTree):
    """Adds devices of well-known sorts; each method returns the device that it made."""

    def child(  # noqa: PLR0913 - facts of one device, by name
        self,
        name: str,
        *,
        subsystem: str,
        below: FakeDevice | None = None,
        number: tuple[int, int] | None = None,
        node: str | None = None,
        attributes: Attributes | None = None,
    ) -> FakeDevice:
        """Add a device of a class, below another or virtual; its node is /dev/name if not said."""
        home = below.path if below else "/devices/virtual"
        kind: Literal["block", "char"] = "block" if subsystem == "block" else "char"
        device = FakeDevice(
            path=f"{home}/{subsystem}/{name}",
            subsystem=subsystem,
            number=NodeNumber(kind, *number) if number else None,
            node=(name.replace("!", "/") if node is None else node) if number else "",
        )
        self.add(device, attributes)
        if below:
            self.link(f"{device.path}/device", below.path)
        return device

    def bus_device(
        self,
        name: str,
        *,
        bus: str,
        below: FakeDevice | None = None,
        number: tuple[int, int] | None = None,
        attributes: Attributes | None = None,
    ) -> FakeDevice:
        """Add a device of any bus, below another or one of the platform."""
        device = FakeDevice(
            path=f"{below.path if below else '/devices/platform'}/{name}",
            subsystem=bus,
            on_bus=True,
            number=NodeNumber("char", *number) if number else None,
            node=name if number else "",
        )
        return self.add(device, attributes)

    def misc(self, name: str, minor: int, *, node: str | None = None) -> FakeDevice:
        """Add a virtual device such as kvm (minor 232)."""
        return self.child(name, subsystem="misc", number=(_MISC, minor), node=node)

    def pci(  # noqa: PLR0913 - facts of one device, by name
        self,
        address: str,
        *,
        vendor: str = "0x1af4",
        device: str = "0x1041",
        class_code: str = "0x020000",
        numa_node: str | bytes | None = "-1",
        driver: str = "",
        below: FakeDevice | None = None,
        attributes: Attributes | None = None,
    ) -> FakeDevice:
        """Add a PCI function, below a bridge or the root; `numa_node` None means no such file."""
        home = below.path if below else f"/devices/pci{address.rpartition(':')[0]}"
        facts = {"vendor": vendor, "device": device, "class": class_code, **(attributes or {})}
        if numa_node is not None:
            facts["numa_node"] = numa_node
        made = FakeDevice(path=f"{home}/{address}", subsystem="pci", on_bus=True, driver=driver)
        return self.add(made, facts)

    def bridge(
        self, address: str, *, below: FakeDevice | None = None, numa_node: str | None = "-1"
    ) -> FakeDevice:
        """Add a PCI bridge."""
        return self.pci(
            address, class_code="0x060400", driver="pcieport", below=below, numa_node=numa_node
        )

    def usb_hub(self, number: int, *, below: FakeDevice) -> FakeDevice:
        """Add the root hub of USB bus `number` to its controller."""
        return self.usb(f"usb{number}", below=below, vendor="1d6b", product="0002", bus=number)

    def usb(  # noqa: PLR0913 - facts of one device, by name
        self,
        port: str,
        *,
        below: FakeDevice,
        vendor: str = "10c4",
        product: str = "ea60",
        serial: str | bytes | None = None,
        bus: int = 1,
        number: int = 1,
    ) -> FakeDevice:
        """Add a USB device at a port such as 1-2.4, with its node below /dev/bus/usb."""
        device = FakeDevice(
            path=f"{below.path}/{port}",
            subsystem="usb",
            on_bus=True,
            driver="usb",
            number=NodeNumber("char", _USB_DEVICE, (bus - 1) * 128 + number - 1),
            node=f"bus/usb/{bus:03}/{number:03}",
        )
        facts: dict[str, str | bytes] = {"idVendor": vendor, "idProduct": product}
        if serial is not None:
            facts["serial"] = serial
        return self.add(device, facts)

    def usb_interface(
        self, device: FakeDevice, *, number: int = 0, driver: str = ""
    ) -> FakeDevice:
        """Add an interface to a USB device."""
        made = FakeDevice(
            path=f"{device.path}/{device.name}:1.{number}",
            subsystem="usb",
            on_bus=True,
            driver=driver,
        )
        return self.add(made, {"bInterfaceNumber": f"{number:02x}"})

    def usb_tty(self, name: str, *, below: FakeDevice, minor: int = 0) -> FakeDevice:
        """Add a ttyUSB* to an interface; a device of the bus usb-serial is in between."""
        path = f"{below.path}/{name}"
        driver = below.driver or "generic"
        port = FakeDevice(path=path, subsystem="usb-serial", on_bus=True, driver=driver)
        self.add(port)
        return self.child(name, subsystem="tty", below=port, number=(_USB_SERIAL, minor))

    def serial_port(
        self, name: str = "ttyUSB0", *, minor: int = 0, serial: str | bytes | None = None
    ) -> FakeDevice:
        """Add a ttyUSB* with all that it hangs on, from a controller on NUMA node 1 on."""
        bus = minor + 1
        host = self.pci(f"0000:{bus:02x}:00.0", numa_node="1", driver="xhci_hcd")
        hub = self.usb_hub(bus, below=host)
        adapter = self.usb(f"{bus}-1", below=hub, serial=serial, bus=bus, number=2)
        interface = self.usb_interface(adapter, driver="cp210x")
        return self.usb_tty(name, below=interface, minor=minor)

    def acm_tty(self, name: str, *, below: FakeDevice, minor: int = 0) -> FakeDevice:
        """Add a ttyACM* to an interface."""
        return self.child(name, subsystem="tty", below=below, number=(_ACM, minor))

    def disk(
        self,
        name: str,
        *,
        below: FakeDevice | None = None,
        minor: int = 0,
        attributes: Attributes | None = None,
    ) -> FakeDevice:
        """Add a whole disk."""
        number = (_DISK, minor)
        return self.child(
            name, subsystem="block", below=below, number=number, attributes=attributes
        )

    def partition(self, disk: FakeDevice, index: int) -> FakeDevice:
        """Add a partition to a disk."""
        whole = disk.number or NodeNumber("block", _DISK, 0)
        number = NodeNumber("block", whole.major, whole.minor + index)
        name = f"{disk.name}{index}"
        made = FakeDevice(path=f"{disk.path}/{name}", subsystem="block", number=number, node=name)
        return self.add(made, {"partition": str(index)})

    def stack(self, upper: FakeDevice, *lower: FakeDevice) -> None:
        """Make one block device or network interface out of others."""
        for each in lower:
            if upper.subsystem == "net":
                self.link(f"{upper.path}/lower_{each.name}", each.path)
            else:
                self.link(f"{upper.path}/slaves/{each.name}", each.path)
                self.link(f"{each.path}/holders/{upper.name}", upper.path)

    def iommu_group(self, number: int, *members: FakeDevice) -> None:
        """Put PCI functions into one IOMMU group."""
        home = f"/kernel/iommu_groups/{number}"
        for each in members:
            self.link(f"{home}/devices/{each.name}", each.path)
            self.link(f"{each.path}/iommu_group", home)

    def numa_online(self, text: str) -> None:
        """Say which NUMA nodes are online, such as "0-1"."""
        self.write("/devices/system/node/online", text)
