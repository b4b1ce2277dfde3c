"""A kubelet's questions are answered by the author's powers, or by our defaults."""

import asyncio
import re

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.given_nodes import GivenNodes
from deviceplugin.app.use_cases.serve_devices import OpenResource
from deviceplugin.domain.allocation import Grant, Request
from deviceplugin.domain.devices import DeviceId, DeviceInfo, DeviceNode, Health
from deviceplugin.domain.errors import (
    AllocationClashError,
    AllocationTimeoutError,
    MovedDeviceError,
    UnhealthyDeviceError,
    UnknownDeviceError,
)
from deviceplugin.domain.events import AllocationFailed, DevicesAllocated, PreparationFailed
from deviceplugin.domain.inventory import Inventory
from deviceplugin.domain.monitoring_events import StreamEnded, StreamOpened
from deviceplugin.domain.ports.driving.device_plugin import DevicePlugin, Options
from deviceplugin.domain.preference import Policy, packed
from deviceplugin.domain.resources import ResourceName

WIDGET = ResourceName("example.com", "widget")
A, B, ILL, GONE = map(DeviceId, ("a", "b", "ill", "gone"))
SPECIAL = Grant(envs={"SPECIAL": "1"})


def node(name: str) -> DeviceInfo:
    """Return a device with a node of its own."""
    return DeviceInfo(nodes=[DeviceNode(f"/dev/{name}")])


class Service:
    """One resource with four devices, of which two can be had, served for an author."""

    def __init__(self, author: object = None, policy: Policy | None = None) -> None:
        self.clock = ManualClock()
        self.journal = MemoryJournal()
        self.looks = 0
        seen = Inventory().observe({key: node(key.value) for key in (A, B, ILL, GONE)})
        ill = DeviceInfo(health=Health.UNHEALTHY)
        self.board = Board(seen.observe({A: node("a"), B: node("b"), ILL: ill}))
        self.plugin: DevicePlugin = OpenResource(
            author=author,
            journal=self.journal,
            code=AuthorCode(worker=InlineWorker(), clock=self.clock, seconds=10.0),
            look_again=self._look,
            policy_of=lambda _: policy,
        )(WIDGET, self.board)

    def _look(self) -> None:
        self.looks += 1

    async def allocate(self, *ids: DeviceId) -> Grant:
        """Ask for what a container gets."""
        return await self.plugin.devices.allocate(ids)


class Allocates:
    """An author who decides what a container gets, unless it is for device b."""

    async def allocate(self, request: Request, /) -> Grant | None:
        """Return something special."""
        return None if B in request.devices else SPECIAL


class Amends:
    """An author who changes the default grant."""

    def post_allocate(self, request: Request, grant: Grant, /) -> Grant:
        """Add the ids to what is given."""
        ids = ",".join(key.value for key in request.devices)
        return Grant(nodes=grant.nodes, envs={"IDS": ids})


class AllocatesAndAmends(Allocates, Amends):
    """Both powers."""


class Prefers:
    """An author who prefers the last devices."""

    def preferred_allocation(self, *_: object) -> list[DeviceId]:
        """Return b."""
        return [B]


class Prepares:
    """An author who acts before a container's start."""

    def __init__(self) -> None:
        self.prepared: list[Request] = []

    async def pre_start_container(self, request: Request, /) -> None:
        """Remember what was to be made ready."""
        self.prepared.append(request)


class PrefersAndPrepares(Prefers, Prepares):
    """Both powers."""


@pytest.mark.parametrize(
    ("author", "policy", "options"),
    [
        (None, None, Options()),
        (None, packed, Options(preferred_allocation_available=True)),
        (Allocates(), None, Options()),
        (Prefers(), None, Options(preferred_allocation_available=True)),
        (Prepares(), None, Options(pre_start_required=True)),
        (Prepares(), packed, Options(True, True)),
        (PrefersAndPrepares(), None, Options(True, True)),
    ],
)
def test_the_options_are_the_powers_that_are_there(
    author: object, policy: Policy | None, options: Options
) -> None:
    plugin = Service(author, policy).plugin
    assert plugin.options == options
    assert (plugin.preference is not None) == options.preferred_allocation_available
    assert (plugin.preparation is not None) == options.pre_start_required


async def test_without_a_power_a_container_gets_what_its_devices_bring() -> None:
    service = Service()
    assert await service.allocate(B, A) == Grant(
        nodes=(DeviceNode("/dev/a"), DeviceNode("/dev/b"))
    )
    assert service.journal.events == (DevicesAllocated(resource=WIDGET, devices=("a", "b")),)
    assert service.looks == 0


