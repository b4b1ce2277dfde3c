"""A fake sysfs with a scanner on it: to see what rules find."""

import os
from collections.abc import Callable, Mapping

from deviceplugin.adapters.memory.host_use import MemoryHostUse
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.domain.devices import DeviceInfo
from deviceplugin.domain.discovery.identity import REMEMBERED
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict
from deviceplugin.domain.holds import Holds
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.sysfs.fake import FakeSysfs


class Machine:
    """A tree in a directory of its own, and scanners that record in its journal.

    Fill `sysfs`, then `scan(rule)` shows whether the rule finds what it should. `host` is told
    what the machine uses itself.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.sysfs = FakeSysfs(directory)
        self.journal = MemoryJournal()
        self.host = MemoryHostUse()

    def scanner(
        self,
        *rules: ResourceRule,
        files: Callable[[str], Files] = Files,
        on_conflict: OnConflict = OnConflict.FIRST,
        remembered: int = REMEMBERED,
        held: Callable[[], Holds] = frozenset,
    ) -> SysfsScanner:
        """Return a scanner of this machine, where this may be `held`."""
        return SysfsScanner(
            rules,
            nodes=self.sysfs.nodes,
            journal=self.journal,
            sys_root=str(self.sysfs.root),
            host=self.host,
            on_conflict=on_conflict,
            files=files,
            remembered=remembered,
            held=held,
        )

    def scan(self, *rules: ResourceRule) -> dict[str, DeviceInfo]:
        """Return what a new scanner finds for the last of the rules, by id."""
        return found(self.scanner(*rules), rules[-1].resource)


def found(scanner: SysfsScanner, resource: ResourceName) -> dict[str, DeviceInfo]:
    """Return the devices of a resource that one more scan finds, by id."""
    resources = scanner.scan().freeze(resource.domain).resources
    return {str(key): info for key, info in resources.get(resource, {}).items()}


def names(infos: Mapping[str, DeviceInfo]) -> list[str]:
    """Return the names that sysfs has for devices, sorted."""
    return sorted(info.attributes["devpath"].rpartition("/")[2] for info in infos.values())
