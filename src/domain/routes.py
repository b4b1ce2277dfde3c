"""The two ways to a kubelet, and which one is taken when.

- `REGISTER`: we call Register on kubelet.sock in the plugin directory. It is the fast one, and
  all kubelets know it.
- `WATCHER`: our sockets are in plugins_registry below the kubelet's root, and the kubelet, which
  looks there once a second, finds us and asks who we are.

A resource takes one at a time. `RouteChoice` decides for a whole plugin, out of what each look
at the files sees; it never looks or waits itself.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final

import attrs

from deviceplugin.domain.lifecycle import UNDECIDED, UNHEARD
from deviceplugin.domain.phases import Phase, Signal, Word
from deviceplugin.domain.ports.driven.directory import FileIdentity


class Route(Word):
    """A way to the kubelet."""

    REGISTER = "Register on kubelet.sock"
    WATCHER = "found in plugins_registry"


class RegistrationMode(Enum):
    """What a person wants: one way, or whichever works."""

    REGISTER = "register"
    WATCHER = "watcher"
    AUTO = "auto"


@attrs.frozen
class Kubelet:
    """A kubelet as it is met: by which way, and the file that tells it from another one.

    That file is kubelet.sock, or the directory plugins_registry.
    """

    route: Route
    identity: FileIdentity


@attrs.frozen(kw_only=True)
class Sight:
    """What one look saw: the file of each way, if it is there, and where the resources stand."""

    now: float
    socket: FileIdentity | None = None
    registry: FileIdentity | None = None
    phases: tuple[Phase, ...] = ()

    def of(self, route: Route) -> Kubelet | None:
        """Return the kubelet that this way leads to."""
        identity = self.socket if route is Route.REGISTER else self.registry
        return None if identity is None else Kubelet(route, identity)


_FIXED: Final = {
    RegistrationMode.REGISTER: Route.REGISTER,
    RegistrationMode.WATCHER: Route.WATCHER,
}


@attrs.frozen(kw_only=True)
class RouteChoice:
    """Which kubelet is to be met now, and what there is to remember for the next look.

    `auto` begins with Register. It turns to plugins_registry, if that is there, once no Register
    could be sent for `patience` seconds: kubelet.sock is missing, nobody accepts on it, or the
    system refuses us the directory or the socket. It comes back as soon as kubelet.sock is another
    file: a kubelet has started. But not to a directory that was refused, as long as those who are
    found do well: the permission is the directory's, whichever kubelet listens in it.
    """

    wanted: RegistrationMode
    patience: float
    kubelet: Kubelet | None = None
    unheard_since: float | None = None
    given_up: bool = False
    """Whether `auto` has turned away from the kubelet.sock that was last seen."""
    barred: bool = False
    """Whether the system refused us the directory while no Register could be sent."""
    tempting: FileIdentity | None = None
    """The kubelet.sock that was last seen, whether or not anybody was told of it."""
    tempted_since: float | None = None
    """Since when it has been there, and nobody has been heard."""
    last_socket: FileIdentity | None = None

    def look(self, sight: Sight) -> "RouteChoice":
        """Return the choice after a look; itself where nothing has changed."""
        route = _FIXED.get(self.wanted)
        if route is not None:
            return attrs.evolve(self, kubelet=sight.of(route))
        another = sight.socket is not None and sight.socket != self.last_socket
        if another and not self._stays(sight):
            return attrs.evolve(
                self,
                kubelet=sight.of(Route.REGISTER),
                unheard_since=None,
                given_up=False,
                barred=False,
                last_socket=sight.socket,
            )
        since = self._unheard_since(sight)
        given_up = self.given_up or (since is not None and sight.now - since >= self.patience)
        turned = given_up and sight.registry is not None
        return attrs.evolve(
            self,
            kubelet=sight.of(Route.WATCHER if turned else Route.REGISTER),
            unheard_since=since,
            given_up=given_up and turned,
            barred=turned and self.barred if self.given_up else self._barred(since, sight),
            tempting=sight.socket,
            tempted_since=self._tempted_since(sight),
        )

    def _stays(self, sight: Sight) -> bool:
        """Say whether another kubelet.sock is no reason to come back.

        It is in the directory that the system refuses us, and whoever is to be found has been, or
        may yet be.
        """
        barred = self.given_up and self.barred and sight.registry is not None
        return barred and sight.now - self._tempted_since(sight) < self.patience

    def _tempted_since(self, sight: Sight) -> float:
        found = (UNHEARD | UNDECIDED).isdisjoint(sight.phases)
        since = None if found or sight.socket != self.tempting else self.tempted_since
        return sight.now if since is None else since

    def _barred(self, since: float | None, sight: Sight) -> bool:
        return since is not None and (self.barred or Phase.BARRED in sight.phases)

    def _unheard_since(self, sight: Sight) -> float | None:
        """Return since when no Register could be sent; None if one was heard, or nobody tried."""
        if sight.socket is None or not UNHEARD.isdisjoint(sight.phases):
            return sight.now if self.unheard_since is None else self.unheard_since
        return self.unheard_since if _is_undecided(sight.phases) else None

    def signal_after(self, before: "RouteChoice") -> Signal | None:
        """Return what a resource is to be told after the choice was `before`; None if nothing."""
        if self.kubelet == before.kubelet:
            return None
        if self.kubelet is None:
            return Signal.KUBELET_VANISHED
        turned = self.given_up and not before.given_up
        return Signal.KUBELET_ELSEWHERE if turned else Signal.KUBELET_APPEARED


def _is_undecided(phases: Iterable[Phase]) -> bool:
    return not UNDECIDED.isdisjoint(phases)