async def test_an_allocator_decides_and_none_means_the_default() -> None:
    service = Service(Allocates())
    assert await service.allocate(A) == SPECIAL
    assert await service.allocate(B) == Grant(nodes=(DeviceNode("/dev/b"),))


async def test_a_post_allocator_changes_the_default_grant() -> None:
    grant = await Service(Amends()).allocate(B, A)
    assert (len(grant.nodes), grant.envs) == (2, {"IDS": "a,b"})


async def test_a_post_allocator_is_not_asked_about_an_allocators_own_grant() -> None:
    service = Service(AllocatesAndAmends())
    assert await service.allocate(A) == SPECIAL
    assert (await service.allocate(B)).envs == {"IDS": "b"}


@pytest.mark.parametrize(
    ("ids", "kind", "named"),
    [
        ([DeviceId("never")], UnknownDeviceError, "never"),
        ([ILL], UnhealthyDeviceError, "ill"),
        ([GONE], UnhealthyDeviceError, r"gone \(/dev/gone\)"),
        ([A, GONE, ILL], UnhealthyDeviceError, r"gone \(/dev/gone\), ill;"),
        ([A, DeviceId("never"), ILL], UnknownDeviceError, "never; not healthy now: ill"),
    ],
)
async def test_an_id_that_cannot_be_had_fails_the_request_is_named_and_wakes_the_scan(
    ids: list[DeviceId], kind: type[Exception], named: str
) -> None:
    service = Service(Allocates())
    with pytest.raises(kind, match=named):
        await service.allocate(*ids)
    assert service.looks == 1
    (failed,) = service.journal.of(AllocationFailed)
    assert failed.devices == tuple(sorted(key.value for key in ids))
    assert re.search(named, failed.reason)
    assert service.journal.of(DevicesAllocated) == ()


class Breaks:
    """An author whose code fails."""

    def allocate(self, request: Request, /) -> Grant:
        """Fail."""
        raise RuntimeError(f"no firmware for {len(request.devices)}")


class SilentError(Exception):
    """Says nothing."""


class FailsSilently:
    """An author whose error has no text."""

    def allocate(self, _: Request, /) -> Grant:
        """Fail."""
        raise SilentError


async def test_an_authors_error_fails_the_pod_and_is_recorded_with_its_text() -> None:
    service = Service(Breaks())
    with pytest.raises(RuntimeError, match="no firmware for 1"):
        await service.allocate(A)
    assert [event.reason for event in service.journal.of(AllocationFailed)] == [
        "RuntimeError: no firmware for 1"
    ]
    silent = Service(FailsSilently())
    with pytest.raises(SilentError):
        await silent.allocate(A)
    assert silent.journal.of(AllocationFailed)[0].reason == "SilentError"


class Hangs:
    """An author whose code never answers."""

    async def allocate(self, _: Request, /) -> Grant:
        """Wait for ever."""
        await asyncio.Event().wait()
        return SPECIAL


async def test_a_call_that_hangs_fails_one_pod_and_does_not_hold_up_the_next() -> None:
    service = Service(Hangs())
    call = asyncio.create_task(service.allocate(A))
    await service.clock.advance(5)
    stream = service.plugin.devices.watch()
    assert len(await anext(stream)) == 4
    await stream.aclose()
    await service.clock.advance(5)
    with pytest.raises(AllocationTimeoutError):
        await call


async def test_the_same_ids_get_the_same_grant_each_time_and_stay_healthy_in_the_list() -> None:
    """There is no release, and what is in use is the kubelet's business alone."""
    service = Service()
    before = service.board.inventory
    first = await service.allocate(A)
    await service.allocate(A, B)
    assert await service.allocate(A) == first
    assert service.board.inventory is before


async def test_50_requests_at_once_each_get_what_belongs_to_their_own_ids() -> None:
    service = Service(Amends())
    keys = [DeviceId(f"d{number}") for number in range(50)]
    service.board.post(service.board.inventory.observe({key: node(key.value) for key in keys}))
    grants = await asyncio.gather(*(service.allocate(key) for key in keys))
    for key, grant in zip(keys, grants, strict=True):
        assert (grant.envs["IDS"], grant.nodes) == (key.value, (DeviceNode(f"/dev/{key}"),))


