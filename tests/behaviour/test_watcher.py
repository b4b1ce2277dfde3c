"""Found in plugins_registry over real gRPC, by the kubelet's plugin watcher of each release."""

import asyncio
import signal
from functools import partial

import pytest
from tests.support.instances import Grounds, grounds
from tests.support.stage import SOON, WIDGET, beside

from deviceplugin.domain.events import RegisterBlocked, ResourceRegistered
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import (
    InfoAsked,
    ListReceived,
    Profile,
    RegisterAsked,
    StatusSent,
    StreamOpened,
)

PROFILES = [Profile.V1_28, Profile.V1_34, Profile.V1_36, Profile.V1_37]
IMPATIENT = Timing(patience=0.5)

each_kubelet = pytest.mark.parametrize("profile", PROFILES, ids=lambda each: each.version)


def in_registry(here: Grounds) -> list[str]:
    """Return what is in plugins_registry, claims too."""
    return sorted(each.name for each in here.kubelet.registry.iterdir())


@each_kubelet
async def test_a_plugin_is_found_and_listed_without_a_register(profile: Profile) -> None:
    async with grounds(profile, "watcher") as here:
        one = here.instance("a", "b")
        await here.lists("a", "b")
        await asyncio.wait_for(one.journal.next(ResourceRegistered), SOON)
        assert here.kubelet.history.of(RegisterAsked) == ()
        assert [each.error for each in here.kubelet.history.of(StatusSent)] == [""]
        assert list(here.directory.glob("dp-*")) == []
        await one.stop()
        assert in_registry(here) == []


@each_kubelet
async def test_a_lost_stream_means_a_new_socket(profile: Profile) -> None:
    """The old one is removed; the kubelet finds the new one."""
    async with grounds(profile, "watcher") as here:
        here.instance("a")
        for _ in range(3):
            await here.lists("a")
            (before,) = here.sockets()
            await beside(partial(here.kubelet.cut_stream, WIDGET))
            await here.gone(before)
            await here.has_sockets(1)
            await here.lists("a")


@each_kubelet
async def test_a_kubelet_that_restarts_finds_it_again(profile: Profile) -> None:
    async with grounds(profile, "watcher") as here:
        here.instance("a")
        await here.lists("a")
        for gap in (0.0, 0.2, 0.0):
            await beside(partial(here.kubelet.restart, gap))
            await here.lists("a")
            await here.has_sockets(1)


async def test_what_a_killed_plugin_left_is_swept_away_and_nothing_else() -> None:
    """Else a kubelet would try it for ever; another one's live socket stays."""
    async with grounds(Profile.V1_37, "watcher") as here:
        here.instance("a")
        await here.lists("a")
        (alive,) = here.sockets()
        killed = here.process("a")
        await here.lists("a", streams=2)
        killed.send_signal(signal.SIGKILL)
        await beside(killed.wait)
        await here.has_sockets(2)
        here.instance("a")
        await here.lists("a", streams=2)
        assert alive in here.sockets()
        await here.has_sockets(2)
        assert len(in_registry(here)) == 4


async def test_auto_registers_and_leaves_plugins_registry_alone() -> None:
    async with grounds(Profile.V1_37, "auto") as here:
        here.instance("a", timing=IMPATIENT)
        await here.lists("a")
        await asyncio.sleep(2 * IMPATIENT.patience)
        assert in_registry(here) == []
        assert here.kubelet.history.of(InfoAsked) == ()


@each_kubelet
async def test_auto_is_found_where_there_is_no_socket_and_comes_back_with_the_next_kubelet(
    profile: Profile,
) -> None:
    """Such as when somebody removed kubelet.sock: the kubelet never listens again."""
    async with grounds(profile, "auto") as here:
        here.kubelet.socket.unlink()
        one = here.instance("a", timing=IMPATIENT)
        await asyncio.wait_for(one.journal.next(RegisterBlocked), SOON)
        await here.lists("a")
        assert len(in_registry(here)) == 2
        await beside(here.kubelet.restart)
        await here.sees(lambda _: bool(here.kubelet.history.of(RegisterAsked)))
        await here.lists("a")
        assert in_registry(here) == []
        assert len(here.kubelet.history.of(StreamOpened)) >= 2


async def test_the_last_word_is_said_before_the_end() -> None:
    """To whom asks for it: all devices are Unhealthy. The whole end takes two seconds at most."""
    async with grounds(Profile.V1_37, "register") as here:
        one = here.instance("a", "b", on_exit="unhealthy")
        await here.lists("a", "b")
        await asyncio.wait_for(one.stop(), 2)
        seen = await here.sees(lambda seen: seen.streams == 0)
        assert [device.healthy for device in seen.devices.values()] == [False, False]
        assert len(here.kubelet.history.of(ListReceived)) == 2
