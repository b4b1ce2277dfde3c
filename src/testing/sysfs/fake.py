"""The fake sysfs as a whole."""

from deviceplugin.testing.sysfs.hardware import Hardware
from deviceplugin.testing.sysfs.oddities import Oddity, apply
from deviceplugin.testing.sysfs.tree import FakeDevice


class FakeSysfs(Hardware):
    """A tree like the kernel's in `directory/sys`, with the nodes of its devices in `nodes`.

    Devices come (`misc`, `pci`, `usb`, `child` …), go (`remove`) and change (`rename`, `bind`,
    `write`); `nodes` is a `DeviceNodes` that follows. `spoil` makes one of them odd.
    """

    def spoil(self, device: FakeDevice, oddity: Oddity) -> None:
        """Make something wrong with the device, as it happens in real trees."""
        apply(self, device, oddity)
