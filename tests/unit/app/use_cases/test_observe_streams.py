"""The end of the kubelet's stream is noticed, whatever ends it, and nothing else is."""

import asyncio
from contextlib import aclosing
from functools import partial

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.observe_streams import ObservedDevices
from deviceplugin.app.use_cases.serve_devices import ServeDevices
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode
from deviceplugin.domain.inventory import Inventory
from deviceplugin.domain.resources import ResourceName


class Observed:
    """A resource under observation, with what was told of it."""

    def __init__(self) -> None:
        clock = ManualClock()
        node = DeviceInfo(nodes=[DeviceNode("/dev/a")])
        self.board = Board(Inventory().observe({DeviceId("a"): node}))
        self.told: list[str] = []
        self.known = False
        self.devices = ObservedDevices(
            devices=ServeDevices(
                resource=ResourceName("example.com", "widget"),
                board=self.board,
                journal=MemoryJournal(),
                code=AuthorCode(worker=InlineWorker(), clock=clock, seconds=1.0),
                look_again=lambda: None,
            ),
            opened=partial(self.told.append, "opened"),
            ended=partial(self.told.append, "ended"),
            is_known=lambda: self.known,
        )


async def test_a_stream_opens_when_it_is_read_and_ends_when_it_is_closed() -> None:
    observed = Observed()
    stream = observed.devices.watch()
    assert observed.told == []
    await anext(stream)
    assert observed.told == ["opened"]
    await stream.aclose()
    assert observed.told == ["opened", "ended"]


async def test_a_stream_whose_reader_is_cancelled_ends() -> None:
    observed = Observed()

    async def read() -> None:
        async with aclosing(observed.devices.watch()) as stream:
            async for _ in stream:
                pass

    reader = asyncio.create_task(read())
    await ManualClock().settle()
    reader.cancel()
    await asyncio.wait({reader})
    assert observed.told == ["opened", "ended"]
    assert observed.board.readers == 0


async def test_a_stream_beside_the_known_one_hides_nothing_and_is_no_sign() -> None:
    """A person's look at the lists, left open, must not hide that the kubelet is gone."""
    observed = Observed()
    kubelets, persons = observed.devices.watch(), observed.devices.watch()
    await anext(kubelets)
    observed.known = True
    await anext(persons)
    assert observed.told == ["opened"]
    await kubelets.aclose()
    assert observed.told == ["opened", "ended"]
    await persons.aclose()
    assert observed.told == ["opened", "ended"]


async def test_while_none_is_known_the_end_of_any_stream_is_a_sign() -> None:
    """Whichever came first: a person may have looked before the kubelet did."""
    for number in range(2):
        observed = Observed()
        both = [observed.devices.watch() for _ in range(2)]
        for stream in both:
            await anext(stream)
        observed.known = True
        await both[number].aclose()
        assert observed.told == ["opened", "opened", "ended"]
        await both[1 - number].aclose()


async def test_a_stream_after_the_end_of_the_last_is_told_of_again() -> None:
    """A person may have looked before the kubelet came."""
    observed = Observed()
    for times in (1, 2):
        stream = observed.devices.watch()
        await anext(stream)
        await stream.aclose()
        assert observed.told == ["opened", "ended"] * times


async def test_a_stream_that_ends_because_the_resource_goes_is_no_loss() -> None:
    """Taken for one it would make a server and a registration for a resource that is going."""
    observed = Observed()
    stream = observed.devices.watch()
    await anext(stream)
    observed.board.retire()
    assert [listing async for listing in stream] == []
    assert observed.told == ["opened"]


async def test_a_grant_is_passed_on() -> None:
    grant = await Observed().devices.allocate([DeviceId("a")])
    assert grant.nodes == (DeviceNode("/dev/a"),)
