"""The laws of `PluginDirectory`."""

import asyncio
from typing import ClassVar

import pytest

from deviceplugin.domain.ports.driven.directory import FileIdentity
from deviceplugin.testing.contracts.arrivals import LONG, ArrivalsContract, waiting_at
from deviceplugin.testing.contracts.directory_world import DirectoryWorld
from deviceplugin.testing.contracts.law import law, soon
from deviceplugin.testing.contracts.watching import given_up, woken

SOCKET = "kubelet.sock"


class DirectoryContract(ArrivalsContract):
    """What holds for each plugin directory: subclass it and provide `world`.

    `by_link`: whether the configured path is a link; else the law about links is skipped.
    """

    by_link: ClassVar[bool] = True

    @law
    async def test_a_file_has_an_identity_while_it_is_there(self, world: DirectoryWorld) -> None:
        """None before and after; the same at each look in between."""
        directory = world.directory
        assert directory.identity(SOCKET) is None
        world.appear(SOCKET)
        assert directory.identity(SOCKET) == directory.identity(SOCKET) is not None
        world.vanish(SOCKET)
        assert directory.identity(SOCKET) is None

    @law
    async def test_the_directory_itself_has_an_identity(self, world: DirectoryWorld) -> None:
        """By the name `.`, while it is there: so that its absence can be told from a file's."""
        directory = world.directory
        assert directory.identity(".") is not None
        world.remove_directory()
        assert directory.identity(".") is None
        world.make_directory()
        assert directory.identity(".") is not None

    @law
    async def test_another_file_has_another_identity(self, world: DirectoryWorld) -> None:
        """A name says nothing about which file it is."""
        world.appear(SOCKET)
        world.appear("other.sock")
        before = world.directory.identity(SOCKET)
        world.replace(SOCKET)
        after = world.directory.identity(SOCKET)
        assert len({before, after, world.directory.identity("other.sock")}) == 3

    @law
    async def test_wakes_when_a_file_appears(self, world: DirectoryWorld) -> None:
        """Who waits is told of a new file."""
        waiting = await waiting_at(world)
        world.appear(SOCKET)
        await woken(waiting)

    @law
    async def test_wakes_when_a_file_vanishes(self, world: DirectoryWorld) -> None:
        """Who waits is told that a file is gone."""
        world.appear(SOCKET)
        waiting = await waiting_at(world)
        world.vanish(SOCKET)
        await woken(waiting)

    @law
    async def test_wakes_when_a_file_is_replaced(self, world: DirectoryWorld) -> None:
        """Who waits is told of a file that was renamed into the place of another."""
        world.appear(SOCKET)
        waiting = await waiting_at(world)
        world.replace(SOCKET)
        await woken(waiting)

    @law
    async def test_sees_the_last_of_several_changes(self, world: DirectoryWorld) -> None:
        """Changes may fall together, but who looks after the last wake sees what is there now."""
        for _ in range(2):
            waiting = await waiting_at(world)
            world.appear(SOCKET)
            world.vanish(SOCKET)
            world.appear(SOCKET)
            await woken(waiting)
            assert world.directory.identity(SOCKET) is not None
            waiting = await waiting_at(world)
            world.vanish(SOCKET)
            await woken(waiting)
            assert world.directory.identity(SOCKET) is None

    @law
    async def test_loses_no_wake_between_two_calls(self, world: DirectoryWorld) -> None:
        """After a change while nobody waited, before the first call too, it returns at once."""
        world.appear(SOCKET)
        await soon(world.directory.changed(LONG))
        await given_up(await waiting_at(world))
        world.vanish(SOCKET)
        await soon(world.directory.changed(LONG))

    @law
    async def test_noise_does_not_blind(self, world: DirectoryWorld) -> None:
        """Files of other names need wake nobody; after any number of them a socket does."""
        waiting = await waiting_at(world)
        for number in range(100):
            world.appear(f".tmp{number}")
            world.appear("kubelet_internal_checkpoint")
            world.vanish("kubelet_internal_checkpoint")
            world.vanish(f".tmp{number}")
        if waiting.done():
            waiting = await waiting_at(world)
        world.appear(SOCKET)
        await woken(waiting)

    @law
    async def test_returns_when_the_time_is_over(self, world: DirectoryWorld) -> None:
        """Without any change the caller still gets its regular look."""
        for _ in range(2):
            wait = asyncio.create_task(world.directory.changed(0.02))
            await world.pass_time(0.02)
            await woken(wait)
        await given_up(await waiting_at(world))

    @law
    async def test_survives_the_directory(self, world: DirectoryWorld) -> None:
        """Removed and made again it is watched as before, though a socket of ours was open.

        Also where the socket's name was gone before, so that nothing in the directory vanishes.
        """
        for name, named in (("one.sock", True), ("two.sock", False)):
            with world.open_socket(name):
                if not named:
                    world.vanish(name)
                waiting = await waiting_at(world)
                world.remove_directory()
                await woken(waiting)
                assert world.directory.identity(name) is None
                waiting = await waiting_at(world)
                world.make_directory()
                await woken(waiting)
                waiting = await waiting_at(world)
                world.appear(SOCKET)
                await woken(waiting)
                assert world.directory.identity(SOCKET) is not None
                world.vanish(SOCKET)

    @law
    async def test_follows_a_link_that_is_repointed(self, world: DirectoryWorld) -> None:
        """The link's change wakes, and then what happens in the directory that it leads to."""
        if not self.by_link:
            pytest.skip("by_link: the path of this directory is no link")
        for _ in range(2):
            world.appear("ours.sock")
            waiting = await waiting_at(world)
            world.repoint()
            await woken(waiting)
            assert world.directory.identity("ours.sock") is None
            waiting = await waiting_at(world)
            world.appear(SOCKET)
            await woken(waiting)
            assert world.directory.identity(SOCKET) is not None

    @law
    async def test_somebody_can_wake_it(self, world: DirectoryWorld) -> None:
        """The call under way, or the next one; how often says nothing."""
        waiting = await waiting_at(world)
        world.directory.wake()
        await woken(waiting)
        world.directory.wake()
        world.directory.wake()
        await soon(world.directory.changed(LONG))
        await given_up(await waiting_at(world))

    @law
    async def test_knows_whether_it_hears(self, world: DirectoryWorld) -> None:
        """Whoever looks seldom relies on it; after a close nothing is heard."""
        await given_up(await waiting_at(world))
        assert world.directory.heard
        world.directory.close()
        world.directory.wake()
        assert not world.directory.heard
        await given_up(await waiting_at(world))

    @law
    async def test_a_wait_can_be_given_up(self, world: DirectoryWorld) -> None:
        """Cancelling ends the call alone; the next one is told of changes."""
        for _ in range(3):
            await given_up(await waiting_at(world))
        waiting = await waiting_at(world)
        world.appear(SOCKET)
        await woken(waiting)

    @law
    async def test_closing_ends_the_wait(self, world: DirectoryWorld) -> None:
        """The call under way returns; later ones return when their time is over, not before."""
        waiting = await waiting_at(world)
        world.directory.close()
        world.directory.close()
        await woken(waiting)
        wait = asyncio.create_task(world.directory.changed(0.02))
        await world.pass_time(0.02)
        await woken(wait)
        waiting = await waiting_at(world)
        await given_up(waiting)

    @law
    async def test_looks_are_not_watching(self, world: DirectoryWorld) -> None:
        """After a close, files can still be looked at."""
        world.directory.close()
        world.appear(SOCKET)
        assert isinstance(world.directory.identity(SOCKET), FileIdentity)
