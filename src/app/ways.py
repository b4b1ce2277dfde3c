"""The ways to a kubelet, as a person wants them, out of adapters."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from deviceplugin.adapters.inotify import InotifyDirectory
from deviceplugin.adapters.kubelet.host import GrpcHost
from deviceplugin.adapters.kubelet.registrar import GrpcRegistrar
from deviceplugin.adapters.kubelet.registry import PluginsRegistry
from deviceplugin.adapters.kubelet.sockets import SocketDirectory
from deviceplugin.app.use_cases.world import Way
from deviceplugin.domain.errors import ServingError
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import PluginDirectory
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.routes import RegistrationMode, Route


def places_of(
    registration: RegistrationMode,
    sockets: Callable[[], SocketDirectory],
    registry: Callable[[], SocketDirectory],
) -> Mapping[Route, SocketDirectory]:
    """Return where sockets may be made, the first choice first.

    `auto` does without a plugins_registry that could never have a socket in it.
    """
    if registration is RegistrationMode.WATCHER:
        return {Route.WATCHER: registry()}
    places = {Route.REGISTER: sockets()}
    if registration is RegistrationMode.AUTO:
        with suppress(ServingError):
            places[Route.WATCHER] = registry()
    return places


def beside(sockets: Callable[[], SocketDirectory]) -> Sequence[SocketDirectory]:
    """Return where other instances may serve on the other way; nowhere if nobody ever can."""
    with suppress(ServingError):
        return (sockets(),)
    return ()


def register_of(
    sockets: SocketDirectory,
    registry: Callable[[], SocketDirectory],
    *,
    directory: PluginDirectory,
    journal: Journal,
) -> Way:
    """Return the way on which we call the kubelet."""
    return Way(
        host=GrpcHost(sockets, journal, beside(registry)),
        registrar=GrpcRegistrar(sockets),
        directory=directory,
    )


def watcher_of(
    sockets: SocketDirectory,
    plugins: Callable[[], SocketDirectory],
    registration: RegistrationMode,
    *,
    clock: Clock,
    journal: Journal,
) -> Way:
    """Return the way on which the kubelet finds us; `auto` only looks whether it is there."""
    others = beside(plugins)
    registry = PluginsRegistry(sockets, journal, others)
    directory = InotifyDirectory(
        sockets.path,
        clock=clock,
        journal=journal,
        listening=registration is RegistrationMode.WATCHER,
        beside=[each.path for each in others],
    )
    return Way(host=registry, registrar=registry, directory=directory)


def ways_of(
    places: Mapping[Route, SocketDirectory], **ways: Callable[[], Way]
) -> Mapping[Route, Way]:
    """Make the ways that lead to these places."""
    return {route: ways[route.name.lower()]() for route in places}
