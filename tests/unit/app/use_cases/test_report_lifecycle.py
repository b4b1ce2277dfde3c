"""The journal tells what a registration goes through: once a change, however many tries."""

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.use_cases.report_lifecycle import ReportLifecycle
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
from deviceplugin.domain.resources import ResourceName

WIDGET = ResourceName("example.com", "widget")


class Reported:
    """A report and the journal it writes to."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.report = ReportLifecycle(WIDGET, self.journal)

    def kinds(self) -> list[str]:
        """Return the kinds of all events so far."""
        return [type(event).__name__ for event in self.journal.events]


def test_a_resource_is_registered_when_its_stream_is_open_not_before() -> None:
    it = Reported()
    it.report.moved(Phase.REGISTERING, Signal.ACCEPTED, Phase.REGISTERED, "a.sock")
    assert not it.journal.events
    it.report.moved(Phase.REGISTERED, Signal.STREAM_OPENED, Phase.LISTED, "a.sock")
    it.report.moved(Phase.LISTED, Signal.TIMER, Phase.STEADY, "a.sock")
    assert it.journal.events == (ResourceRegistered(resource=WIDGET, endpoint="a.sock"),)


def test_a_lost_registration_is_told_with_its_reason_unless_we_end_it_ourselves() -> None:
    it = Reported()
    it.report.moved(Phase.STEADY, Signal.STREAM_ENDED, Phase.RENEWING, "a.sock")
    assert it.journal.events == (
        RegistrationLost(
            resource=WIDGET, endpoint="a.sock", reason="the ListAndWatch stream ended"
        ),
    )
    it.report.moved(Phase.STEADY, Signal.STOP, Phase.STOPPING, "b.sock")
    assert len(it.journal.events) == 1


def test_the_end_is_told_once() -> None:
    it = Reported()
    it.report.moved(Phase.STEADY, Signal.STOP, Phase.STOPPING, "a.sock")
    it.report.moved(Phase.STOPPING, Signal.CLOSED, Phase.STOPPED, "")
    assert it.journal.events == (ResourceStopped(resource=WIDGET),)


def test_a_failure_for_the_same_reason_only_counts_though_its_socket_has_a_new_name() -> None:
    it = Reported()
    for number in (1, 2, 3):
        endpoint = f"dp-{number}.sock"
        it.report.registration_failed(endpoint, f"failed to dial /plugins/{endpoint}", number)
    assert it.kinds() == ["RegistrationFailed", *["RegistrationFailedAgain"] * 2]
    assert [event.failures for event in it.journal.of(RegistrationFailed)] == [1, 2, 3]
    assert it.journal.of(RegistrationFailedAgain)[-1].reason == "failed to dial /plugins/dp-3.sock"


def test_another_reason_is_a_change() -> None:
    it = Reported()
    it.report.registration_failed("a.sock", "refused", 1)
    it.report.serving_failed("the disk is full", 2)
    it.report.serving_failed("the disk is full", 3)
    it.report.registration_failed("a.sock", "refused", 4)
    assert it.kinds() == [
        "RegistrationFailed",
        "ServingFailed",
        "ServingFailedAgain",
        "RegistrationFailed",
    ]
    assert it.journal.of(ServingFailedAgain)[0].failures == 3
    assert it.journal.of(ServingFailed)[0].level == "warning"


def test_after_a_registration_the_same_reason_is_a_change_again() -> None:
    it = Reported()
    it.report.registration_failed("a.sock", "refused", 1)
    it.report.moved(Phase.REGISTERED, Signal.STREAM_OPENED, Phase.LISTED, "b.sock")
    it.report.registration_failed("c.sock", "refused", 1)
    assert it.kinds() == ["RegistrationFailed", "ResourceRegistered", "RegistrationFailed"]
