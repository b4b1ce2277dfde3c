"""Whatever a kubelet's death and return look like, every resource is back, registered once."""

import asyncio
import random
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import grpc.aio
import pytest
from tests.support.stage import SOON, WIDGET, Puppet, Raise, Stage, beside, remove_tree

from deviceplugin import DeviceInfo, DeviceTree, Health, Manager, Notifier
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub
from deviceplugin.domain.events import KubeletAwaited, RegistrationFailed
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import (
    DropEarly,
    DropLate,
    Era,
    FakeKubelet,
    Hang,
    Late,
    ListOrder,
    ListReceived,
    OptionsRead,
    Profile,
    Record,
    Refuse,
    RegisterAsked,
    Registered,
    Started,
    Step,
    StreamOpened,
)

if TYPE_CHECKING:
    from collections.abc import Callable

QUICK = Timing(register=1.0, stream=1.0, doubt=0.2)


async def test_any_number_of_restarts_ends_listed_once(stage: Raise) -> None:
    """Twenty restarts at spacings from nothing to half a second: one stream, all listed."""
    chance = random.Random(11)  # noqa: S311 - a test's course, no secret
    async with stage() as on:
        on.puppet.show(widget="a b c")
        await on.lists("a", "b", "c")
        for gap in (0.0, *(chance.random() ** 2 / 2 for _ in range(18)), 0.0):
            await beside(partial(on.kubelet.restart, gap))
            await on.lists("a", "b", "c")
            assert _streams_since_the_start(on) == 1


async def test_restarts_faster_than_registration_end_listed_once(stage: Raise) -> None:
    """A kubelet that comes and goes five times in a row, without a look at us, strands nothing."""
    async with stage() as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        for _ in range(4):
            for _ in range(5):
                await beside(on.kubelet.restart)
            await on.lists("a")


