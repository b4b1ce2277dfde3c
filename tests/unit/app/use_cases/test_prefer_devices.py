"""A preference never fails a pod: a wrong one becomes none, and the journal tells why."""

import asyncio
import re
from collections.abc import Callable

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.prefer_devices import PreferByAuthor, PreferByPolicy
from deviceplugin.domain.devices import DeviceId, DeviceInfo
from deviceplugin.domain.events import PreferenceFailed
from deviceplugin.domain.inventory import Inventory
from deviceplugin.domain.preference import Policy, Wish, packed
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices

WIDGET = ResourceName("example.com", "widget")
A, B, C = map(DeviceId, "abc")
CHOICE = Wish(available=(A, B, C), must_include=(B,), size=2)
Answer = Callable[[], object]


class Author:
    """An author who answers what a test says, and notes what was asked."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[tuple[ResourceName, Wish, Devices]] = []
        self._answer = answer

    async def preferred_allocation(
        self, resource: ResourceName, wish: Wish, devices: Devices, /
    ) -> tuple[DeviceId, ...]:
        """Answer."""
        self.asked.append((resource, wish, devices))
        answer = self._answer()
        if isinstance(answer, asyncio.Event):
            await answer.wait()
        return answer  # type: ignore[return-value]


class Preferring:
    """An author's preference, a journal and a clock."""

    def __init__(self, answer: Answer) -> None:
        self.clock = ManualClock()
        self.journal = MemoryJournal()
        self.author = Author(answer)
        self.board = Board(Inventory().observe(dict.fromkeys((A, B, C), DeviceInfo())))
        self.preference = PreferByAuthor(
            resource=WIDGET,
            board=self.board,
            journal=self.journal,
            code=AuthorCode(worker=InlineWorker(), clock=self.clock, seconds=10.0),
            author=self.author,
        )

    def reasons(self) -> list[str]:
        """Return why preferences failed."""
        return [event.reason for event in self.journal.of(PreferenceFailed)]


def fail() -> object:
    """Fail."""
    raise RuntimeError("no map of the links")


async def test_the_author_is_asked_with_what_is_known_and_the_answer_is_given() -> None:
    it = Preferring(lambda: (C, B))
    assert await it.preference.prefer(CHOICE) == (C, B)
    assert it.author.asked == [(WIDGET, CHOICE, it.board.inventory.devices)]
    assert it.reasons() == []


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fail, "RuntimeError: no map of the links"),
        (lambda: (B,), r"asked for 2 of 3 devices with 1 among them, got \['b'\]"),
        (lambda: (A, C), "asked for 2"),
        (lambda: (B, B), "asked for 2"),
        (lambda: (A, B, C), "asked for 2"),
        (lambda: (B, DeviceId("foreign")), "foreign"),
        (lambda: ("b", "c"), "asked for 2"),
        (lambda: None, "TypeError"),
    ],
)
async def test_an_authors_error_or_wrong_answer_is_no_preference_and_is_told_of(
    answer: Answer, reason: str
) -> None:
    it = Preferring(answer)
    assert await it.preference.prefer(CHOICE) == ()
    (told,) = it.reasons()
    assert re.search(reason, told)


async def test_an_author_who_hangs_has_no_preference() -> None:
    it = Preferring(asyncio.Event)
    asked = asyncio.create_task(it.preference.prefer(CHOICE))
    await it.clock.advance(10)
    assert await asked == ()
    assert "did not answer within 10 s" in it.reasons()[0]


@pytest.mark.parametrize(
    ("wish", "answer"),
    [
        (Wish(available=(A,), size=2), ()),
        (Wish(available=(A,), must_include=(B,), size=1), ()),
        (Wish(available=(A, A), size=1), ()),
        (Wish(available=(B, A), size=2), (A, B)),
        (Wish(available=(A, B, C), must_include=(C,), size=1), (C,)),
        (Wish(available=(A, B), size=0), ()),
    ],
)
async def test_nobody_is_asked_where_there_is_nothing_to_choose(
    wish: Wish, answer: tuple[DeviceId, ...]
) -> None:
    """It may cost a look at the hardware, and the kubelet asks even if it wants everything."""
    it = Preferring(fail)
    assert await it.preference.prefer(wish) == answer
    assert it.author.asked == []
    assert it.reasons() == []


def by_policy(policy: Policy, journal: MemoryJournal) -> PreferByPolicy:
    """Return a preference by one of our policies; a and c are on one card."""
    card, other = DeviceInfo(parent="card"), DeviceInfo(parent="other")
    board = Board(Inventory().observe({A: card, B: other, C: card}))
    return PreferByPolicy(resource=WIDGET, board=board, journal=journal, policy=policy)


async def test_a_policy_decides_by_what_is_advertised() -> None:
    preference = by_policy(packed, MemoryJournal())
    assert await preference.prefer(Wish(available=(A, B, C), size=2)) == (A, C)


async def test_a_policy_that_fails_is_no_preference_either() -> None:
    def broken(wish: Wish, devices: Devices) -> tuple[DeviceId, ...]:
        raise LookupError(f"{wish.size} of {len(devices)}")

    journal = MemoryJournal()
    assert await by_policy(broken, journal).prefer(CHOICE) == ()
    assert [event.reason for event in journal.of(PreferenceFailed)] == ["LookupError: 2 of 3"]


async def test_a_policy_that_is_wrong_is_no_preference_either() -> None:
    def wrong(wish: Wish, devices: Devices) -> tuple[DeviceId, ...]:
        del wish
        return tuple(devices)

    journal = MemoryJournal()
    assert await by_policy(wrong, journal).prefer(CHOICE) == ()
    assert len(journal.of(PreferenceFailed)) == 1
