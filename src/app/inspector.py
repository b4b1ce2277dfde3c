"""Looks at a machine as the plugin would, live or recorded, and serves nothing."""

import os
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final, cast

import attrs

from deviceplugin.adapters.logs import LoggingJournal
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.recorded import Recorded, RecordedHostUse, opened
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import Files
from deviceplugin.adapters.sysfs.recording import replaying
from deviceplugin.adapters.system import (
    ProcHostUse,
    SystemDeviceNodes,
    SystemProber,
    ThreadWorker,
)
from deviceplugin.adapters.system.recorded_nodes import RecordedDeviceNodes
from deviceplugin.app.explanation import ids_of
from deviceplugin.app.parts import parts_of
from deviceplugin.app.probes import Probes
from deviceplugin.app.settings import Configuration
from deviceplugin.domain.discovery.asking import asking, unknown
from deviceplugin.domain.discovery.events import (
    DeviceUnwell,
    DirectoryUnreadable,
    EntryUnreadable,
)
from deviceplugin.domain.discovery.inquiry import Finding, findings
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook, Sighting
from deviceplugin.domain.errors import InvalidValueError, ScanError
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.host_use import HostUse
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import Timing
from deviceplugin.domain.tree import FrozenTree

CONFIGURATION: Final = "plugin.yaml"
"""The file of a recorded directory that has the configuration it was recorded with."""


@attrs.frozen(kw_only=True)
class Findings:
    """How devices fare with resources, and the ids of those that are offered.

    `ids` are by what tells candidates of a scan apart; one that cannot be used now has the reason
    beside its id. `dispute` says which are offered by nobody since several resources claim them.
    """

    all: tuple[Finding, ...]
    ids: Mapping[str, str]
    dispute: str = ""


