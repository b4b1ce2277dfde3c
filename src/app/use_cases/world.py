"""What keeping a registration needs of the world."""

from collections.abc import Mapping
from typing import Final

import attrs

from deviceplugin.domain.ports.driven.clock import Chance, Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity, PluginDirectory
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.kubelet import Host, Registrar
from deviceplugin.domain.routes import Route
from deviceplugin.domain.timing import Timing

KUBELET_SOCKET: Final = "kubelet.sock"
"""The kubelet's own socket in the plugin directory."""


@attrs.frozen(kw_only=True)
class Way:
    """What one way to the kubelet is gone with: its directory, who serves there, who registers."""

    host: Host
    registrar: Registrar
    directory: PluginDirectory


@attrs.frozen(kw_only=True)
class World:
    """The ways that there are, and time, chance and journal."""

    ways: Mapping[Route, Way]
    clock: Clock
    chance: Chance
    timing: Timing
    journal: Journal

    @property
    def directories(self) -> Mapping[Route, PluginDirectory]:
        """Where each way's sockets are."""
        return {route: way.directory for route, way in self.ways.items()}

    def rouse(self) -> None:
        """Have whoever watches the kubelet look, and see how closely it is to be watched now."""
        for way in self.ways.values():
            way.directory.wake()


def sign_of(route: Route, directory: PluginDirectory) -> FileIdentity | None:
    """Return the file that tells one kubelet from another on this way; None if it is not there.

    Of plugins_registry the change time says nothing: each socket in it changes that.
    """
    if route is Route.REGISTER:
        return directory.identity(KUBELET_SOCKET)
    itself = directory.identity(".")
    return None if itself is None else attrs.evolve(itself, changed_ns=0)
