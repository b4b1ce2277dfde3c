"""Keep what containers may hold, from the plugin's start until it is known that nobody does."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Final

import attrs

from deviceplugin.app.use_cases.ask_anew import AskAnew
from deviceplugin.app.use_cases.ask_holders import AskHolders
from deviceplugin.app.use_cases.board import Board
from deviceplugin.app.use_cases.known_holds import KnownHolds
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.events import DevicesHeld, DevicesReleased
from deviceplugin.domain.held_events import HeldNotListed
from deviceplugin.domain.holds import NOTHING_HELD, Hold, Holds
from deviceplugin.domain.inventory import Inventory
from deviceplugin.domain.ports.driven.clock import Clock
from deviceplugin.domain.ports.driven.journal import Journal
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Clearance, Holdings, Look, named
from deviceplugin.domain.room import MAX_HELD, MAX_HELD_BYTES
from deviceplugin.domain.timing import Release
from deviceplugin.domain.tree import Devices, FrozenTree

Boards = Callable[[], Mapping[ResourceName, Board]]
"""Returns the boards of all resources that are served now."""
Publish = Callable[[ResourceName, Board, Inventory], None]
"""Advertises an inventory on a board."""

_TOO_MANY: Final = (
    f"at most {MAX_HELD} devices, or {MAX_HELD_BYTES} bytes of a list, that nobody finds are "
    "listed, the shortest ids first; look at what the kubelet's checkpoint and pod-resources name"
)


class RetainHeld:
    """Asks the holders when a resource is new, and when `AskAnew` says so.

    And while something has vanished, or cannot be where the rules would put it because of what is
    held.

    What is held and not listed is listed then. A vanished device is let go by the rule of
    `domain.retention`, for which only such looks count as begin when each stream has been sent
    that it is Unhealthy, and end while the streams are still the same.
    """

    def __init__(  # noqa: PLR0913 - they go by name
        self,
        *,
        ask_holders: AskHolders,
        holds: KnownHolds,
        look_again: Callable[[], None],
        clock: Clock,
        timing: Release,
        journal: Journal,
    ) -> None:
        """Look at nothing yet; `look_again` is called when devices may be offered otherwise."""
        self._holds = holds
        self._look_again = look_again
        self._ask_holders = ask_holders
        self._clock = clock
        self._timing = timing
        self._journal = journal
        self._boards: Boards = dict
        self._publish: Publish = _publish_nothing
        self._vanished = asyncio.Event()
        self._anew = AskAnew(self._look_at_all, clock=clock, apart=timing.apart)
        self.stream_opened = self._anew.stream_opened
        self.meet = self._anew.meet
        self._too_many: set[ResourceName] = set()
        self._clearances: dict[ResourceName, Clearance] = {}
        self._in_the_way: Holds = NOTHING_HELD
        self._ways: dict[ResourceName, Clearance] = {}

    async def recall(
        self, resources: Mapping[ResourceName, Devices]
    ) -> dict[ResourceName, Inventory]:
        """Return what each of new `resources`, with the devices found, has to begin with.

        An earlier run of the plugin may have given containers what is no longer there. All
        resources are asked about at once, and for no longer than a source may take: what nobody
        can say is left out.
        """
        answers = await asyncio.gather(*map(self._ask_holders, resources))
        if not all(map(self._ask_holders.is_whole, answers)):
            self._anew.doubt()
        remembered: dict[ResourceName, Inventory] = {}
        for (name, found), said in zip(resources.items(), answers, strict=True):
            held = named(said)
            listed = Inventory().keep(held, beside=found)
            remembered[name] = listed
            self._holds.learn(name, listed.devices)
            self._tell_held(name, listed.devices.keys() - found.keys())
            self._tell_not_listed(name, said, held.keys() - listed.devices.keys())
        return remembered

    def takes_all_into_account(self, tree: FrozenTree) -> bool:
        """Say whether a tree may be advertised, by what is held now; if not, ask for another one.

        One that was made before a device was given out, and has it elsewhere or not at all, would
        let it be given out again.
        """
        if tree.minded is None:
            return True
        if any(
            each.id not in tree.resources.get(each.resource, {})
            for each in self._holds() - tree.minded.held
        ):
            self._look_again()
            return False
        self._in_the_way = tree.minded.in_the_way
        if self._in_the_way:
            self._vanished.set()
        return True

    def notice(self, inventory: Inventory) -> None:
        """Take note that this is served now."""
        if inventory.vanished:
            self._vanished.set()

    async def run(self, boards: Boards, publish: Publish) -> None:
        """Look, again and again. Does not return."""
        self._boards, self._publish = boards, publish
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._let_go())
            tasks.create_task(self._anew.run())

    async def _look_at_all(self) -> bool:
        looks = (self._look(name, board) for name, board in self._boards().items())
        return all(await asyncio.gather(*looks))

    async def _let_go(self) -> None:
        while True:
            await self._vanished.wait()
            await self._clock.sleep(self._timing.apart)
            waiting = _waiting(self._boards())
            await asyncio.gather(
                *(self._look(name, board) for name, board in waiting.items() if board.is_read),
                *(self._clear(name) for name in _resources(self._in_the_way)),
            )
            left = _waiting(self._boards())
            self._clearances = {
                name: known for name, known in self._clearances.items() if name in left
            }
            ways = _resources(self._in_the_way)
            self._ways = {name: known for name, known in self._ways.items() if name in ways}
            if not left and not ways:
                self._vanished.clear()

    async def _look(self, name: ResourceName, board: Board) -> bool:
        """List what is held, let go what is not; return whether everybody could answer."""
        read, audience = board.is_read, board.audience
        vanished, begun = board.inventory.vanished, self._clock.now()
        answers = await self._ask_holders(name)
        whole = self._ask_holders.is_whole(answers)
        if self._boards().get(name) is not board:
            return whole
        # A device that came back meanwhile is none of this look's any more.
        still = {
            key: generation
            for key, generation in board.inventory.vanished.items()
            if vanished.get(key) == generation
        }
        counts = read and board.audience == audience
        said = answers if counts else tuple(map(_as_incomplete, answers))
        look = Look(stream=audience, begun=begun, vanished=still, answers=said)
        verdict = self._clearances.get(name, Clearance()).judge(look, self._timing)
        self._clearances[name] = verdict.clearance
        held = named(answers)
        listed = board.inventory.keep(held)
        missing = listed.devices.keys() - board.inventory.devices.keys()
        self._holds.learn(name, held.keys() & listed.devices.keys())
        self._holds.let_go({Hold(name, key) for key in verdict.released})
        self._tell_held(name, missing)
        self._tell_not_listed(name, answers, held.keys() - listed.devices.keys())
        self._publish(name, board, listed.release(verdict.released))
        if verdict.released:
            self._journal.record(DevicesReleased(resource=name, devices=_texts(verdict.released)))
        if missing:
            # It may be a device that is offered as another one.
            self._look_again()
        return whole

    async def _clear(self, name: ResourceName) -> None:
        """Look whether anybody holds what is in the way, by the rule for what vanished.

        It may be listed as Healthy: who is given it meanwhile is known of, so it counts as another
        one then.
        """
        streams, begun, before = _streams(self._boards()), self._clock.now(), self._given(name)
        answers = await self._ask_holders(name)
        self._holds.learn(name, named(answers))
        now = self._given(name)
        still = {key: times for key, times in now.items() if before.get(key) == times}
        if _streams(self._boards()) != streams:
            return
        look = Look(stream=streams, begun=begun, vanished=still, answers=answers)
        verdict = self._ways.get(name, Clearance()).judge(look, self._timing)
        self._ways[name] = verdict.clearance
        if verdict.released:
            gone = {Hold(name, key) for key in verdict.released}
            self._in_the_way -= gone
            self._holds.let_go(gone)
            self._look_again()

    def _given(self, name: ResourceName) -> Mapping[DeviceId, int]:
        """Return how often what is in the way of a resource was given out."""
        here = (each for each in self._in_the_way if each.resource == name)
        return {each.id: self._holds.times(each) for each in here}

    def _tell_held(self, name: ResourceName, missing: Collection[DeviceId]) -> None:
        if missing:
            self._journal.record(DevicesHeld(resource=name, devices=_texts(missing)))

    def _tell_not_listed(
        self, name: ResourceName, answers: Collection[Holdings], without_room: Collection[DeviceId]
    ) -> None:
        devices = len(without_room) + sum(answer.left_out for answer in answers)
        if devices and name not in self._too_many:
            self._journal.record(HeldNotListed(resource=name, devices=devices, reason=_TOO_MANY))
        (self._too_many.add if devices else self._too_many.discard)(name)


def _publish_nothing(name: ResourceName, board: Board, inventory: Inventory) -> None:
    """Do nothing: before `run` there are no boards."""


def _as_incomplete(answer: Holdings) -> Holdings:
    return attrs.evolve(answer, complete=False)


def _texts(ids: Collection[DeviceId]) -> tuple[str, ...]:
    return tuple(sorted(key.value for key in ids))


def _waiting(boards: Mapping[ResourceName, Board]) -> Mapping[ResourceName, Board]:
    return {name: board for name, board in boards.items() if board.inventory.vanished}


def _resources(holds: Holds) -> frozenset[ResourceName]:
    return frozenset(each.resource for each in holds)


def _streams(boards: Mapping[ResourceName, Board]) -> int:
    """Return a number that changes whenever a stream of any of them opens or ends."""
    return max((board.audience for board in boards.values()), default=0)