@attrs.frozen(kw_only=True)
class Inspector:
    """Looks at what a configuration describes.

    `root` is a directory with sys and dev, if the machine was told of so; one that was recorded
    answers as the machine did. With `probe` each device's probe is asked, once; else it counts as
    well. What happens is recorded in `journal`. Raises `InvalidValueError` for both at once; each
    look raises it for a root that is broken, and `ScanError`.
    """

    configuration: Configuration
    root: str | None = None
    probe: bool = False
    journal: Journal = attrs.field(factory=LoggingJournal)

    def __attrs_post_init__(self) -> None:
        """Refuse to ask this machine about another one."""
        if self.probe and self.root is not None:
            raise InvalidValueError(
                "probes ask this machine: --probe and --root exclude each other"
            )

    def look(self) -> FrozenTree:
        """Return what one look finds.

        Two resources that claim one device are a `ScanError`, if the configuration has it so.
        """
        tree, dispute = self._scanned(self.journal)
        if dispute:
            raise ScanError(dispute)
        return tree

    def not_asked(self, resource: ResourceName) -> bool:
        """Say whether the devices of a resource have probes, and none was asked."""
        return not self.probe and resource in self._probed()

    def rule(self, name: str) -> ResourceRule:
        """Return the rule of a resource by its name, short or full.

        Raises `InvalidResourceNameError`, and `InvalidValueError` if there is none of the name.
        """
        rules = {str(rule.resource): rule for rule in self.configuration.rules}
        full = str(ResourceName.of(self.configuration.settings.domain, name))
        if full not in rules:
            near = get_close_matches(full, rules, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            node = f"/dev/{name}"
            is_node = name.isprintable() and self.nodes().number(node) is not None
            other = f"; the device is asked for by its path, {node}" if is_node else ""
            raise InvalidValueError(
                f"no resource {full} is configured: {meant}there are {', '.join(rules)}{other}"
            )
        return rules[full]

    def findings(self) -> Findings:
        """Return how each device that is looked at fares with each resource."""
        return self._found(self.scanner().sightings())

    def findings_of(self, path: str) -> Findings:
        """Return how the device at a host's path below /dev or /sys fares with each resource.

        Raises `InvalidValueError` if there is none.
        """
        if not path.startswith("/dev/"):
            return self._found_by(path, asking(devices=[self._devpath(path)]))
        try:
            return self._found_by(path, asking(nodes=[path]))
        except InvalidValueError:  # the node may be gone, or not be there yet
            return self._found_by(path, asking(announced=[path]))

    def _found_by(self, path: str, asked: ResourceRule) -> Findings:
        sightings = self.scanner(asked).sightings()
        named = {each.candidate.identity for each in sightings if asked in each.claims}
        if not named:
            raise InvalidValueError(unknown(path, self.nodes().dangling(path)))
        found = self._found(sightings)
        own = tuple(each for each in found.all if each.candidate.identity in named)
        return attrs.evolve(found, all=own)

    def nodes(self) -> SystemDeviceNodes:
        """Return the machine's device nodes."""
        dev_root = self.configuration.settings.dev_root
        recorded = self._recorded()
        if recorded:
            return RecordedDeviceNodes(dev_root, failures=recorded.failures)
        return SystemDeviceNodes(dev_root)

    def host(self) -> HostUse:
        """Return what the machine uses itself."""
        recorded, proc_root = self._recorded(), self.configuration.settings.proc_root
        if recorded:
            return RecordedHostUse(recorded.uses)
        return ProcHostUse(nodes=self.nodes(), proc_root=proc_root)

    def scanner(
        self,
        *more: ResourceRule,
        reader: Callable[[str], Files] | None = None,
        nodes: DeviceNodes | None = None,
        host: HostUse | None = None,
        journal: Journal | None = None,
        probes: Probes | None = None,
    ) -> SysfsScanner:
        """Return a scanner by the configuration's rules and more, as the plugin has it."""
        from deviceplugin.app.container import Container  # noqa: PLC0415 - it brings gRPC along

        parts = {
            **parts_of(self.configuration),
            "timing": Timing(),
            "rules": (*self.configuration.rules, *more),
            "reader": reader or self._reader(),
            "nodes": nodes or self.nodes(),
            "host_use": host or self.host(),
            "journal": journal or self.journal,
            "probing": probes or Probes(),
        }
        return cast("SysfsScanner", Container(**parts).sysfs())

    def _found(self, sightings: Iterable[Sighting]) -> Findings:
        heard = MemoryJournal()
        tree, dispute = self._scanned(heard)
        for event in (*heard.of(DirectoryUnreadable), *heard.of(EntryUnreadable)):
            self.journal.record(event)
        return Findings(
            all=findings(self._rulebook(), sightings),
            ids=ids_of(
                tree,
                {each.device: each.reason for each in heard.of(DeviceUnwell)},
                unasked=frozenset(filter(self.not_asked, tree.resources)),
            ),
            dispute=dispute,
        )

    def _rulebook(self) -> Rulebook:
        on_conflict = OnConflict(self.configuration.settings.on_conflict)
        return Rulebook(self.configuration.rules, on_conflict=on_conflict)

    def _probed(self) -> frozenset[ResourceName]:
        return frozenset(each.resource for each in self.configuration.rules if each.probe)

    def _scanned(self, journal: Journal) -> tuple[FrozenTree, str]:
        """Return what one look finds once the probes, if there are any, have answered.

        And which devices nobody gets since several resources claim them, if there are any.
        """
        probes = Probes(SystemProber(ThreadWorker()) if self.probe else None)
        if self._probed():
            self.scanner(journal=MemoryJournal(), probes=probes).scan()
            probes.ask()
        scanner = self.scanner(journal=journal, probes=probes)
        return scanner.scan().freeze(self.configuration.settings.domain), scanner.dispute

    def _devpath(self, path: str) -> str:
        """Return the path below /sys of the directory that a path leads to."""
        sys_root = self.configuration.settings.sys_root
        below = next(
            (path.removeprefix(each) for each in (sys_root, "/sys") if _in(each, path)), ""
        )
        real = Files(sys_root).directory(os.path.normpath(below)) if below else None
        if real is None:
            raise InvalidValueError(
                f"{path}: not a device's path, which begins with /dev/ or /sys/, nor a directory "
                "that is there"
            )
        return real

    def _recorded(self) -> Recorded | None:
        return None if self.root is None else opened(self.root)

    def _reader(self) -> Callable[[str], Files] | None:
        recorded = self._recorded()
        return replaying(recorded.below("/sys")) if recorded else None


def own_configuration(root: str) -> str | None:
    """Return the file of the configuration that a directory was recorded with, if there is one.

    Raises `InvalidValueError` if it was recorded, but is broken.
    """
    path = Path(root) / CONFIGURATION
    return str(path) if opened(root) is not None and path.exists() else None


def _in(root: str, path: str) -> bool:
    return path.startswith(f"{root.rstrip('/')}/")
