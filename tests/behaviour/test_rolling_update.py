"""Several instances for one resource: whichever remains is registered, with every kubelet."""

import asyncio
import signal

import pytest
from tests.support.instances import Grounds, grounds

from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import Era, Profile, Registered, StreamOpened

AT_ONCE_STEADY = Timing(settle=0.001, succession=0.5)
PROFILES = [Profile.V1_28, Profile.V1_34, Profile.V1_36, Profile.V1_37]

each_kubelet = pytest.mark.parametrize("profile", PROFILES, ids=lambda each: each.version)
each_way = pytest.mark.parametrize("registration", ["register", "watcher"])


def registrations(here: Grounds) -> int:
    return len(here.kubelet.history.of(Registered))


async def registered(here: Grounds, times: int) -> None:
    """Return once the kubelet has registered so often."""
    await here.sees(lambda _: registrations(here) >= times)


@each_kubelet
@each_way
async def test_the_new_one_takes_over_when_the_old_one_stops(
    profile: Profile, registration: str
) -> None:
    """It has no less than a socket of its own, and the old one removes no other."""
    async with grounds(profile, registration) as here:
        old = here.instance("a", "b")
        await here.lists("a", "b")
        new = here.instance("a", "b")
        await here.lists("a", "b", streams=2)
        await here.has_sockets(2)
        await old.stop()
        # The end of its stream may cut the new one's a moment after that was seen alone.
        again = 0 if profile.era is Era.BY_SOCKET else 1
        await here.sees(lambda _: registrations(here) >= 2 + again)
        await here.lists("a", "b")
        await here.has_sockets(1)
        assert registrations(here) == 2 + again
        assert not new.serving.done()


@each_kubelet
@each_way
async def test_the_new_one_takes_over_when_the_old_one_is_killed(
    profile: Profile, registration: str
) -> None:
    async with grounds(profile, registration) as here:
        old = here.process("a", "b")
        await here.lists("a", "b")
        here.instance("a", "b")
        await here.lists("a", "b", streams=2)
        old.send_signal(signal.SIGKILL)
        await here.lists("a", "b")


@each_kubelet
@each_way
async def test_the_old_one_goes_on_when_the_new_one_is_killed(
    profile: Profile, registration: str
) -> None:
    """Kubelets up to 1.36 have taken the new one for the only one; the old one's stream stays."""
    async with grounds(profile, registration) as here:
        here.instance("a", "b", timing=AT_ONCE_STEADY)
        await here.lists("a", "b")
        new = here.process("a", "b")
        await here.lists("a", "b", streams=2)
        new.send_signal(signal.SIGKILL)
        await here.lists("a", "b")


@each_kubelet
@each_way
async def test_the_old_one_goes_on_when_the_new_one_is_taken_back(
    profile: Profile, registration: str
) -> None:
    """An update that is rolled back."""
    async with grounds(profile, registration) as here:
        here.instance("a", "b", timing=AT_ONCE_STEADY)
        await here.lists("a", "b")
        new = here.instance("a", "b")
        await here.lists("a", "b", streams=2)
        await new.stop()
        await here.lists("a", "b")


@each_kubelet
@pytest.mark.parametrize(
    ("one", "other"),
    [("register", "watcher"), ("watcher", "register"), ("auto", "watcher")],
)
async def test_the_old_one_goes_on_when_a_new_one_on_another_way_is_taken_back(
    profile: Profile, one: str, other: str
) -> None:
    """What the new one alone had is gone with it."""
    async with grounds(profile, one) as here:
        here.instance("a", "b", timing=AT_ONCE_STEADY)
        await here.lists("a", "b")
        new = here.instance("a", "b", "c", registration=other)
        await here.lists("a", "b", "c", streams=2)
        await new.stop()
        await here.lists("a", "b")


@each_kubelet
@each_way
async def test_the_old_one_goes_on_after_one_that_came_and_went_while_it_stood_still(
    profile: Profile, registration: str
) -> None:
    """A process may be: its cgroup is throttled, or frozen."""
    async with grounds(profile, registration) as here:
        old = here.process("a", "b")
        await here.lists("a", "b")
        await asyncio.sleep(0.6)  # until it is steady: then it looks seldom
        old.send_signal(signal.SIGSTOP)
        new = here.instance("c")
        await here.has("c")
        await new.stop()
        old.send_signal(signal.SIGCONT)
        await here.lists("a", "b")


async def test_with_1_37_there_are_devices_all_the_time() -> None:
    """From the new one's first list on, whoever goes."""
    async with grounds(Profile.V1_37, "register") as here:
        old = here.instance("a", "b")
        await here.lists("a", "b")
        here.instance("a", "b")
        await here.lists("a", "b", streams=2)
        least = 2
        stopping = asyncio.create_task(old.stop())
        while not stopping.done():
            least = min(least, here.kubelet.resource("example.com/widget").allocatable)
            await asyncio.sleep(0)
        await here.lists("a", "b")
        assert least == 2
        assert len(here.kubelet.history.of(StreamOpened)) == 2


@each_kubelet
async def test_ten_updates_in_a_row_end_with_the_last_one(profile: Profile) -> None:
    async with grounds(profile, "register") as here:
        last = here.instance("a")
        await here.lists("a")
        for number in range(10):
            new = here.instance("a", f"b{number}")
            await here.has(f"b{number}")
            await last.stop()
            await here.lists("a", f"b{number}")
            last = new
        await here.has_sockets(1)
