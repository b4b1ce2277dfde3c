"""The composition root: which adapter stands behind which port. Nothing else knows the injector.

Each provider is annotated with its port, so that a type checker refuses an adapter that does not
fit; a test builds every provider, because it cannot see wrong keywords.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dependency_injector.containers import DeclarativeContainer
from dependency_injector.providers import (
    Dependency,
    Factory,
    List,
    Object,
    Provider,
    Selector,
    Singleton,
)

from deviceplugin.adapters import system
from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.kubelet.checkpoint import CheckpointHolders
from deviceplugin.adapters.kubelet.pod_resources import PodResourcesHolders
from deviceplugin.adapters.kubelet.registry import registry_directory, registry_path
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.adapters.kubelet.standby import stand_by
from deviceplugin.app import metering, parts
from deviceplugin.app.use_cases.advertise import Advertise
from deviceplugin.app.use_cases.ask_holders import AskHolders
from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.keep_registered import KeepRegistered
from deviceplugin.app.use_cases.known_holds import KnownHolds, LearnHolds
from deviceplugin.app.use_cases.poll_source import PollSource, nothing_to_forget
from deviceplugin.app.use_cases.retain_held import RetainHeld
from deviceplugin.app.use_cases.run_plugin import RunPlugin
from deviceplugin.app.use_cases.scan import RunScanner
from deviceplugin.app.use_cases.serve_devices import OpenResource
from deviceplugin.app.use_cases.watch_kubelet import WatchKubelet
from deviceplugin.app.use_cases.world import Way, World
from deviceplugin.app.ways import places_of, register_of, watcher_of, ways_of
from deviceplugin.domain.ending import OnExit
from deviceplugin.domain.ports.driven.clock import Chance, Clock
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.ports.driven.directory import PluginDirectory
from deviceplugin.domain.ports.driven.holders import Holders
from deviceplugin.domain.ports.driven.host_use import HostUse
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.domain.routes import RegistrationMode, Route
from deviceplugin.domain.timing import Timing

if TYPE_CHECKING:
    from deviceplugin.adapters.inotify import NodeHotplug
    from deviceplugin.adapters.prometheus import PrometheusJournal
    from deviceplugin.adapters.uevent import UeventHotplug
    from deviceplugin.app.use_cases.keep_probing import KeepProbing
    from deviceplugin.app.use_cases.reload_configuration import ReloadConfiguration
    from deviceplugin.app.use_cases.watch_configuration import WatchConfiguration
    from deviceplugin.domain.ports.driven.device_source import RuledSource


class Container(DeclarativeContainer):
    """One plugin. `origin` says where its devices come from.

    - `scanner`: the author's own `scan`, which loops.
    - `source`: the author's snapshots, asked every `rescan_seconds` and when a list proved old.
    - `sysfs`: what `rules` find in sysfs, likewise; `reader` makes another reader of it. Another
      `configuration` can take its place, with `policies`; `reread` reads it again.
    """

    origin: Provider[str] = Dependency(instance_of=str)
    namespace: Provider[str] = Dependency(instance_of=str)
    plugin_dir: Provider[str] = Dependency(instance_of=str)
    kubelet_root: Provider[str] = Dependency(instance_of=str, default="/var/lib/kubelet")
    registration: Provider[RegistrationMode] = Dependency(
        instance_of=RegistrationMode, default=RegistrationMode.AUTO
    )
    on_exit: Provider[OnExit] = Dependency(instance_of=OnExit, default=OnExit.LEAVE)
    policy_of: Provider[Any] = Dependency()
    author: Provider[object] = Dependency()
    rules: Provider[Any] = Dependency(default=())
    rescan_seconds: Provider[Any] = Dependency(default=Object(None))
    sys_root: Provider[str] = Dependency(instance_of=str, default="/sys")
    dev_root: Provider[str] = Dependency(instance_of=str, default="/dev")
    proc_root: Provider[str] = Dependency(instance_of=str, default="/proc")
    on_conflict: Provider[str] = Dependency(instance_of=str, default="first")
    metrics: Provider[str] = Dependency(instance_of=str, default="none")
    reader: Provider[Any] = Object(None)
    configuration: Provider[Any] = Dependency(default=Object(None))
    policies: Provider[Any] = Dependency(default=Object(None))
    reread: Provider[Any] = Dependency(default=Object(None))
    timing: Provider[Timing] = Dependency(instance_of=Timing)

    clock: Provider[Clock] = Singleton(system.SystemClock)
    chance: Provider[Chance] = Singleton(system.SystemChance)
    worker: Provider[Worker] = Singleton(system.ThreadWorker)
    meter: Provider["PrometheusJournal | None"] = Singleton(metering.meter, metrics)
    journal: Provider[Journal] = Singleton(metering.journal, meter)
    beside: Provider[Any] = Singleton(
        metering.beside, Object(stand_by), metrics, meter=meter, clock=clock, journal=journal
    )

    sockets: Provider[SocketDirectory] = Singleton(SocketDirectory, plugin_dir)
    registry_sockets: Provider[SocketDirectory] = Singleton(registry_directory, kubelet_root)
    registry_path: Provider[str] = Singleton(registry_path, kubelet_root)
    places: Provider[Mapping[Route, SocketDirectory]] = Singleton(
        places_of, registration, sockets.provider, registry_sockets.provider
    )
    directory: Provider[PluginDirectory] = Singleton(
        InotifyDirectory, plugin_dir, clock=clock, journal=journal, beside=List(registry_path)
    )
    answer: Provider[float] = timing.provided.release.answer
    pod_resources: Provider[Holders] = Singleton(
        PodResourcesHolders, kubelet_root, worker=worker, clock=clock, seconds=answer
    )
    checkpoint: Provider[Holders] = Singleton(
        CheckpointHolders, plugin_dir, worker=worker, clock=clock
    )
    ask_holders: Provider[AskHolders] = Singleton(
        AskHolders, List(pod_resources, checkpoint), clock=clock, seconds=answer, journal=journal
    )
    holds: Provider[KnownHolds] = Singleton(KnownHolds)
    learn_holds: Provider[LearnHolds] = Singleton(LearnHolds, ask=ask_holders, holds=holds)

    nodes: Provider[DeviceNodes] = Singleton(parts.device_nodes, dev_root)
    host_use: Provider[HostUse] = Singleton(parts.host_use, nodes=nodes, proc_root=proc_root)
    probing: Provider["KeepProbing"] = Singleton(parts.probing, worker=worker, clock=clock)
    sysfs: Provider["RuledSource"] = Singleton(
        parts.sysfs_scanner,
        rules,
        on_conflict=on_conflict,
        sys_root=sys_root,
        nodes=nodes,
        host=host_use,
        journal=journal,
        reader=reader,
        ask=probing.provided.answers,
        held=holds,
    )
    source: Provider[DeviceSource] = Selector(origin, source=author, sysfs=sysfs)
    uevents: Provider["UeventHotplug"] = Singleton(parts.uevent_hotplug, rules, journal=journal)
    node_hotplug: Provider["NodeHotplug"] = Singleton(
        parts.node_hotplug, rules, nodes=nodes, dev_root=dev_root, journal=journal
    )
    hotplugs: Provider[Any] = Selector(
        origin, scanner=Object(()), source=Object(()), sysfs=List(uevents, node_hotplug, probing)
    )
    poll: Singleton[PollSource] = Singleton(
        PollSource,
        source,
        worker=worker,
        clock=clock,
        journal=journal,
        seconds=rescan_seconds,
        hotplugs=hotplugs,
        forget=Selector(origin, source=Object(nothing_to_forget), sysfs=sysfs.provided.forget),
        prepare=Selector(origin, source=Object(None), sysfs=learn_holds),
    )
    scanner: Provider[Scanner] = Selector(origin, scanner=author, source=poll, sysfs=poll)
    look: Provider[Callable[[], None]] = poll.provided.look_again
    look_again: Provider[Callable[[], None]] = Selector(
        origin, scanner=Object(parts.nothing), source=look, sysfs=look
    )

    register: Provider[Way] = Singleton(
        register_of, sockets, registry_sockets.provider, directory=directory, journal=journal
    )
    watcher: Provider[Way] = Singleton(
        watcher_of, registry_sockets, sockets.provider, registration, clock=clock, journal=journal
    )
    ways: Provider[Mapping[Route, Way]] = Singleton(
        ways_of, places, register=register.provider, watcher=watcher.provider
    )
    world: Provider[World] = Singleton(
        World, ways=ways, clock=clock, chance=chance, timing=timing, journal=journal
    )
    watch_kubelet: Provider[WatchKubelet] = Singleton(
        WatchKubelet, world.provided.directories, clock, journal, mode=registration, timing=timing
    )
    keep: Provider[KeepRegistered] = Factory(KeepRegistered, world=world)
    code: Provider[AuthorCode] = Singleton(AuthorCode, worker=worker, clock=clock)
    open_resource: Provider[OpenResource] = Singleton(
        OpenResource,
        author=author,
        journal=journal,
        code=code,
        look_again=look_again,
        policy_of=policy_of,
        give_out=holds.provided.give_out,
    )
    retain_held: Provider[RetainHeld] = Singleton(
        RetainHeld,
        ask_holders=ask_holders,
        holds=holds,
        look_again=look_again,
        clock=clock,
        timing=timing.provided.release,
        journal=journal,
    )
    advertise: Provider[Advertise] = Singleton(
        Advertise,
        open_resource=open_resource,
        keep=keep.provider,
        watch_kubelet=watch_kubelet,
        retain_held=retain_held,
        clock=clock,
        journal=journal,
        on_exit=on_exit,
    )
    run_scanner: Provider[RunScanner] = Singleton(
        RunScanner, scanner=scanner, worker=worker, clock=clock, chance=chance, journal=journal
    )
    reload: Provider["ReloadConfiguration | None"] = Singleton(
        parts.reload_configuration,
        configuration,
        source=sysfs,
        uevents=uevents,
        nodes=node_hotplug,
        policies=policies,
        advertise=advertise,
        poll=poll,
        run_scanner=run_scanner,
        journal=journal,
    )
    watched: Provider["WatchConfiguration | None"] = Singleton(
        parts.watch_configuration,
        configuration,
        reread=reread,
        reload=reload,
        worker=worker,
        clock=clock,
        journal=journal,
    )
    none: Provider[Any] = Object(None)
    watch: Provider[Any] = Selector(origin, scanner=none, source=none, sysfs=watched)
    run_plugin: Provider[RunPlugin] = Singleton(
        RunPlugin,
        namespace=namespace,
        run_scanner=run_scanner,
        advertise=advertise,
        watch_kubelet=watch_kubelet,
        hotplugs=hotplugs,
        watch_configuration=watch,
        beside=beside,
        directories=world.provided.directories,
    )
