"""Looks at a machine as the plugin would, live or recorded, and serves nothing."""

import os
from collections.abc import Callable, Mapping, Sequence
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
from deviceplugin.adapters.system import ProcHostUse, SystemDeviceNodes
from deviceplugin.adapters.system.recorded_nodes import RecordedDeviceNodes
from deviceplugin.app.parts import parts_of
from deviceplugin.app.settings import Configuration
from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.asking import ASKED, asking
from deviceplugin.domain.discovery.events import (
    DeviceUnwell,
    DirectoryUnreadable,
    EntryUnreadable,
)
from deviceplugin.domain.discovery.inquiry import Finding, Outcome, findings
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.rulebook import Rulebook
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
    beside its id. `failure` says why nothing is offered at all, if so.
    """

    all: tuple[Finding, ...]
    ids: Mapping[str, str]
    failure: str = ""


@attrs.frozen(kw_only=True)
class Inspector:
    """Looks at what a configuration describes.

    `root` is a directory with sys and dev, if the machine was told of so; one that was recorded
    answers as the machine did. What happens is recorded in `journal`. Each look raises
    `ScanError`, and `InvalidValueError` for a root that is broken.
    """

    configuration: Configuration
    root: str | None = None
    journal: Journal = attrs.field(factory=LoggingJournal)

    def look(self) -> FrozenTree:
        """Return what one look finds."""
        return self.scanner().scan().freeze(self.configuration.settings.domain)

    def rule(self, name: str) -> ResourceRule:
        """Return the rule of a resource by its name, short or full.

        Raises `InvalidResourceNameError`, and `InvalidValueError` if there is none of the name.
        """
        rules = {str(rule.resource): rule for rule in self.configuration.rules}
        full = str(ResourceName.of(self.configuration.settings.domain, name))
        if full not in rules:
            near = get_close_matches(full, rules, 1)
            meant = f"did you mean {near[0]}? " if near else ""
            raise InvalidValueError(
                f"no resource {full} is configured: {meant}there are {', '.join(rules)}"
            )
        return rules[full]

    def findings(self) -> Findings:
        """Return how each device that is looked at fares with each resource."""
        return self._found(*self.configuration.rules)

    def findings_of(self, path: str) -> Findings:
        """Return how the device at a host's path below /dev or /sys fares with each resource.

        Raises `InvalidValueError` if there is none.
        """
        if path.startswith("/dev/"):
            asked = asking(nodes=[path])
        else:
            asked = asking(devices=[self._devpath(path)])
        found = self._found(*self.configuration.rules, asked)
        named = {
            each.candidate.identity
            for each in found.all
            if each.resource == ASKED and each.outcome is not Outcome.RULED_OUT
        }
        if not named:
            raise InvalidValueError(f"{path}: no device of this machine is known by this path")
        own = tuple(each for each in found.all if each.candidate.identity in named)
        return attrs.evolve(found, all=own)

    def nodes(self) -> DeviceNodes:
        """Return the machine's device nodes."""
        dev_root = self.configuration.settings.dev_root
        kind = RecordedDeviceNodes if self._recorded() else SystemDeviceNodes
        return kind(dev_root)

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
        }
        return cast("SysfsScanner", Container(**parts).sysfs())

    def _found(self, *rules: ResourceRule) -> Findings:
        more = rules[len(self.configuration.rules) :]
        heard = MemoryJournal()
        sightings = self.scanner(*more).sightings()
        tree, failure = FrozenTree(), ""
        try:
            tree = self.scanner(journal=heard).scan().freeze(self.configuration.settings.domain)
        except ScanError as error:  # two resources claim one device, and that is an error here
            failure = str(error)
        for event in (*heard.of(DirectoryUnreadable), *heard.of(EntryUnreadable)):
            self.journal.record(event)
        return Findings(
            all=findings(Rulebook(rules), sightings),
            ids=_ids(tree, {each.device: each.reason for each in heard.of(DeviceUnwell)}),
            failure=failure,
        )

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


def _ids(tree: FrozenTree, unwell: Mapping[str, str]) -> Mapping[str, str]:
    """Return the ids of devices by their path below /sys, else by their node.

    Shares of a device are counted under its own id.
    """
    units: dict[str, list[tuple[str, str]]] = {}
    for devices in tree.resources.values():
        for key, info in devices.items():
            place = info.attributes.get("devpath") or next(
                (node.host_path for node in info.nodes), ""
            )
            is_well = info.health is Health.HEALTHY
            why = "" if is_well else f"Unhealthy: {unwell.get(str(key), 'not known why')}"
            units.setdefault(place, []).append((info.share_of or str(key), why))
    return {place: _told(each) for place, each in units.items()}


def _told(units: Sequence[tuple[str, str]]) -> str:
    names = ", ".join(dict.fromkeys(name for name, _ in units))
    notes = dict.fromkeys(why for _, why in units if why)
    if len(units) > 1:
        notes = {f"{len(units)} shares": None, **notes}
    return f"{names} ({'; '.join(notes)})" if notes else names


def _in(root: str, path: str) -> bool:
    return path.startswith(f"{root.rstrip('/')}/")