async def test_a_cut_stream_alone_brings_a_new_registration(stage: Raise) -> None:
    """No file changes, the kubelet lives: the end of the stream is enough."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        for count in range(2, 6):
            await beside(lambda: on.kubelet.cut_stream(WIDGET))
            await on.registered(count)
            await on.lists("a", "b")


@pytest.mark.parametrize("stream_first", [True, False])
async def test_a_stream_and_a_socket_lost_together_bring_one_registration(
    stage: Raise,
    profile: Profile,
    stream_first: bool,  # noqa: FBT001
) -> None:
    """Whichever is noticed first."""
    async with stage() as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        (socket,) = on.sockets()
        steps: list[Callable[[], None]] = [
            lambda: on.kubelet.cut_stream(WIDGET),
            lambda: socket.unlink(missing_ok=True),
        ]
        for step in steps if stream_first else reversed(steps):
            await beside(step)
        await on.renewed(socket.name)
        await on.lists("a")
        assert 2 <= on.registrations() <= 2 + _spare(profile)


async def test_each_removal_of_our_socket_brings_one_registration(
    stage: Raise, profile: Profile
) -> None:
    """Ten removals, ten registrations, the last socket is the one that answers."""
    async with stage(timing=Timing(settle=0.0)) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        for removals in range(1, 11):
            endpoint = str(on.kubelet.resource(WIDGET).endpoint)
            (on.kubelet.directory / endpoint).unlink(missing_ok=True)
            await on.renewed(endpoint)
            await on.lists("a")
            assert 1 <= on.registrations() - removals <= 1 + _spare(profile) * removals
        (socket,) = on.sockets()
        async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            await DevicePluginStub(channel).GetDevicePluginOptions(wire.Empty())
        registered = [each.endpoint for each in on.kubelet.history.of(Registered)]
        assert len(set(registered)) == len(registered)


async def test_a_kubelet_that_comes_late_finds_us_waiting(stage: Raise) -> None:
    """Absent at start: one event, no crash, and a registration as soon as it is there."""
    async with stage(start=False) as on:
        on.puppet.show(widget="a")
        await on.journal.next(KubeletAwaited)
        await beside(on.kubelet.start)
        await on.lists("a")
        assert len(on.journal.of(KubeletAwaited)) == 1
        assert on.registrations() == 1


async def test_a_directory_that_comes_late_is_found(stage: Raise) -> None:
    """The plugin directory itself may come with the kubelet."""
    async with stage(start=False) as on:
        remove_tree(on.kubelet.directory)
        on.puppet.show(widget="a")
        await beside(on.kubelet.start)
        await on.lists("a")


async def test_a_directory_that_is_replaced_is_followed(stage: Raise) -> None:
    """Removed with our live socket in it and made again by a new kubelet."""
    async with stage() as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        await beside(on.kubelet.stop)
        remove_tree(on.kubelet.directory)
        await beside(on.kubelet.start)
        await on.lists("a")


async def test_a_dead_kubelets_socket_is_not_a_kubelet(stage: Raise) -> None:
    """A kubelet.sock that nobody listens on is waited out; the next kubelet is registered with."""
    async with stage() as on:
        await beside(on.kubelet.stop)
        on.puppet.show(widget="a")
        await on.journal.next(RegistrationFailed)
        await beside(on.kubelet.start)
        await on.lists("a")
        assert on.registrations() == 1


@pytest.mark.parametrize("delay", ["clean_to_bind", "bind_to_listen"])
async def test_a_slow_start_of_the_kubelet_strands_nothing(stage: Raise, delay: str) -> None:
    """What was made before its clean-up ends, or dialled before it listens, is made anew."""
    async with stage() as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        setattr(on.kubelet.faults, delay, 0.3)
        for _ in range(3):
            await beside(on.kubelet.restart)
            await on.lists("a")


@pytest.mark.parametrize("order", [ListOrder.BEFORE, ListOrder.AFTER])
async def test_the_stream_may_open_before_or_after_the_answer(
    stage: Raise, order: ListOrder
) -> None:
    """Either order is one registration."""
    async with stage() as on:
        on.kubelet.faults.list_order = order
        on.puppet.show(widget="a")
        await on.lists("a")
        assert on.registrations() == on.streams_opened() == 1


@pytest.mark.parametrize(
    "step",
    [Refuse("busy"), Hang(), Late(0.3), DropEarly(), DropLate()],
    ids=lambda step: type(step).__name__,
)
async def test_a_register_that_goes_wrong_is_never_repeated_on_its_socket(
    stage: Raise, step: Step
) -> None:
    """Refused, hung, late, cut before or after it took effect: listed in the end, once.

    The kubelet sees each of our sockets in one Register only, and lists it at most once.
    """
    async with stage(timing=QUICK) as on:
        on.kubelet.faults.on_register(step, times=2)
        on.puppet.show(widget="a")
        await on.lists("a")
        for kind in (RegisterAsked, StreamOpened):
            endpoints = [each.endpoint for each in on.kubelet.history.of(kind)]
            assert len(endpoints) == len(set(endpoints))


async def test_a_kubelet_that_dies_in_register_is_registered_with_when_it_is_back(
    stage: Raise,
) -> None:
    """Killed while Register is pending, at once and after it has called back."""
    async with stage(timing=QUICK) as on:
        on.puppet.show(widget="a")
        for step in (Hang(), Late(5.0)):
            on.kubelet.faults.on_register(step)
            await beside(on.kubelet.restart)
            await beside(on.kubelet.restart)
            await on.lists("a")


@pytest.mark.parametrize(
    "step",
    [RegisterAsked, OptionsRead, Registered, StreamOpened, ListReceived],
    ids=lambda step: step.__name__,
)
async def test_a_kubelet_that_dies_at_any_step_is_registered_with_when_it_is_back(
    stage: Raise, step: type[Record]
) -> None:
    """Three times in a row, as soon as that has happened."""
    async with stage(start=False, timing=QUICK) as on:
        on.puppet.show(widget="a b")
        await beside(on.kubelet.start)
        for death in range(1, 4):
            await beside(
                partial(on.kubelet.history.await_count, step, death, WIDGET, timeout=SOON)
            )
            await beside(on.kubelet.restart)
        await on.lists("a", "b")
        endpoints = [each.endpoint for each in on.kubelet.history.of(StreamOpened)]
        assert len(endpoints) == len(set(endpoints))


async def test_every_first_register_succeeds(stage: Raise) -> None:
    """We serve before we register: of a hundred resources no first Register fails."""
    async with stage() as on:
        on.puppet.show(**{f"r{number}": "a" for number in range(100)})
        for number in range(100):
            await on.lists("a", resource=f"example.com/r{number}")
        assert on.journal.of(RegistrationFailed) == ()
        assert len(on.kubelet.history.of(StreamOpened)) == 100


class _Hanging:
    """A scanner whose second look does not end before a test lets it."""

    def __init__(self) -> None:
        self.hangs, self.free = threading.Event(), threading.Event()

    def scan(self, notifier: Notifier) -> None:
        """Find a hundred devices, and look again."""
        tree = DeviceTree()
        for number in range(100):
            tree.add_device("widget", f"w{number}", DeviceInfo(health=Health.HEALTHY))
        notifier.notify(tree)
        self.hangs.set()
        self.free.wait()


async def test_registration_does_not_wait_for_a_slow_scan(
    tmp_path: Path, profile: Profile
) -> None:
    """A kubelet that returns while a scan hangs gets the last list within a second."""
    kubelet, scanner = FakeKubelet(tmp_path, profile=profile), _Hanging()
    await beside(kubelet.start)
    manager = Manager("example.com", scanner, plugin_dir=str(tmp_path))
    serving = asyncio.ensure_future(manager.serve())
    listed = partial(kubelet.await_resource, WIDGET, lambda seen: seen.allocatable == 100)
    await beside(partial(listed, SOON))
    await beside(scanner.hangs.wait)
    await beside(kubelet.restart)
    await beside(partial(listed, 1.0))
    assert not scanner.free.is_set()
    scanner.free.set()
    manager.stop()
    await serving
    await beside(kubelet.stop)


async def test_the_end_is_quick_and_whole_in_whatever_moment(stage: Raise) -> None:
    """Stopped before, while and after it registers: no socket and no stream is left."""
    for moments in (0, 1, 2, 5, 10, 20, 50):
        async with stage() as on:
            on.puppet.show(widget="a", gadget="b")
            for _ in range(moments):
                await asyncio.sleep(0)
            on.manager.stop()
            await asyncio.wait_for(on.serving, 2)
            assert on.sockets() == []


def _streams_since_the_start(on: Stage) -> int:
    """How many streams the present kubelet has opened."""
    records = on.kubelet.history.of(Record)
    last = max(index for index, each in enumerate(records) if isinstance(each, Started))
    return sum(isinstance(each, StreamOpened) for each in records[last:])


async def test_a_cancelled_manager_ends_as_such_in_whatever_moment(
    tmp_path: Path, profile: Profile
) -> None:
    """Whoever owns the loop gets CancelledError, not our inner life, and no socket is left."""
    kubelet = FakeKubelet(tmp_path, profile=profile)
    await beside(kubelet.start)
    for moments in range(0, 60, 3):
        puppet = Puppet()
        manager = Manager("example.com", puppet, plugin_dir=str(tmp_path))
        puppet.show(**{f"r{number}": "a" for number in range(5)})
        serving = asyncio.ensure_future(manager.serve())
        for _ in range(moments):
            await asyncio.sleep(0)
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert _sockets(tmp_path) == []
    await beside(kubelet.stop)


def _sockets(directory: Path) -> list[Path]:
    return list(directory.glob("dp-*.sock"))


def _spare(profile: Profile) -> int:
    """How many registrations more a loss may cost.

    A kubelet that tells endpoints apart by resource alone may cut the new stream when it notices
    the end of the old one.
    """
    return 0 if profile.era is Era.BY_SOCKET else 1
