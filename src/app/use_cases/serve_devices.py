"""Answer what a kubelet asks about one resource."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing

import attrs

from deviceplugin.app.use_cases.author_code import AuthorCode
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.given_nodes import GivenNodes
from deviceplugin.app.use_cases.prefer_devices import PreferByAuthor, PreferByPolicy
from deviceplugin.domain.allocation import Grant, Request, select
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import AllocationError, reason_of
from deviceplugin.domain.events import AllocationFailed, DevicesAllocated, PreparationFailed
from deviceplugin.domain.inventory import Listing
from deviceplugin.domain.monitoring_events import StreamEnded, StreamOpened
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.ports.driven.plugin import (
    Allocator,
    ContainerPreStarter,
    PostAllocator,
    PreferredAllocator,
)
from deviceplugin.domain.ports.driving.device_plugin import (
    AdvertisesDevices,
    DevicePlugin,
    PrefersDevices,
    PreparesContainers,
)
from deviceplugin.domain.preference import Policy
from deviceplugin.domain.resources import ResourceName

GiveOut = Callable[[ResourceName, Collection[DeviceId]], None]
"""Takes note of devices that a container is given."""


def note_nothing(_resource: ResourceName, _ids: Collection[DeviceId], /) -> None:
    """Take no note: the devices can be offered in one way alone."""


@attrs.frozen(kw_only=True)
class ServeDevices(AdvertisesDevices):
    """Lists and grants the devices on the board; each answer is made of one inventory alone."""

    resource: ResourceName
    board: Board
    journal: Journal
    code: AuthorCode
    look_again: Callable[[], None]
    give_out: GiveOut = note_nothing
    allocator: Allocator | None = None
    post_allocator: PostAllocator | None = None
    given: GivenNodes | None = None

    async def watch(self) -> AsyncGenerator[Listing]:
        """Yield the list, then each that differs."""
        opened = StreamOpened(resource=self.resource, streams=self.board.readers + 1)
        self.journal.record(opened)
        try:
            async with aclosing(self.board.listings()) as listings:
                async for listing in listings:
                    yield listing
        finally:
            ended = StreamEnded(resource=self.resource, streams=self.board.readers)
            self.journal.record(ended)

    async def allocate(self, ids: Sequence[DeviceId]) -> Grant:
        """Return the grant; an id that is unknown or ill wakes the scan: our list may be old."""
        try:
            request = select(self.resource, self.board.inventory.devices, ids)
            # Before anything is waited for: no look may miss it that is taken meanwhile.
            self.give_out(self.resource, request.devices)
            grant = await self._grant(request)
        except Exception as error:
            self._refused(ids, error)
            raise
        if self.given is not None:
            self.given.note(request, grant)
        self.journal.record(
            DevicesAllocated(
                resource=self.resource, devices=tuple(key.value for key in request.devices)
            )
        )
        return grant

    async def _grant(self, request: Request) -> Grant:
        if self.allocator is not None:
            grant = await self.code.call(self.allocator.allocate, request)
            if grant is not None:
                return _granted(grant)
        grant = request.default()
        if self.post_allocator is not None:
            grant = _granted(
                await self.code.call(self.post_allocator.post_allocate, request, grant)
            )
        return grant

    def _refused(self, ids: Sequence[DeviceId], error: Exception) -> None:
        if isinstance(error, AllocationError):
            self.look_again()
        self.journal.record(_failed(AllocationFailed, self.resource, ids, error))


def _failed(
    kind: type[AllocationFailed], resource: ResourceName, ids: Sequence[DeviceId], error: Exception
) -> AllocationFailed:
    return kind(
        resource=resource,
        devices=tuple(sorted(key.value for key in ids)),
        reason=reason_of(error),
    )


def _granted(grant: object) -> Grant:
    if not isinstance(grant, Grant):
        raise TypeError(f"the plugin's code must return a Grant, not {type(grant).__name__}")
    return grant


@attrs.frozen(kw_only=True)
class PrepareByAuthor(PreparesContainers):
    """Has the plugin's author prepare devices for a container, if they are where it has them."""

    resource: ResourceName
    board: Board
    journal: Journal
    code: AuthorCode
    look_again: Callable[[], None]
    given: GivenNodes
    author: ContainerPreStarter

    async def prepare(self, ids: Sequence[DeviceId]) -> None:
        """Return when the author's code has; raises what it does, or `AllocationError`.

        A container that restarts is made of what it was given long ago, so its devices are looked
        for in the newest list; one that cannot be had wakes the scan.
        """
        try:
            request = select(self.resource, self.board.inventory.devices, ids)
            self.given.check(request)
            await self.code.call(self.author.pre_start_container, request)
        except Exception as error:
            if isinstance(error, AllocationError):
                self.look_again()
            self.journal.record(_failed(PreparationFailed, self.resource, ids, error))
            raise


@attrs.frozen(kw_only=True)
class OpenResource:
    """Makes one resource's front, with the powers that the author's plugin has."""

    author: object
    journal: Journal
    code: AuthorCode
    look_again: Callable[[], None]
    policy_of: Callable[[ResourceName], Policy | None]
    give_out: GiveOut = note_nothing

    def __call__(self, resource: ResourceName, board: Board) -> DevicePlugin:
        """Return the resource's front."""
        given = None
        if isinstance(self.author, ContainerPreStarter):
            given = GivenNodes(board=board)
        return DevicePlugin(
            resource=resource,
            devices=ServeDevices(
                resource=resource,
                board=board,
                journal=self.journal,
                code=self.code,
                look_again=self.look_again,
                give_out=self.give_out,
                allocator=self.author if isinstance(self.author, Allocator) else None,
                post_allocator=self.author if isinstance(self.author, PostAllocator) else None,
                given=given,
            ),
            preference=self._preference(resource, board),
            preparation=self._preparation(resource, board, given),
        )

    def _preference(self, resource: ResourceName, board: Board) -> PrefersDevices | None:
        if isinstance(self.author, PreferredAllocator):
            return PreferByAuthor(
                resource=resource,
                board=board,
                journal=self.journal,
                code=self.code,
                author=self.author,
            )
        policy = self.policy_of(resource)
        if policy is None:
            return None
        return PreferByPolicy(resource=resource, board=board, journal=self.journal, policy=policy)

    def _preparation(
        self, resource: ResourceName, board: Board, given: GivenNodes | None
    ) -> PreparesContainers | None:
        if given is not None and isinstance(self.author, ContainerPreStarter):
            return PrepareByAuthor(
                resource=resource,
                board=board,
                journal=self.journal,
                code=self.code,
                look_again=self.look_again,
                given=given,
                author=self.author,
            )
        return None
