"""The front of the framework: give it a scanner, and pods can ask for what it finds."""

import asyncio
import errno
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from deviceplugin.domain.errors import InvalidValueError, ServingError
from deviceplugin.domain.ports.driven.device_source import DeviceSource
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import Scanner
from deviceplugin.domain.preference import POLICIES, Policy
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.timing import Timing
from deviceplugin.domain.tree import FrozenTree

if TYPE_CHECKING:
    from deviceplugin.app.settings import Configuration
    from deviceplugin.app.use_cases.run_plugin import RunPlugin

PLUGIN_DIRECTORY: Final = "/var/lib/kubelet/device-plugins"
"""Where each kubelet has its device plugin socket; it doesn't follow the kubelet's --root-dir."""
USUAL_NAME: Final = "device-plugins"
"""The plugin directory's name below a kubelet's root."""


class Manager:
    """Serves what `plugin.scan` finds: a resource `namespace/type` for each type.

    `plugin` may have further powers, each a small protocol: `Allocator`, `PostAllocator`,
    `PreferredAllocator`, `ContainerPreStarter`. A manager serves once. It installs no signal
    handlers and never exits the process.

    `kubelet_root` is the kubelet's --root-dir. If left out, it is the parent of a plugin directory
    of the usual name `device-plugins`, else that directory itself.

    Raises `InvalidResourceNameError` for the namespace, `InvalidValueError` for the policy, and
    `ServingError` for a directory in which no socket could ever be.
    """

    def __init__(  # noqa: PLR0913 - options go by name
        self,
        namespace: str,
        plugin: Scanner,
        *,
        plugin_dir: str = PLUGIN_DIRECTORY,
        kubelet_root: str | None = None,
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
            author=plugin,
            policy_of=_same_for_all(allocation_policy),
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
        allocation_policy: str = "none",
        journal: Journal | None = None,
        timing: Timing | None = None,
    ) -> Self:
        """Return a manager for a plugin that only knows the present, `scan() -> DeviceTree`.

        It is asked every `rescan_seconds`, and at once when a request shows that our list is old.
        `source` may have the same further powers.
        """
        manager = cls.__new__(cls)
        manager._use(  # noqa: SLF001 - another constructor of this class
            journal,
            timing or Timing(),
            origin="source",
            namespace=namespace,
            plugin_dir=plugin_dir,
            kubelet_root=kubelet_root,
            author=source,
            rescan_seconds=float(rescan_seconds),
            policy_of=_same_for_all(allocation_policy),
        )
        return manager

    @classmethod
    def configured(
        cls,
        configuration: "Configuration",
        *,
        journal: Journal | None = None,
        timing: Timing | None = None,
    ) -> Self:
        """Return a manager for what a configuration describes, found in sysfs."""
        manager = cls.__new__(cls)
        parts = parts_of(configuration)
        manager._use(journal, timing or Timing(), **parts)  # noqa: SLF001 - another constructor
        return manager

    def _use(self, journal: Journal | None, timing: Timing, **parts: object) -> None:
        from deviceplugin.app.container import Container  # noqa: PLC0415 - it brings the injector along

        ResourceName(str(parts["namespace"]), "any")
        # Once for all, in case the process changes its directory.
        plugin_dir = Path(str(parts["plugin_dir"])).absolute()
        beside = plugin_dir.parent if plugin_dir.name == USUAL_NAME else plugin_dir
        root = Path(str(parts.get("kubelet_root") or beside)).absolute()
        parts |= {"plugin_dir": str(plugin_dir), "kubelet_root": str(root)}
        self._container = Container(timing=timing, **parts)
        if journal is not None:
            self._container.journal.override(journal)  # pyright: ignore[reportUnknownMemberType]
        self._container.check_dependencies()
        self._container.sockets()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._plugin: RunPlugin | None = None
        self._stopped = False

    def check(self) -> None:
        """Raise `ServingError` if the plugin directory is there, but no socket can be made in it.

        One that is not there yet may come with the kubelet: `run` waits for it.
        """
        try:
            self._container.sockets().check()
        except ServingError as error:
            if error.errno != errno.ENOENT:
                raise

    def look(self) -> FrozenTree:
        """Return what one look at the hardware finds, for a manager with a source; serve nothing.

        Raises `ScanError`, and `InvalidValueError` for a manager around a scanner, which loops.
        """
        if self._container.origin() == "scanner":
            raise InvalidValueError("a scanner loops; look is for a manager made of a source")
        return self._container.source().scan().freeze(self._container.namespace())

    def run(self) -> None:
        """Serve in an event loop of its own, until the scan returns or `stop` is called.

        An interrupt (KeyboardInterrupt) closes everything, then passes on.
        """
        loop = asyncio.new_event_loop()
        try:
            serving = loop.create_task(self.serve(), name="deviceplugin")
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
        """Serve in the running loop, until the scan returns, `stop` is called, or cancelled."""
        if self._plugin is not None:
            raise InvalidValueError("a manager serves once; make another one")
        self._loop = asyncio.get_running_loop()
        self._plugin = self._container.run_plugin()
        if self._stopped:
            self._plugin.stop()
        await self._plugin()

    def stop(self) -> None:
        """Let `run` or `serve` end soon, in an orderly way. Any thread may call it, any time."""
        self._stopped = True
        if self._loop is not None and self._plugin is not None:
            with suppress(RuntimeError):  # the loop is closed: there is nothing left to stop
                self._loop.call_soon_threadsafe(self._plugin.stop)


def parts_of(configuration: "Configuration") -> Mapping[str, Any]:
    """Return the parts of a container for what a configuration describes, found in sysfs."""
    settings = configuration.settings
    policies = {rule.resource: POLICIES[rule.allocation_policy] for rule in configuration.rules}
    return {
        "origin": "sysfs",
        "namespace": settings.domain,
        "plugin_dir": settings.plugin_dir,
        "kubelet_root": settings.kubelet_root,
        "author": None,
        "rules": configuration.rules,
        "sys_root": settings.sys_root,
        "dev_root": settings.dev_root,
        "proc_root": settings.proc_root,
        "on_conflict": settings.on_conflict,
        "rescan_seconds": settings.rescan_seconds,
        "policy_of": policies.get,
    }


def _same_for_all(policy: str) -> Callable[[ResourceName], Policy | None]:
    if policy not in POLICIES:
        raise InvalidValueError(
            f"allocation policy {policy!r}: must be one of {', '.join(POLICIES)}"
        )
    return lambda _: POLICIES[policy]
