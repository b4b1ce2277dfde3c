"""Records: who is asked, what they carry, how they are shown."""

import io
import itertools
import json
import logging
import sys

import pytest

from deviceplugin.adapters.logs import JsonFormatter, LoggingJournal, TextFormatter
from deviceplugin.domain.events import (
    DevicesAllocated,
    KubeletAppeared,
    KubeletMissing,
    ScanFailed,
)
from deviceplugin.domain.resources import ResourceName

ALLOCATED = DevicesAllocated(resource=ResourceName.parse("example.com/widget"), devices=("a", "b"))
MOMENT = 1782907200.5
NUMBERS = itertools.count()


def shown(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    """Return what a handler would write."""
    record.created = MOMENT
    return formatter.format(record)


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Return what everything logged comes into."""
    caplog.set_level(logging.DEBUG)
    return caplog


def lonely(level: int = logging.INFO) -> logging.Logger:
    """Return a logger that nobody set up."""
    logger = logging.getLogger(f"lonely {next(NUMBERS)}")
    logger.setLevel(level)
    logger.propagate = False
    return logger


def test_the_level_is_the_events(log: pytest.LogCaptureFixture) -> None:
    """Anybody can filter on it, with the logger's well-known name."""
    for event in (
        ALLOCATED,
        KubeletAppeared(directory="/p"),
        KubeletMissing(directory="/p", seconds=1),
    ):
        LoggingJournal().record(event)
    assert [each.levelno for each in log.records] == [logging.DEBUG, logging.INFO, logging.WARNING]
    assert {each.name for each in log.records} == {"deviceplugin"}


def test_a_record_carries_name_and_facts(log: pytest.LogCaptureFixture) -> None:
    LoggingJournal().record(ALLOCATED)
    assert vars(log.records[0])["event"] == "devices_allocated"
    assert vars(log.records[0])["facts"] == {
        "resource": "example.com/widget",
        "devices": ("a", "b"),
    }
    assert (
        log.records[0].getMessage() == "devices_allocated resource=example.com/widget devices=a,b"
    )


def test_text_is_a_line(log: pytest.LogCaptureFixture) -> None:
    LoggingJournal().record(KubeletAppeared(directory="/my plugins"))
    LoggingJournal().record(ScanFailed(reason="100 %s", failures=2))
    assert [shown(TextFormatter(), each) for each in log.records] == [
        '2026-07-01T12:00:00.500Z INFO kubelet_appeared directory="/my plugins"',
        '2026-07-01T12:00:00.500Z WARNING scan_failed reason="100 %s" failures=2',
    ]


def test_json_keeps_facts_apart(log: pytest.LogCaptureFixture) -> None:
    LoggingJournal().record(ALLOCATED)
    assert json.loads(shown(JsonFormatter(), log.records[0])) == {
        "time": "2026-07-01T12:00:00.500Z",
        "level": "debug",
        "logger": "deviceplugin",
        "event": "devices_allocated",
        "resource": "example.com/widget",
        "devices": ["a", "b"],
    }


def test_what_others_log_is_shown_too(log: pytest.LogCaptureFixture) -> None:
    """With its origin, and with the traceback of an exception."""
    try:
        int("odd")
    except ValueError:
        logging.getLogger("grpc.aio").exception("it %s", "broke")
    text = shown(TextFormatter(), log.records[0]).splitlines()
    assert text[0] == "2026-07-01T12:00:00.500Z ERROR grpc.aio: it broke"
    assert text[-1].startswith("ValueError: ")
    entry = json.loads(shown(JsonFormatter(), log.records[0]))
    assert (entry["message"], entry["logger"]) == ("it broke", "grpc.aio")
    assert entry["exception"].splitlines() == text[1:]


def test_a_stack_that_was_asked_for_is_shown(log: pytest.LogCaptureFixture) -> None:
    logging.getLogger("mine").warning("here", stack_info=True)
    assert "test_a_stack_that" in shown(TextFormatter(), log.records[0])
    assert "test_a_stack_that" in json.loads(shown(JsonFormatter(), log.records[0]))["exception"]


def test_nobody_elses_record_passes_for_an_event(log: pytest.LogCaptureFixture) -> None:
    logging.getLogger("mine").warning("hello", extra={"event": "theirs"})
    assert shown(TextFormatter(), log.records[0]).endswith("WARNING mine: hello")
    assert json.loads(shown(JsonFormatter(), log.records[0]))["message"] == "hello"


def test_a_level_that_is_off_costs_no_record() -> None:
    asked: list[logging.LogRecord] = []

    def asks(record: logging.LogRecord) -> bool:
        asked.append(record)
        return False

    logger = lonely(logging.INFO)
    logger.addFilter(asks)
    LoggingJournal(logger).record(ALLOCATED)
    assert not asked
    LoggingJournal(logger).record(KubeletAppeared(directory="/plugins"))
    assert asked


def test_a_filter_that_raises_harms_nobody() -> None:
    def broken(_: logging.LogRecord) -> bool:
        raise RuntimeError("odd")

    logger = lonely()
    logger.addFilter(broken)
    LoggingJournal(logger).record(KubeletAppeared(directory="/plugins"))


def test_without_any_set_up_warnings_reach_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python shows warnings of loggers that nobody configured; we do not silence them."""
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    logger = lonely()
    LoggingJournal(logger).record(KubeletAppeared(directory="/plugins"))
    LoggingJournal(logger).record(KubeletMissing(directory="/plugins", seconds=60))
    assert stderr.getvalue() == "kubelet_missing directory=/plugins seconds=60\n"
