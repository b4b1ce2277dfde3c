"""Notice that the kubelet restarted, or that somebody took our sockets away."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol

import attrs

from deviceplugin.app.use_cases.world import sign_of
from deviceplugin.domain.events import (
    KubeletAppeared,
    KubeletAwaited,
    KubeletMissing,
    KubeletVanished,
    RegisterBlocked,
)
from deviceplugin.domain.phases import Phase, Signal
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import Arrivals, FileIdentity, PluginDirectory
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.routes import Kubelet, RegistrationMode, Route, RouteChoice, Sight
from deviceplugin.domain.timing import Timing, until_next

MISSING_SECONDS: Final = 60.0
"""After how long without a kubelet a person is told that the directory may be the wrong one."""
STILL_LOOKS: Final = 2
"""So many looks must have been left out before we count as having stood still."""

_NOT_YET: Final[Mapping[tuple[Route, bool], str]] = {
    (Route.REGISTER, True): "there is no kubelet.sock in it yet",
    (Route.REGISTER, False): "no such directory yet; is the kubelet's directory mounted here?",
    (Route.WATCHER, False): "no such directory yet; is the kubelet's root, kubelet_root "
    "(--kubelet-root), mounted here?",
}


class Follower(Protocol):
    """Who is told."""

    @property
    def phase(self) -> Phase:
        """Where the resource stands."""
        ...

    def kubelet_moved(self, signal: Signal, kubelet: Kubelet | None) -> None:
        """Take note that the kubelet is now to be met here, or that it has vanished."""
        ...

    @property
    def at_rest(self) -> bool:
        """Whether all is well; who leaves that wakes the directory that is watched."""
        ...

    def check_socket(self, arrivals: Arrivals) -> None:
        """Look after your own socket, and for those of other instances that came."""
        ...


class WatchKubelet:
    """Looks at the files of each way when the directory hints at a change, and regularly.

    Each second, so that no event that is missed can strand us; but seldom as long as all is well
    and every change is heard.

    A kubelet is known by its socket file's identity, not by the file's being there: a dead one
    leaves the file behind, and two restarts may look like one. `auto` watches the plugin directory
    and looks at plugins_registry besides.
    """

    def __init__(
        self,
        directories: Mapping[Route, PluginDirectory],
        clock: Clock,
        journal: Journal,
        *,
        mode: RegistrationMode = RegistrationMode.REGISTER,
        timing: Timing | None = None,
    ) -> None:
        """Look at nothing yet; `directories` are those of the ways that `mode` may take."""
        self._directories = directories
        self._route = Route.WATCHER if mode is RegistrationMode.WATCHER else Route.REGISTER
        self._watched = directories[self._route]
        self._clock = clock
        self._journal = journal
        self._followers: list[Follower] = []
        timing = timing or Timing()
        self._choice = RouteChoice(wanted=mode, patience=timing.patience)
        self._rhythm = timing.rhythm
        self._prepare: Callable[[], Awaitable[None]] | None = None
        self._missing_since: float | None = None
        self._looked = clock.now()
        self._deaf = False

    def prepare_by(self, prepare: Callable[[], Awaitable[None]]) -> None:
        """Wait for this, from now on, before anybody is told of another kubelet."""
        self._prepare = prepare

    def follow(self, follower: Follower) -> None:
        """Tell `follower` of the kubelet there is, and of each change from now on."""
        self._followers.append(follower)
        if self._choice.kubelet is not None:
            follower.kubelet_moved(Signal.KUBELET_APPEARED, self._choice.kubelet)
        self._watched.wake()

    def unfollow(self, follower: Follower) -> None:
        """Tell `follower` nothing more."""
        self._followers.remove(follower)

    async def run(self) -> None:
        """Watch until cancelled."""
        self._await_kubelet()
        while True:
            choice = self._choice.look(self._sight())
            if self._prepare is not None and choice.kubelet not in (None, self._choice.kubelet):
                await self._prepare()
                choice = self._choice.look(self._sight())
            self._look(choice)
            await self._watched.changed(self._patience())

    def _patience(self) -> float:
        if self._is_at_rest():
            return until_next(self._rhythm.resting, self._clock.now())
        return self._rhythm.restless

    def _is_at_rest(self) -> bool:
        """Say whether all are well, with their sockets where changes are heard."""
        kubelet = self._choice.kubelet
        return (
            self._watched.heard
            and (kubelet is None or kubelet.route is self._route)
            and all(follower.at_rest for follower in self._followers)
        )

    def _look(self, choice: RouteChoice) -> None:
        """Look for the kubelet first: when our sockets are gone too, it is what matters."""
        arrivals = self._arrivals()
        before, self._choice = self._choice, choice
        signal = self._choice.signal_after(before)
        if signal is not None:
            self._record(signal)
            for follower in self._followers:
                follower.kubelet_moved(signal, self._choice.kubelet)
        elif self._choice.kubelet is None:
            self._complain()
        for follower in self._followers:
            follower.check_socket(arrivals)

    def _arrivals(self) -> Arrivals:
        """Return which sockets came; where none is heard, one may have come while we stood still.

        A process may: it is stopped, or throttled.
        """
        before, self._looked = self._looked, self._clock.now()
        stood_still = self._looked - before > STILL_LOOKS * self._rhythm.restless
        arrivals = self._watched.arrivals()
        deaf, self._deaf = self._deaf, not self._watched.heard
        return attrs.evolve(arrivals, missed=True) if deaf and stood_still else arrivals

    def _sight(self) -> Sight:
        return Sight(
            now=self._clock.now(),
            socket=self._sign(Route.REGISTER),
            registry=self._sign(Route.WATCHER),
            phases=tuple(follower.phase for follower in self._followers),
        )

    def _sign(self, route: Route) -> FileIdentity | None:
        directory = self._directories.get(route)
        return None if directory is None else sign_of(route, directory)

    def _record(self, signal: Signal) -> None:
        kubelet = self._choice.kubelet
        if kubelet is None:
            self._missing_since = self._clock.now()
            self._journal.record(KubeletVanished(directory=self._watched.path))
            return
        self._missing_since = None
        directory = self._directories[kubelet.route].path
        if signal is Signal.KUBELET_ELSEWHERE:
            self._journal.record(
                RegisterBlocked(
                    directory=self._watched.path,
                    registry=directory,
                    seconds=self._choice.patience,
                )
            )
        else:
            self._journal.record(KubeletAppeared(directory=directory))

    def _await_kubelet(self) -> None:
        if self._sign(self._route) is None:
            self._missing_since = self._clock.now()
            reason = _NOT_YET[self._route, self._watched.identity(".") is not None]
            self._journal.record(KubeletAwaited(directory=self._watched.path, reason=reason))

    def _complain(self) -> None:
        """Warn once for each time the kubelet is gone."""
        if self._missing_since is None:
            return
        seconds = self._clock.now() - self._missing_since
        if seconds >= MISSING_SECONDS:
            self._missing_since = None
            self._journal.record(KubeletMissing(directory=self._watched.path, seconds=seconds))
