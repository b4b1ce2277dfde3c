"""Notice that the kubelet restarted, or that somebody took our sockets away."""

from typing import Protocol

from deviceplugin.app.use_cases.keep_registered import KUBELET_SOCKET
from deviceplugin.domain.events import (
    KubeletAppeared,
    KubeletAwaited,
    KubeletMissing,
    KubeletVanished,
)
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.directory import FileIdentity, PluginDirectory
from deviceplugin.domain.ports.driven.journal import Journal

POLL_SECONDS = 1.0
"""How often we look although nothing told us to, so that a missed event cannot strand us."""
MISSING_SECONDS = 60.0
"""After how long without kubelet.sock a person is told that the directory may be the wrong one."""


_NO_SOCKET = "there is no kubelet.sock in it yet"
_NO_DIRECTORY = "no such directory yet; is the kubelet's directory mounted here?"


class Follower(Protocol):
    """Who is told."""

    def kubelet_appeared(self, identity: FileIdentity) -> None:
        """Take note that kubelet.sock is now this file."""
        ...

    def kubelet_vanished(self) -> None:
        """Take note that kubelet.sock is gone."""
        ...

    def check_socket(self) -> None:
        """Look after your own socket."""
        ...


class WatchKubelet:
    """Looks at the directory when it hints at a change, and at least each second.

    A kubelet is known by its socket file's identity, not by the file's being there: a dead one
    leaves the file behind, and two restarts may look like one.
    """

    def __init__(self, directory: PluginDirectory, clock: Clock, journal: Journal) -> None:
        """Look at nothing yet."""
        self._directory = directory
        self._clock = clock
        self._journal = journal
        self._followers: list[Follower] = []
        self._known: FileIdentity | None = None
        self._missing_since: float | None = None

    def follow(self, follower: Follower) -> None:
        """Tell `follower` of the kubelet there is, and of each change from now on."""
        self._followers.append(follower)
        if self._known is not None:
            follower.kubelet_appeared(self._known)

    def unfollow(self, follower: Follower) -> None:
        """Tell `follower` nothing more."""
        self._followers.remove(follower)

    async def run(self) -> None:
        """Watch until cancelled."""
        self._await_kubelet()
        while True:
            self._look()
            await self._directory.changed(POLL_SECONDS)

    def _look(self) -> None:
        """Look at kubelet.sock first: when both are gone, the kubelet is what matters."""
        identity = self._directory.identity(KUBELET_SOCKET)
        if identity != self._known:
            self._known = identity
            self._tell(identity)
        elif identity is None:
            self._complain()
        for follower in self._followers:
            follower.check_socket()

    def _tell(self, identity: FileIdentity | None) -> None:
        path = self._directory.path
        if identity is None:
            self._journal.record(KubeletVanished(directory=path))
            self._missing_since = self._clock.now()
            for follower in self._followers:
                follower.kubelet_vanished()
        else:
            self._journal.record(KubeletAppeared(directory=path))
            self._missing_since = None
            for follower in self._followers:
                follower.kubelet_appeared(identity)

    def _await_kubelet(self) -> None:
        if self._directory.identity(KUBELET_SOCKET) is None:
            self._missing_since = self._clock.now()
            reason = _NO_SOCKET if self._directory.identity(".") else _NO_DIRECTORY
            self._journal.record(KubeletAwaited(directory=self._directory.path, reason=reason))

    def _complain(self) -> None:
        """Warn once for each time the kubelet is gone."""
        if self._missing_since is None:
            return
        seconds = self._clock.now() - self._missing_since
        if seconds >= MISSING_SECONDS:
            self._missing_since = None
            self._journal.record(KubeletMissing(directory=self._directory.path, seconds=seconds))
