"""The front of the framework: give it a scanner, and pods can ask for what it finds."""

import asyncio
import errno
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from deviceplugin.adapters.system.signals import awake_to_signals
from deviceplugin.app.options import check_author, places_of, rescan_of, same_for_all
from deviceplugin.domain.choices import choice_of
from deviceplugin.domain.ending import OnExit
from deviceplugin.domain.errors import InvalidValueError, ServingError
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.routes import RegistrationMode
from deviceplugin.domain.timing import Timing
from deviceplugin.domain.tree import FrozenTree, tree_of

if TYPE_CHECKING:
    from deviceplugin.app.settings import Configuration
    from deviceplugin.app.use_cases.run_plugin import RunPlugin

PLUGIN_DIRECTORY: Final = "/var/lib/kubelet/device-plugins"
"""Where each kubelet has its device plugin socket; it doesn't follow the kubelet's --root-dir."""


class Manager:
    """Serves what `plugin.scan` finds: a resource `namespace/type` for each type.

    `plugin` may have further powers, each a small protocol: `Allocator`, `PostAllocator`,
    `PreferredAllocator`, `ContainerPreStarter`. A manager serves once. It installs no signal
    handlers and never exits the process.

    `kubelet_root` is the kubelet's --root-dir. If left out, it is the parent of a plugin directory
    of the usual name `device-plugins`, else that directory itself.

    `registration` is the way to the kubelet, "register", "watcher" or "auto"; `on_exit` what it is
    told of the devices in the end: "leave" them, or that all are "unhealthy".

    Raises `InvalidResourceNameError` for the namespace, `InvalidValueError` for an option or for a
    plugin whose `scan` cannot be called, and `ServingError` for a directory in which no socket
    could ever be.
    """

    def __init__(  # noqa: PLR0913 - options go by name
        self,
        namespace: str,
        plugin: Scanner,
        *,
        plugin_dir: str = PLUGIN_DIRECTORY,
        kubelet_root: str | None = None,
        registration: str = "auto",
        on_exit: str = "leave",
        allocation_policy: str = "none",
        journal: Journal | None = None,
        timing: Timing | None = None,
    ) -> None:
        """Take what is needed; nothing is opened yet."""
        self._use(
            journal,
            timing or Timing(),
            origin="scanner",
            namespace=namespace,
            plugin_dir=plugin_dir,
            kubelet_root=kubelet_root,
            registration=registration,
            on_exit=on_exit,
            author=plugin,
            policy_of=same_for_all(allocation_policy),
        )

    @classmethod
    def of_source(  # noqa: PLR0913 - options go by name
        cls,
        namespace: str,
        source: DeviceSource,
        *,
        rescan_seconds: float = 5.0,
        plugin_dir: str = PLUGIN_DIRECTORY,
        kubelet_root: str | None = None,
        registration: str = "auto",
        on_exit: str = "leave",
        allocation_policy: str = "none",
        journal: Journal | None = None,
        timing: Timing | None = None,
    ) -> Self:
        """Return a manager for a plugin that only knows the present, `scan() -> DeviceTree`.

        It is asked every `rescan_seconds` (0.1 to 86400), and at once when a request shows that
        our list is old. `source` may have the same further powers. Raises as a manager does.
        """
        manager = cls.__new__(cls)
        manager._use(  # noqa: SLF001 - another constructor of this class
            journal,
            timing or Timing(),
            origin="source",
            namespace=namespace,
            plugin_dir=plugin_dir,
            kubelet_root=kubelet_root,
            registration=registration,
            on_exit=on_exit,
            author=source,
            rescan_seconds=rescan_of(rescan_seconds),
            policy_of=same_for_all(allocation_policy),
        )
        return manager

    @classmethod
    def configured(
        cls,
        configuration: "Configuration",
        *,
        reread: "Callable[[], Configuration] | None" = None,
        journal: Journal | None = None,
        timing: Timing | None = None,
    ) -> Self:
        """Return a manager for what a configuration describes, found in sysfs.

        `reread` reads it again; with that, a change of its file is followed while it serves. It
        is called on a thread, and raises if what it reads cannot be used: the last one stays then.
        """
        from deviceplugin.app.parts import parts_of  # noqa: PLC0415 - it brings inotify along

        manager = cls.__new__(cls)
        parts = {**parts_of(configuration), "reread": reread}
        manager._use(journal, timing or Timing(), **parts)  # noqa: SLF001 - another constructor
        return manager

    def _use(self, journal: Journal | None, timing: Timing, **parts: object) -> None:
        from deviceplugin.app.container import Container  # noqa: PLC0415 - it brings the injector along

        ResourceName(str(parts["namespace"]), "any")
        parts["registration"] = choice_of(RegistrationMode, "registration", parts["registration"])
        parts["on_exit"] = choice_of(OnExit, "on_exit", parts["on_exit"])
        parts |= places_of(parts["plugin_dir"], parts["kubelet_root"])
        if (origin := parts["origin"]) != "sysfs":
            check_author(parts["author"], loops=origin == "scanner")
        self._container = Container(timing=timing, **parts)
        if journal is not None:
            self._container.journal.override(journal)  # pyright: ignore[reportUnknownMemberType]
        self._container.check_dependencies()
        self._container.places()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._plugin: RunPlugin | None = None
        self._stopped = False
        self._reread_first = False

    def check(self) -> None:
        """Raise `ServingError` if the directory for sockets is there, but none can be made in it.

        One that is not there yet may come with the kubelet: `run` waits for it. With "auto" either
        of the two directories will do.
        """
        if (fault := self._fault()) is not None and fault.errno != errno.ENOENT:
            raise fault

    def look(self) -> FrozenTree:
        """Return what one look at the hardware finds, for a manager with a source; serve nothing.

        Raises `ScanError`, and `InvalidValueError` for a manager around a scanner, which loops.
        """
        if self._container.origin() == "scanner":
            raise InvalidValueError("a scanner loops; look is for a manager made of a source")
        found = tree_of(self._container.source().scan())
        return found.freeze(self._container.namespace())

    def run(self) -> None:
        """Serve in an event loop of its own, until the scan returns or `stop` is called.

        An interrupt (KeyboardInterrupt) closes everything, then passes on.
        """
        loop = asyncio.new_event_loop()
        try:
            serving = loop.create_task(awake_to_signals(self.serve), name="deviceplugin")
            try:
                loop.run_until_complete(serving)
            finally:
                serving.cancel()
                while not serving.done():  # an interrupt leaves the loop once a task that it meets
                    with suppress(asyncio.CancelledError, KeyboardInterrupt, SystemExit):
                        loop.run_until_complete(serving)
                loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    async def serve(self) -> None:
        """Serve in the running loop, until the scan returns, `stop` is called, or cancelled.

        Raises `ServingError` if what should be the directory for sockets is something else.
        """
        if self._plugin is not None:
            raise InvalidValueError("a manager serves once; make another one")
        if (fault := self._fault()) is not None and fault.errno == errno.ENOTDIR:
            raise fault
        self._loop = asyncio.get_running_loop()
        self._plugin = self._container.run_plugin()
        if self._stopped:
            self._plugin.stop()
        if self._reread_first:
            self._container.watch().ask()
        await self._plugin()

    def reload(self, configuration: "Configuration | None" = None) -> None:
        """Go by this configuration from now on; left out, by what `reread` makes of it now.

        A resource whose rule is the same notices nothing. Any thread may call it, any time. How
        the log is set up is not touched. Raises `InvalidValueError` if two rules are about one
        resource, and for a manager that was not made by `configured`, or not with `reread`.
        """
        if self._container.configuration() is None:
            raise InvalidValueError("a plugin of your own goes by no configuration")
        if configuration is not None:
            from deviceplugin.app.use_cases.reload_configuration import rulebook  # noqa: PLC0415

            rulebook(configuration)
            self._in_loop(partial(self._go_by, configuration))
        elif self._container.reread() is None:
            raise InvalidValueError("`configured` was not told how to `reread` the configuration")
        elif self._plugin is None:
            self._reread_first = True
        else:
            self._in_loop(self._container.watch().ask)

    def stop(self) -> None:
        """Let `run` or `serve` end soon, in an orderly way. Any thread may call it, any time."""
        self._stopped = True
        if self._plugin is not None:
            self._in_loop(self._plugin.stop)

    def _fault(self) -> ServingError | None:
        """Return why there is no place for sockets now; None if one of them will do."""
        faults = [place.fault() for place in self._container.places().values()]
        return faults[0] if all(faults) else None

    def _go_by(self, configuration: "Configuration") -> None:
        reload = self._container.reload()
        if reload is not None:
            reload(configuration)

    def _in_loop(self, call: Callable[[], object]) -> None:
        if self._loop is None:
            call()
            return
        with suppress(RuntimeError):  # the loop is closed: there is nothing left to do it to
            self._loop.call_soon_threadsafe(call)
