"""Accelerators that this machine does not have: a /sys of their own, and nodes in /dev."""

import os
import stat
from pathlib import Path
from typing import Final

from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs

RESOURCE: Final = "devices.local/accel"
"""As the preset and the default domain name it."""
_NUMBERS: Final = {"accel0": (1, 3), "accel1": (1, 5), "accel2": (1, 7)}
"""Of devices that every machine has, so that a pod can open them: null, zero and full."""
_NODES: Final = Path("/dev/accel")


class Accelerators:
    """Each is on a PCI card of its own on NUMA node 0.

    /dev is the node's own, so nodes can be made in it and taken away.
    """

    def __init__(self, directory: Path) -> None:
        """Show no accelerator yet, on a machine with one NUMA node."""
        self._sysfs = FakeSysfs(directory)
        self._sysfs.numa_online("0")
        self._cards: dict[str, FakeDevice] = {}
        _NODES.mkdir()

    @property
    def sys_root(self) -> Path:
        """Where the /sys is that shows them."""
        return self._sysfs.root

    def appear(self, *names: str) -> None:
        """Plug in "accel0" to "accel2"."""
        for name in names:
            number = _NUMBERS[name]
            os.mknod(_NODES / name, stat.S_IFCHR | 0o666, os.makedev(*number))
            card = self._sysfs.pci(f"0000:0{number[1]}:00.0", numa_node="0")
            self._cards[name] = card
            self._sysfs.child(
                name, subsystem="accel", below=card, number=number, node=f"accel/{name}"
            )

    def vanish(self, name: str) -> None:
        """Unplug one."""
        self._sysfs.remove(self._cards.pop(name))
        (_NODES / name).unlink()

    def clear(self) -> None:
        """Unplug all."""
        for name in tuple(self._cards):
            self.vanish(name)
        _NODES.rmdir()
