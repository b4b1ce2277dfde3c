"""Parts of a plugin that goes by a configuration, made for the container.

Each imports what it is made of when it is made: an author's own plugin does without the memory.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping, Sequence

    from deviceplugin.adapters.inotify import NodeHotplug
    from deviceplugin.adapters.sysfs.files import Files
    from deviceplugin.adapters.sysfs.scanner import Ask
    from deviceplugin.adapters.uevent import UeventHotplug
    from deviceplugin.app.settings import Configuration
    from deviceplugin.app.use_cases.advertise import Advertise
    from deviceplugin.app.use_cases.keep_probing import KeepProbing
    from deviceplugin.app.use_cases.known_holds import KnownHolds
    from deviceplugin.app.use_cases.poll_source import PollSource
    from deviceplugin.app.use_cases.reload_configuration import ReloadConfiguration
    from deviceplugin.app.use_cases.scan import RunScanner
    from deviceplugin.app.use_cases.watch_configuration import WatchConfiguration
    from deviceplugin.domain.discovery.matching import ResourceRule
    from deviceplugin.domain.discovery.rulebook import Rulebook
    from deviceplugin.domain.ports.driven.clock import Clock
    from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
    from deviceplugin.domain.ports.driven.device_source import RuledSource
    from deviceplugin.domain.ports.driven.host_use import HostUse
    from deviceplugin.domain.ports.driven.journal import Journal
    from deviceplugin.domain.ports.driven.worker import Worker
    from deviceplugin.domain.preference import Policy
    from deviceplugin.domain.resources import ResourceName


def parts_of(configuration: "Configuration") -> "Mapping[str, Any]":
    """Return the parts of a container for what a configuration describes, found in sysfs."""
    from deviceplugin.app.use_cases.reload_configuration import policies_of  # noqa: PLC0415

    settings = configuration.settings
    policies = policies_of(configuration.rules)
    return {
        "origin": "sysfs",
        "namespace": settings.domain,
        "plugin_dir": settings.plugin_dir,
        "kubelet_root": settings.kubelet_root,
        "registration": settings.registration,
        "on_exit": settings.on_exit,
        "author": None,
        "rules": configuration.rules,
        "sys_root": settings.sys_root,
        "dev_root": settings.dev_root,
        "proc_root": settings.proc_root,
        "on_conflict": settings.on_conflict,
        "metrics": settings.metrics,
        "rescan_seconds": settings.rescan_seconds,
        "configuration": configuration,
        "policies": policies,
        "policy_of": policies.get,
    }


def device_nodes(dev_root: str) -> "DeviceNodes":
    """Return what knows the device nodes below a folder such as /dev."""
    from deviceplugin.adapters.system import SystemDeviceNodes  # noqa: PLC0415

    return SystemDeviceNodes(dev_root)


def host_use(*, nodes: "DeviceNodes", proc_root: str) -> "HostUse":
    """Return what tells which devices the host uses itself."""
    from deviceplugin.adapters.system import ProcHostUse  # noqa: PLC0415

    return ProcHostUse(nodes=nodes, proc_root=proc_root)


def sysfs_scanner(  # noqa: PLR0913 - collaborators, by name
    rules: "Sequence[ResourceRule]",
    *,
    on_conflict: str,
    sys_root: str,
    nodes: "DeviceNodes",
    host: "HostUse",
    journal: "Journal",
    reader: "Callable[[str], Files] | None",
    ask: "Ask",
    held: "KnownHolds",
) -> "RuledSource":
    """Return what finds devices in sysfs by these rules."""
    from deviceplugin.adapters.sysfs import SysfsScanner  # noqa: PLC0415
    from deviceplugin.adapters.sysfs.files import Files  # noqa: PLC0415
    from deviceplugin.domain.discovery.rulebook import OnConflict  # noqa: PLC0415

    return SysfsScanner(
        rules,
        on_conflict=OnConflict(on_conflict),
        sys_root=sys_root,
        nodes=nodes,
        host=host,
        journal=journal,
        files=reader or Files,
        ask=ask,
        held=held,
    )


def probing(*, worker: "Worker", clock: "Clock") -> "KeepProbing":
    """Return what asks the probes of devices, if rules have any."""
    from deviceplugin.adapters.system import SystemProber  # noqa: PLC0415
    from deviceplugin.app.use_cases.keep_probing import KeepProbing  # noqa: PLC0415

    return KeepProbing(SystemProber(worker), clock=clock)


def uevent_hotplug(rules: "Sequence[ResourceRule]", *, journal: "Journal") -> "UeventHotplug":
    """Return what hears the kernel announce devices that these rules may be about."""
    from deviceplugin.adapters.uevent import UeventHotplug  # noqa: PLC0415
    from deviceplugin.domain.discovery.bustle import matters_to  # noqa: PLC0415

    return UeventHotplug(journal=journal, matters=matters_to(rules))


def node_hotplug(
    rules: "Sequence[ResourceRule]", *, nodes: "DeviceNodes", dev_root: str, journal: "Journal"
) -> "NodeHotplug":
    """Return what hears of the device nodes that these rules ask for by path."""
    from deviceplugin.adapters.inotify import NodeHotplug  # noqa: PLC0415
    from deviceplugin.domain.discovery.rulebook import Rulebook  # noqa: PLC0415

    patterns = Rulebook(rules).scope.nodes
    return NodeHotplug(patterns, nodes=nodes, dev_root=dev_root, journal=journal)


def follow(
    rules: "Rulebook", *, source: "RuledSource", uevents: "UeventHotplug", nodes: "NodeHotplug"
) -> None:
    """Let the three go by other rules."""
    from deviceplugin.domain.discovery.bustle import matters_to  # noqa: PLC0415

    source.follow(rules)
    uevents.attend_to(matters_to(rules))
    nodes.look_for(rules.scope.nodes)


def reload_configuration(  # noqa: PLR0913 - collaborators, by name
    configuration: "Configuration | None",
    *,
    source: "RuledSource",
    uevents: "UeventHotplug",
    nodes: "NodeHotplug",
    policies: "MutableMapping[ResourceName, Policy | None]",
    advertise: "Advertise",
    poll: "PollSource",
    run_scanner: "RunScanner",
    journal: "Journal",
) -> "ReloadConfiguration | None":
    """Return what puts another configuration into force; None if there is none to begin with."""
    from deviceplugin.app.use_cases.reload_configuration import (  # noqa: PLC0415
        ReloadConfiguration,
    )

    if configuration is None:
        return None

    def look_again() -> None:
        poll.look_again()
        run_scanner.hurry()

    return ReloadConfiguration(
        configuration=configuration,
        follow=partial(follow, source=source, uevents=uevents, nodes=nodes),
        policies=policies,
        renew=advertise.renew,
        every=poll.every,
        look_again=look_again,
        journal=journal,
    )


def watch_configuration(  # noqa: PLR0913 - collaborators, by name
    configuration: "Configuration | None",
    *,
    reread: "Callable[[], Configuration] | None",
    reload: "ReloadConfiguration | None",
    worker: "Worker",
    clock: "Clock",
    journal: "Journal",
) -> "WatchConfiguration | None":
    """Return what reads the configuration again; None if nobody said how that is done."""
    from deviceplugin.adapters.inotify import InotifyFile  # noqa: PLC0415
    from deviceplugin.app.use_cases.watch_configuration import (  # noqa: PLC0415
        WatchConfiguration,
    )

    if configuration is None or reread is None or reload is None:
        return None
    path = configuration.path
    return WatchConfiguration(
        source=configuration.source,
        file=InotifyFile(path, clock=clock, journal=journal) if path else None,
        reread=reread,
        reload=reload,
        worker=worker,
        clock=clock,
        journal=journal,
    )


def nothing() -> None:
    """Do nothing: an author's scanner looks when it likes."""
