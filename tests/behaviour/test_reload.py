"""Another configuration for a plugin that serves: what is the same in both notices nothing."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import attrs
from tests.support.stage import beside

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.settings import Configuration, Settings
from deviceplugin.domain.configuration_events import ConfigurationReloaded
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.events import ScanFailed, ScanRecovered
from deviceplugin.testing.contracts.law import eventually
from deviceplugin.testing.kubelet import (
    FakeKubelet,
    ListReceived,
    Pod,
    PodRejected,
    Profile,
    RegisterAsked,
    ResourceView,
    StreamEnded,
    StreamOpened,
)
from deviceplugin.testing.rules import rule
from deviceplugin.testing.sysfs import FakeSysfs

A: Final = rule("example.com/a", {"subsystem": "mem", "name": "null"})
B: Final = rule("example.com/b", {"subsystem": "mem", "name": "zero"})
C: Final = rule("example.com/c", {"subsystem": "mem", "name": "full"})
SOON: Final = 10.0


@attrs.frozen(kw_only=True)
class Stage:
    """A machine with three devices, a plugin made of a configuration, and a kubelet."""

    manager: Manager
    kubelet: FakeKubelet
    journal: MemoryJournal
    settings: Settings

    def configuration(self, *rules: ResourceRule) -> Configuration:
        """Return what offers these, and is the same in all else."""
        return Configuration(settings=self.settings, rules=rules, source="a test")

    async def lists(self, *names: str) -> None:
        """Return once the kubelet has a healthy device of each of these."""
        for name in names:
            await self.sees(name, lambda seen: seen.streams == 1 and seen.allocatable == 1)

    async def sees(self, name: str, wanted: Callable[[ResourceView], bool]) -> ResourceView:
        """Return a resource once the kubelet sees it so."""
        full = f"example.com/{name}"
        return await beside(lambda: self.kubelet.await_resource(full, wanted, SOON))

    def traffic(self, name: str) -> tuple[int, ...]:
        """Return what a resource has cost: Registers, streams, lists, and streams that ended."""
        kinds = (RegisterAsked, StreamOpened, ListReceived, StreamEnded)
        return tuple(len(self.kubelet.history.of(kind, f"example.com/{name}")) for kind in kinds)


@asynccontextmanager
async def _stage(tmp_path: Path, profile: Profile, *rules: ResourceRule) -> AsyncGenerator[Stage]:
    hardware = FakeSysfs(tmp_path)
    for name, minor in (("null", 3), ("zero", 5), ("full", 7)):
        hardware.child(name, subsystem="mem", number=(1, minor))
    settings = Settings(
        plugin_dir=str(tmp_path / "plugins"),
        kubelet_root=str(tmp_path),
        sys_root=str(hardware.root),
        rescan_seconds="3600",
    )
    journal = MemoryJournal()
    begin = Configuration(settings=settings, rules=rules, source="a test")
    kubelet = FakeKubelet(tmp_path / "plugins", profile=profile)
    stage = Stage(
        manager=Manager.configured(begin, journal=journal),
        kubelet=kubelet,
        journal=journal,
        settings=settings,
    )
    await beside(kubelet.start)
    try:
        yield stage
    finally:
        await beside(kubelet.stop)
    assert list((tmp_path / "plugins").glob("dp-*")) == []


@asynccontextmanager
async def _serving(stage: Stage) -> AsyncGenerator[None]:
    serving = asyncio.create_task(stage.manager.serve())
    try:
        yield
    finally:
        stage.manager.stop()
        await serving


async def test_only_what_differs_costs_the_kubelet_anything(
    tmp_path: Path, profile: Profile
) -> None:
    """One comes, one goes after a last list, one is changed in place, and one stays as it is."""
    async with _stage(tmp_path, profile, A, B) as stage, _serving(stage):
        await stage.lists("a", "b")
        before = stage.traffic("a"), stage.traffic("b")
        stage.manager.reload(stage.configuration(A, C))
        await stage.lists("c")
        gone = await stage.sees("b", lambda seen: seen.streams == 0)
        assert (gone.capacity, gone.allocatable) == (1, 0)
        assert stage.traffic("a") == before[0]
        registers, streams, lists, ends = before[1]
        assert stage.traffic("b") == (registers, streams, lists + 1, ends + 1)
        narrow = attrs.evolve(C, match=rule("example.com/c", {"name": "none"}).match)
        before = stage.traffic("a"), stage.traffic("c")
        stage.manager.reload(stage.configuration(A, narrow))
        await stage.sees("c", lambda seen: seen.allocatable == 0)
        registers, streams, lists, ends = before[1]
        assert stage.traffic("c") == (registers, streams, lists + 1, ends)
        assert stage.traffic("a") == before[0]
        assert len(stage.journal.of(ConfigurationReloaded)) == 2


async def test_what_a_container_gets_changes_without_a_list(
    tmp_path: Path, profile: Profile
) -> None:
    """Permissions are no part of a list: the next pod has the new ones."""
    async with _stage(tmp_path, profile, A) as stage, _serving(stage):
        await stage.lists("a")
        before = stage.traffic("a")
        stage.manager.reload(stage.configuration(attrs.evolve(A, permissions="r")))
        await stage.journal.next(ConfigurationReloaded)
        permissions = ""
        while permissions != "r":
            pod = Pod.asking("p", {"example.com/a": 1})
            verdict = await beside(partial(stage.kubelet.admit, pod))
            assert not isinstance(verdict, PodRejected)
            (node,) = verdict.containers["main"].answer.devices
            permissions = node.permissions
            await beside(partial(stage.kubelet.remove, pod))
        assert stage.traffic("a") == before


async def test_a_device_that_a_pod_holds_stays_listed(tmp_path: Path, profile: Profile) -> None:
    """Whether its rule goes or just no longer matches; and is had again when the rule is back."""
    async with _stage(tmp_path, profile, A) as stage, _serving(stage):
        await stage.lists("a")
        pod = Pod.asking("p", {"example.com/a": 1})
        verdict = await beside(lambda: stage.kubelet.admit(pod))
        assert not isinstance(verdict, PodRejected)
        (held,) = (await stage.sees("a", lambda seen: bool(seen.devices))).devices
        narrow = attrs.evolve(A, match=B.match)
        stage.manager.reload(stage.configuration(narrow))
        seen = await stage.sees("a", lambda seen: len(seen.devices) == 2)
        assert not seen.devices[held].healthy
        stage.manager.reload(stage.configuration())
        seen = await stage.sees("a", lambda seen: seen.streams == 0)
        assert held in seen.devices
        stage.manager.reload(stage.configuration(A))
        seen = await stage.sees("a", lambda seen: seen.streams == 1 and seen.allocatable == 1)
        assert seen.devices[held].healthy


async def test_a_change_at_the_moment_of_the_start_is_one_registration(
    tmp_path: Path, profile: Profile
) -> None:
    """Before it serves, as it begins to, and from another thread: one server, one socket."""
    async with _stage(tmp_path, profile, A, B) as stage:
        stage.manager.reload(stage.configuration(A, B, C))
        async with _serving(stage):
            stage.manager.reload(stage.configuration(B, C))
            await asyncio.sleep(0)
            stage.manager.reload(stage.configuration(C, A))
            call = stage.manager.reload
            thread = threading.Thread(target=call, args=[stage.configuration(A, C)])
            thread.start()
            await beside(thread.join)
            await stage.lists("a", "c")
            assert stage.traffic("a")[:2] == stage.traffic("c")[:2] == (1, 1)
            await eventually(lambda: len(list((tmp_path / "plugins").glob("dp-*.sock"))) == 2)


async def test_another_policy_registers_once_more(tmp_path: Path, profile: Profile) -> None:
    """With the devices that were there, and nothing of the other resource."""
    async with _stage(tmp_path, profile, A, B) as stage, _serving(stage):
        await stage.lists("a", "b")
        before = stage.traffic("a"), stage.traffic("b")
        for policy in ("packed", "none"):
            changed = attrs.evolve(A, allocation_policy=policy)
            stage.manager.reload(stage.configuration(changed, B))
            await stage.sees("a", partial(_offers, policy == "packed"))
            await stage.lists("a")
        assert stage.traffic("a")[0] == before[0][0] + 2
        assert stage.traffic("b") == before[1]


def _offers(wanted: object, seen: ResourceView) -> bool:
    return seen.options is not None and seen.options.preferred == wanted


async def test_after_its_end_a_change_is_no_fault(tmp_path: Path, profile: Profile) -> None:
    async with _stage(tmp_path, profile, A) as stage:
        async with _serving(stage):
            await stage.lists("a")
        stage.manager.reload(stage.configuration(B))
        await asyncio.sleep(0.01)
        assert stage.traffic("b") == (0, 0, 0, 0)


async def test_a_conflict_that_is_mended_is_over_at_once(tmp_path: Path, profile: Profile) -> None:
    """Though looks that fail are tried ever more seldom."""
    async with _stage(tmp_path, profile, A) as stage, _serving(stage):
        await stage.lists("a")
        rival = attrs.evolve(B, match=A.match)
        strict = attrs.evolve(stage.settings, on_conflict="error")
        stage.manager.reload(attrs.evolve(stage.configuration(A, rival), settings=strict))
        for _ in range(4):
            await asyncio.wait_for(stage.journal.next(ScanFailed), SOON)
        stage.manager.reload(attrs.evolve(stage.configuration(A, B), settings=strict))
        await asyncio.wait_for(stage.journal.next(ScanRecovered), SOON)
        await stage.lists("a", "b")
        assert len(stage.journal.of(ScanFailed)) == 4
