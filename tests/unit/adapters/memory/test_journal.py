"""What the contract cannot say of a journal in memory."""

import asyncio
import threading

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.events import Event, KubeletAppeared, ScanFailed, ScanRecovered
from deviceplugin.testing.contracts.law import soon
from deviceplugin.testing.loop import run


def test_the_next_event_is_one_that_nobody_was_given() -> None:
    """Each kind is read for itself, from its beginning."""

    async def law() -> None:
        journal = MemoryJournal()
        first, second = (ScanFailed(reason="odd", failures=number) for number in (1, 2))
        for event in (first, ScanRecovered(), second):
            journal.record(event)
        assert await journal.next(ScanFailed) is first
        assert await journal.next(ScanFailed) is second
        assert await journal.next(Event) is first
        assert journal.of(ScanFailed) == (first, second)
        assert journal.events == (first, ScanRecovered(), second)

    run(law())


def test_who_waits_is_woken_by_the_right_event_from_any_thread() -> None:
    async def law() -> None:
        journal = MemoryJournal()
        waiting = [asyncio.create_task(journal.next(KubeletAppeared)) for _ in range(2)]
        await asyncio.sleep(0)
        journal.record(ScanRecovered())
        appeared = KubeletAppeared(directory="/plugins")
        thread = threading.Thread(target=journal.record, args=[appeared])
        thread.start()
        done, _ = await soon(asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED))
        thread.join()
        assert [each.result() for each in done] == [appeared]
        assert sum(each.done() for each in waiting) == 1
        journal.record(appeared)
        await soon(asyncio.wait(waiting))

    run(law())


def test_a_loop_that_was_closed_harms_nobody() -> None:
    """Who waited there waits no more; the event is kept for whoever reads later."""
    journal = MemoryJournal()
    loop = asyncio.new_event_loop()
    waiting = journal.next(ScanRecovered)

    async def begin() -> None:
        waiting.send(None)

    loop.run_until_complete(begin())
    loop.close()
    journal.record(ScanRecovered())
    waiting.close()
    assert journal.events == (ScanRecovered(),)