async def test_an_answer_is_made_of_the_newest_inventory() -> None:
    """A device that was plugged in again may have another node under the same id."""
    service = Service()
    await service.allocate(A)
    service.board.post(service.board.inventory.observe({A: node("a2")}))
    assert (await service.allocate(A)).nodes == (DeviceNode("/dev/a2"),)


async def test_a_clash_fails_the_request_as_a_whole() -> None:
    service = Service()
    info = DeviceInfo(nodes=[DeviceNode("/dev/x", container_path="/dev/a")])
    service.board.post(service.board.inventory.observe({A: node("a"), B: info}))
    with pytest.raises(AllocationClashError, match="/dev/a"):
        await service.allocate(A, B)


async def test_devices_are_made_ready_by_the_author_if_they_can_be_had() -> None:
    """A refusal names id and path, is recorded, and wakes the scan: our list may be old."""
    author = Prepares()
    service = Service(author)
    preparation = service.plugin.preparation
    assert preparation is not None
    await preparation.prepare([B, A])
    assert [list(request.devices) for request in author.prepared] == [[A, B]]
    with pytest.raises(UnhealthyDeviceError, match=r"not healthy now: gone \(/dev/gone\)"):
        await preparation.prepare([A, GONE])
    assert len(author.prepared) == 1
    assert service.looks == 1
    (failed,) = service.journal.of(PreparationFailed)
    assert (failed.resource, failed.devices) == (WIDGET, ("a", "gone"))
    assert "/dev/gone" in failed.reason


async def test_a_container_does_not_start_again_with_a_node_that_its_device_has_left() -> None:
    """It is made of what its pod was given: that path may be another device by now."""
    author = Prepares()
    service = Service(author)
    preparation = service.plugin.preparation
    assert preparation is not None
    await service.allocate(A, B)
    service.board.post(service.board.inventory.observe({A: node("a2"), B: node("b")}))
    with pytest.raises(
        MovedDeviceError, match="a was given as /dev/a and is /dev/a2 now"
    ) as moved:
        await preparation.prepare([A, B])
    assert moved.value.ids == ("a",)
    assert author.prepared == []
    await preparation.prepare([B])
    await service.allocate(A)
    await preparation.prepare([A])


async def test_what_an_author_gives_in_place_of_a_device_binds_nobody_to_its_nodes() -> None:
    """Only nodes that the container was really given count."""

    class Author(Allocates, Prepares):
        """Grants no node at all."""

    service = Service(Author())
    preparation = service.plugin.preparation
    assert preparation is not None
    await service.allocate(A)
    service.board.post(service.board.inventory.observe({A: node("a2")}))
    await preparation.prepare([A])


async def test_no_more_is_remembered_of_what_was_given_than_there_are_devices() -> None:
    """Ids come and go for as long as a plugin lives."""
    board = Board(Inventory())
    given = GivenNodes(board=board)
    for number in range(20):
        key = DeviceId(f"d{number}")
        board.post(Inventory().observe({key: node("x")}))
        request = Request(WIDGET, board.inventory.devices)
        given.note(request, request.default())
        moved = Request(WIDGET, {DeviceId("d0"): node("y")})
        if number:
            given.check(moved)
        else:
            with pytest.raises(MovedDeviceError):
                given.check(moved)


async def test_an_error_after_the_allocation_fails_it_too() -> None:
    class Spoils:
        """An author whose amendment fails."""

        def post_allocate(self, request: Request, grant: Grant, /) -> Grant:
            """Fail."""
            raise RuntimeError(f"no room for {len(grant.nodes)} of {len(request.devices)}")

    service = Service(Spoils())
    with pytest.raises(RuntimeError, match="no room for 1 of 1"):
        await service.allocate(A)
    assert service.journal.of(DevicesAllocated) == ()
    assert "no room" in service.journal.of(AllocationFailed)[0].reason


async def test_streams_that_open_and_end_are_told_with_how_many_there_are() -> None:
    """However one ends: by who reads it, or because the resource is retired."""
    service = Service()
    first, second = service.plugin.devices.watch(), service.plugin.devices.watch()
    await anext(first)
    await anext(second)
    await first.aclose()
    service.board.retire()
    assert [listing async for listing in second] == []
    assert service.journal.events == (
        StreamOpened(resource=WIDGET, streams=1),
        StreamOpened(resource=WIDGET, streams=2),
        StreamEnded(resource=WIDGET, streams=1),
        StreamEnded(resource=WIDGET, streams=0),
    )
