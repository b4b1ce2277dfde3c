"""Another configuration for a plugin that serves: what is the same in both notices nothing."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs
from tests.support.stage import beside

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.settings import Configuration, Settings
from deviceplugin.domain.configuration_events import ConfigurationReloaded
from deviceplugin.domain.discovery.events import DeviceDisputed
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import Companion, Provision, Relation
from deviceplugin.domain.events import ScanFailed
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
from deviceplugin.testing.rules import alternative, rule
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


async def test_a_conflict_that_is_an_error_concerns_no_other_device(
    tmp_path: Path, profile: Profile
) -> None:
    """It is nobody's until the rules are mended, and then somebody's at once."""
    async with _stage(tmp_path, profile, A, B) as stage, _serving(stage):
        await stage.lists("a", "b")
        rival = attrs.evolve(C, match=A.match)
        strict = attrs.evolve(stage.settings, on_conflict="error")
        stage.manager.reload(attrs.evolve(stage.configuration(A, B, rival), settings=strict))
        await asyncio.wait_for(stage.journal.next(DeviceDisputed), SOON)
        await stage.sees("a", lambda seen: seen.allocatable == 0)
        await stage.lists("b")
        stage.manager.reload(attrs.evolve(stage.configuration(A, B, C), settings=strict))
        await stage.lists("a", "b", "c")
        assert stage.journal.of(ScanFailed) == ()


def _has(count: int, seen: ResourceView) -> bool:
    return seen.allocatable == count


def _listed(seen: ResourceView) -> dict[str, bool]:
    """Return whether each device that is listed is healthy."""
    return {name: device.healthy for name, device in seen.devices.items()}


async def _admitted(stage: Stage, name: str) -> str:
    """Let a pod have one device of a resource; return its id."""
    pod = Pod.asking("p", {f"example.com/{name}": 1})
    verdict = await beside(partial(stage.kubelet.admit, pod))
    assert not isinstance(verdict, PodRejected)
    (held,) = stage.kubelet.resource(f"example.com/{name}").allocated
    return held


def _providing(changed: ResourceRule, **provision: Any) -> ResourceRule:  # noqa: ANN401 - its fields
    return attrs.evolve(changed, provision=Provision(**provision))


async def test_another_count_is_another_list_of_the_same_stream(
    tmp_path: Path, profile: Profile
) -> None:
    """More units, fewer, and one alone; what a pod holds stays listed, and is had again.

    While a pod has a share, the device is given to nobody alone.
    """
    async with _stage(tmp_path, profile, A, B) as stage, _serving(stage):
        await stage.lists("a", "b")
        before = stage.traffic("a"), stage.traffic("b")
        stage.manager.reload(stage.configuration(_providing(A, count=3), B))
        three = {f"null::{number}": True for number in range(3)}
        await stage.sees("a", lambda seen: _listed(seen).items() >= three.items())
        held = await _admitted(stage, "a")
        assert held in three
        stage.manager.reload(stage.configuration(A, B))
        seen = await stage.sees("a", lambda seen: not any(_listed(seen).values()))
        assert held in seen.devices
        stage.manager.reload(stage.configuration(_providing(A, count=3), B))
        seen = await stage.sees("a", lambda seen: _listed(seen).items() >= three.items())
        assert held in seen.allocated
        registers, streams, _, ends = before[0]
        after = stage.traffic("a")
        assert (after[0], after[1], after[3]) == (registers, streams, ends)
        assert stage.traffic("b") == before[1]


async def test_another_limit_is_another_list_of_the_same_stream(
    tmp_path: Path, profile: Profile
) -> None:
    """What is beyond it is offered no more; what a pod holds stays offered, and stays listed."""
    every = attrs.evolve(A, match=rule("example.com/a", {"subsystem": "mem"}).match)
    async with _stage(tmp_path, profile, every) as stage, _serving(stage):
        await stage.sees("a", lambda seen: seen.allocatable == 3)
        before = stage.traffic("a")
        held = await _admitted(stage, "a")
        for limit in (2, 1):
            limited = _providing(every, limit=limit)
            stage.manager.reload(stage.configuration(limited))
            seen = await stage.sees("a", partial(_has, limit))
            assert held in seen.devices
        stage.manager.reload(stage.configuration(every))
        seen = await stage.sees("a", lambda seen: seen.allocatable == 3)
        assert seen.devices[held].healthy
        after = stage.traffic("a")
        assert (after[0], after[1], after[3]) == (before[0], before[1], before[3])


async def test_what_comes_along_changes_for_the_next_pod(tmp_path: Path, profile: Profile) -> None:
    """Without a list if all is there; with one, Unhealthy, while something that should lacks."""
    along = partial(Companion, relation=Relation.DEVICE)
    zero = _providing(A, companions=(along(wanted=B.match[0]),))
    lacking = _providing(A, companions=(along(wanted=alternative({"name": "none"})),))
    async with _stage(tmp_path, profile, A) as stage, _serving(stage):
        await stage.lists("a")
        before = stage.traffic("a")
        stage.manager.reload(stage.configuration(zero))
        paths: list[str] = []
        while len(paths) < 2:
            pod = Pod.asking("p", {"example.com/a": 1})
            verdict = await beside(partial(stage.kubelet.admit, pod))
            assert not isinstance(verdict, PodRejected)
            paths = [each.host_path for each in verdict.containers["main"].answer.devices]
            await beside(partial(stage.kubelet.remove, pod))
        assert paths == ["/dev/null", "/dev/zero"]
        assert stage.traffic("a") == before
        held = await _admitted(stage, "a")
        stage.manager.reload(stage.configuration(lacking))
        seen = await stage.sees("a", lambda seen: seen.allocatable == 0)
        assert _listed(seen) == {held: False}
        stage.manager.reload(stage.configuration(A))
        await stage.lists("a")
        registers, streams, lists, ends = before
        assert stage.traffic("a") == (registers, streams, lists + 2, ends)
