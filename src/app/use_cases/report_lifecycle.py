"""Tell the journal what a registration goes through, once a change."""

import attrs

from deviceplugin.domain.events import (
    RegistrationFailed,
    RegistrationFailedAgain,
    RegistrationLost,
    ResourceRegistered,
    ResourceStopped,
    ServingFailed,
    ServingFailedAgain,
)
from deviceplugin.domain.phases import Phase, Signal
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.resources import ResourceName

_UP = frozenset({Phase.LISTED, Phase.STEADY})


@attrs.define
class ReportLifecycle:
    """Turns transitions and failures of one resource into events."""

    resource: ResourceName
    journal: Journal
    _last_reason: str = attrs.field(default="", init=False)

    def moved(self, before: Phase, signal: Signal, after: Phase, endpoint: str) -> None:
        """Record what a transition means to a reader of the journal, if anything."""
        if after in _UP and before not in _UP:
            self._last_reason = ""
            self.journal.record(ResourceRegistered(resource=self.resource, endpoint=endpoint))
        elif before in _UP and after not in _UP and signal is not Signal.STOP:
            self.journal.record(
                RegistrationLost(resource=self.resource, endpoint=endpoint, reason=signal.value)
            )
        elif after is Phase.STOPPED:
            self.journal.record(ResourceStopped(resource=self.resource))

    def registration_failed(self, endpoint: str, reason: str, failures: int) -> None:
        """Record a failed Register; the same reason again only counts."""
        event = RegistrationFailedAgain if self._is_known(reason, endpoint) else RegistrationFailed
        self.journal.record(
            event(resource=self.resource, endpoint=endpoint, reason=reason, failures=failures)
        )

    def serving_failed(self, reason: str, failures: int) -> None:
        """Record a server that could not start; the same reason again only counts."""
        event = ServingFailedAgain if self._is_known(reason) else ServingFailed
        self.journal.record(event(resource=self.resource, reason=reason, failures=failures))

    def _is_known(self, reason: str, endpoint: str = "") -> bool:
        """Compare reasons without the socket's name, which is new each time."""
        general = reason.replace(endpoint, "*") if endpoint else reason
        known, self._last_reason = general == self._last_reason, general
        return known
