"""The plugin manager: who puts a socket into plugins_registry is found and registered."""

import threading
from functools import partial
from pathlib import Path
from typing import Final

import attrs

from deviceplugin.adapters.kubelet.wire import pluginregistration_pb2 as pb
from deviceplugin.testing.kubelet.connector import VERSION, Connector
from deviceplugin.testing.kubelet.directory import REGISTRY
from deviceplugin.testing.kubelet.errors import RefusedError, UnwelcomeError
from deviceplugin.testing.kubelet.history import Deregistered, History, Unserved
from deviceplugin.testing.kubelet.introduction import PREFIX, Introduction
from deviceplugin.testing.kubelet.limits import Limits
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.names import is_extended_resource
from deviceplugin.testing.kubelet.operations import Operations
from deviceplugin.testing.kubelet.profile import Profile
from deviceplugin.testing.kubelet.registry_files import RegistryFiles
from deviceplugin.testing.kubelet.streams import Streams

_TYPE: Final = "DevicePlugin"
"""The one type of plugin that the fake has a handler for."""


@attrs.frozen(kw_only=True)
class _Plugin:
    """A plugin that is registered; its key in the device manager is resource and path."""

    mark: object
    resource: str
    path: str


class Registry:
    """Looks again and again whether what is registered is what is there (reconciler).

    It never removes a file, and a plugin whose stream has ended counts as registered until its
    socket is another one.
    """

    def __init__(  # noqa: PLR0913 - the parts of one kubelet life
        self,
        *,
        directory: Path,
        profile: Profile,
        limits: Limits,
        history: History,
        manager: DeviceManager,
        connector: Connector,
        streams: Streams,
    ) -> None:
        """Look at nothing yet."""
        self._directory = directory
        self._profile = profile
        self._limits = limits
        self._history = history
        self._manager = manager
        self._connector = connector
        self._streams = streams
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._registered: dict[str, _Plugin] = {}
        self._operations = Operations(limits)
        self._talks: set[Introduction] = set()
        self._looking: threading.Thread | None = None

    def start(self) -> None:
        """Watch the directory, look for the first time, and from then on until the end."""
        try:
            files = RegistryFiles(self._directory)
        except OSError as problem:
            self._history.add(Unserved(part=REGISTRY, reason=str(problem)))
            return
        self._looking = threading.Thread(
            target=self._look, args=(files,), name="fake-kubelet-registry", daemon=True
        )
        self._looking.start()

    def stop(self) -> None:
        """Begin nothing any more, and end all talks."""
        self._operations.stop()
        with self._lock:
            self._over.set()
            talks = tuple(self._talks)
        for talk in talks:
            talk.close()

    def join(self) -> None:
        """Wait for the threads; the connections to plugins must be closed already."""
        if self._looking is not None:
            self._looking.join()
        self._operations.join()

    def _look(self, files: RegistryFiles) -> None:
        try:
            self._reconcile(files.marks)
            while not self._over.wait(self._limits.registry_look):
                files.follow()
                self._reconcile(files.marks)
        finally:
            files.close()

    def _reconcile(self, marks: dict[str, object]) -> None:
        with self._lock:
            registered = dict(self._registered)
        for socket, plugin in registered.items():
            if marks.get(socket) is not plugin.mark:
                self._operations.begin(socket, partial(self._deregister, socket, plugin))
        for socket, mark in marks.items():
            known = registered.get(socket)
            if known is None or known.mark is not mark:
                self._operations.begin(socket, partial(self._register, socket, mark))

    # --- operations, each on a thread ---

    def _register(self, socket: str, mark: object) -> None:
        with self._talk(socket) as talk:
            info = talk.ask()
            problem = _fault(info, socket)
            if problem:
                talk.tell(problem)
                raise UnwelcomeError(problem)
            path = info.endpoint or socket
            plugin = _Plugin(mark=mark, resource=info.name, path=path)
            with self._lock:
                self._registered[socket] = plugin
            self._connect(socket, plugin, talk)

    def _connect(self, socket: str, plugin: _Plugin, talk: Introduction) -> None:
        retries = self._profile.retries_failed_plugins
        try:
            link = self._connector.adopt(plugin.resource, plugin.path)
        except RefusedError as problem:
            if retries:
                self._forget(socket)
            talk.tell(f"{PREFIX} plugin registration failed with err: {problem}")
            raise
        self._streams.open(link)
        try:
            talk.tell()
        except UnwelcomeError:
            if retries:
                self._deregister(socket, plugin)
            raise

    def _deregister(self, socket: str, plugin: _Plugin) -> None:
        self._forget(socket)
        self._history.add(Deregistered(socket=socket))
        victim = self._manager.disconnect(plugin)
        if victim is not None:
            victim.close()

    def _forget(self, socket: str) -> None:
        with self._lock:
            self._registered.pop(socket, None)

    def _talk(self, socket: str) -> Introduction:
        talk = Introduction(socket, self._limits, self._history)
        with self._lock:
            self._talks = {each for each in self._talks if not each.closed} | {talk}
        if self._over.is_set():
            talk.close()
        return talk


def _fault(info: pb.PluginInfo, socket: str) -> str:
    """Return what is wrong with what a plugin says of itself; nothing if all is well."""
    if info.type != _TYPE:
        return f"{PREFIX} no handler registered for plugin type: {info.type} at socket {socket}"
    failed = f"{PREFIX} plugin validation failed with err:"
    if VERSION not in info.supported_versions:
        versions = " ".join(info.supported_versions)
        return (
            f"{failed} manager version, {VERSION}, is not among plugin supported versions "
            f"[{versions}]"
        )
    if not is_extended_resource(info.name):
        return (
            f"{failed} invalid name of device plugin socket: "
            f'the ResourceName "{info.name}" is invalid'
        )
    return ""
