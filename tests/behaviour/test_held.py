"""What a container may hold stays listed, whoever restarts, until the kubelet says it is free."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import pytest
from tests.support.pod_resources import PodResources
from tests.support.stage import NAMESPACE, SOON, WIDGET, Puppet, beside

from deviceplugin import DeviceInfo, DeviceNode, Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.events import DevicesHeld, DevicesReleased, HoldersUnknown
from deviceplugin.domain.timing import Release, Timing
from deviceplugin.testing.contracts.law import eventually
from deviceplugin.testing.kubelet import (
    Container,
    FakeKubelet,
    ListReceived,
    Numa,
    NumaPolicy,
    Pod,
    PodAdmitted,
    PodRejected,
    Profile,
    ResourceView,
)

GADGET = f"{NAMESPACE}/gadget"
QUICK = Timing(release=Release(apart=0.02))
PLACED = DeviceInfo(nodes=[DeviceNode("/dev/null")], numa_nodes=[0])
Listed = Mapping[str, bool]
"""Whether each device is healthy, by its id."""


@pytest.fixture
def directory() -> Generator[Path]:
    """Return a plugin directory, of short name, below a kubelet's root."""
    with TemporaryDirectory(prefix="dp-") as root:
        yield Path(root, "device-plugins")


@asynccontextmanager
async def kubelet(
    directory: Path, profile: Profile, *, policy: NumaPolicy = NumaPolicy.NONE
) -> AsyncGenerator[FakeKubelet]:
    """Run a kubelet."""
    made = FakeKubelet(directory, profile=profile, numa=Numa(policy=policy, nodes=(0, 1)))
    await beside(made.start)
    try:
        yield made
    finally:
        await beside(made.stop)


@attrs.frozen
class Plugin:
    """A running plugin of the kubelet's."""

    kubelet: FakeKubelet
    puppet: Puppet
    journal: MemoryJournal

    async def lists(self, listed: Listed, resource: str = WIDGET) -> ResourceView:
        """Return the resource once the kubelet has just this list, by one stream."""

        def wanted(seen: ResourceView) -> bool:
            found = {key: device.healthy for key, device in seen.devices.items()}
            return seen.streams == 1 and found == listed

        return await beside(lambda: self.kubelet.await_resource(resource, wanted, SOON))

    async def offers(self, size: int, resource: str) -> None:
        """Return once the kubelet may give away this many devices."""
        wanted = partial(_offers, size)
        await beside(lambda: self.kubelet.await_resource(resource, wanted, SOON))

    async def released(self, *ids: str, resource: str = WIDGET) -> None:
        """Return once these were let go."""
        await eventually(
            lambda: any(
                event.devices == ids and str(event.resource) == resource
                for event in self.journal.of(DevicesReleased)
            )
        )


def _offers(size: int, seen: ResourceView) -> bool:
    return seen.allocatable == size


@asynccontextmanager
async def plugin(
    kubelet: FakeKubelet, root: Path | None = None, /, **types: Mapping[str, DeviceInfo] | str
) -> AsyncGenerator[Plugin]:
    """Run a plugin that finds these devices, until the end of the context.

    It looks for pod resources below `root`, by default the kubelet's.
    """
    puppet, journal = Puppet(), MemoryJournal()
    manager = Manager(
        NAMESPACE,
        puppet,
        plugin_dir=str(kubelet.directory),
        kubelet_root=str(root) if root else None,
        journal=journal,
        timing=QUICK,
    )
    puppet.show(**types)
    serving = asyncio.create_task(manager.serve())
    try:
        yield Plugin(kubelet, puppet, journal)
    finally:
        manager.stop()
        await serving


async def a_pod_holds(
    kubelet: FakeKubelet, wants: Mapping[str, int], **types: Mapping[str, DeviceInfo] | str
) -> Pod:
    """Let a pod get all devices that a plugin has, and the plugin end; return the pod."""
    pod = Pod.asking("holding", wants)
    async with plugin(kubelet, **types) as running:
        for resource, size in wants.items():
            await running.offers(size, resource)
        assert isinstance(await beside(lambda: kubelet.admit(pod)), PodAdmitted)
        assert running.journal.of(DevicesHeld) == ()
    return pod


async def rewrite_checkpoint(kubelet: FakeKubelet, resource: str = WIDGET) -> None:
    """Let the kubelet write down what is held now: it does when something is allocated."""
    other = Pod.asking("other", {resource: 1})
    assert isinstance(await beside(lambda: kubelet.admit(other)), PodAdmitted)


@pytest.mark.parametrize(
    "profile",
    [Profile.V1_28, Profile.V1_34, Profile.V1_36, Profile.V1_37],
    ids=lambda profile: profile.version,
)
@pytest.mark.parametrize("kubelet_restarts", [False, True], ids=["alone", "together"])
@pytest.mark.parametrize("heard", [True, False], ids=["heard", "unheard"])
async def test_a_plugin_that_restarts_lists_what_a_pod_holds_from_its_first_list_on(
    directory: Path,
    profile: Profile,
    kubelet_restarts: bool,  # noqa: FBT001
    heard: bool,  # noqa: FBT001
) -> None:
    """Unhealthy, where it was given out; the kubelet that judges the pod again lives.

    Whether the kubelet was there to be asked, starts at the same time, or does not yet know its
    pods: then its checkpoint tells.
    """
    async with kubelet(directory, profile, policy=NumaPolicy.RESTRICTED) as node:
        pod = await a_pod_holds(node, {WIDGET: 1}, widget={"a": PLACED})
        if kubelet_restarts:
            await beside(node.stop)
        node.faults.pods_unheard = 0.0 if heard else 60.0
        before = len(node.history.of(ListReceived))
        async with plugin(node, widget={"b": PLACED}) as running:
            if kubelet_restarts:
                await beside(node.start)
            seen = await running.lists({"a": False, "b": True})
            assert seen.devices["a"].nodes == (0,)
            assert [each.devices for each in node.history.of(ListReceived)[before:]] == [2]
            await beside(lambda: node.admit(pod))
            assert node.running
            (held,) = running.journal.of(DevicesHeld)
            assert held.devices == ("a",)


async def test_one_of_which_only_the_id_is_known_goes_to_no_pod(
    directory: Path, profile: Profile
) -> None:
    async with kubelet(directory, profile) as node:
        await a_pod_holds(node, {WIDGET: 1}, widget="a")
        async with plugin(node, widget="b") as running:
            await running.lists({"a": False, "b": True})
            verdict = await beside(lambda: node.admit(Pod.asking("two", {WIDGET: 2})))
            assert isinstance(verdict, PodRejected)
            assert "requested number of devices unavailable" in verdict.message


async def test_one_that_comes_back_is_as_it_is_found(directory: Path, profile: Profile) -> None:
    """And the pod that holds it can be admitted again."""
    async with kubelet(directory, profile) as node:
        pod = await a_pod_holds(node, {WIDGET: 1}, widget={"a": PLACED})
        async with plugin(node, widget="") as running:
            await running.lists({"a": False})
            running.puppet.show(widget={"a": PLACED})
            seen = await running.lists({"a": True})
            assert seen.devices["a"].nodes == (0,)
            assert isinstance(await beside(lambda: node.admit(pod)), PodAdmitted)


async def test_what_is_held_is_let_go_only_when_the_kubelet_says_twice_that_nobody_holds_it(
    directory: Path, profile: Profile
) -> None:
    """Another one that vanished shows that looks are taken: it goes, while the held one stays.

    So it is after the pod is gone, for as long as the kubelet's checkpoint has it.
    """
    async with kubelet(directory, profile) as node:
        pod = await a_pod_holds(node, {WIDGET: 1}, widget="a")
        async with plugin(node, widget="b c d") as running:
            await running.lists({"a": False, "b": True, "c": True, "d": True})
            running.puppet.show(widget="b d")
            await running.released("c")
            node.remove(pod)
            running.puppet.show(widget="b")
            await running.released("d")
            await running.lists({"a": False, "b": True})
            await rewrite_checkpoint(node)
            await running.released("a")
            await running.lists({"b": True})


async def test_what_an_init_container_holds_is_held_though_the_kubelets_list_leaves_it_out(
    directory: Path, profile: Profile
) -> None:
    """It has ended, and the pod keeps what the other containers did not take over."""
    containers = [
        Container("init", {WIDGET: 2}, init=True),
        Container("main", {WIDGET: 1}),
    ]
    async with kubelet(directory, profile) as node:
        async with plugin(node, widget="a b") as running:
            await running.lists({"a": True, "b": True})
            verdict = await beside(lambda: node.admit(Pod("p", containers)))
            assert isinstance(verdict, PodAdmitted)
        async with plugin(node, widget="c") as running:
            await running.lists({"a": False, "b": False, "c": True})
            running.puppet.show(widget="")
            await running.released("c")
            await running.lists({"a": False, "b": False})


async def test_without_pod_resources_all_is_kept_for_ever(
    directory: Path, profile: Profile, tmp_path: Path
) -> None:
    """The pod is gone and the kubelet has written so: this process listed it, so it stays."""
    async with kubelet(directory, profile) as node:
        pod = await a_pod_holds(node, {WIDGET: 1}, widget="a")
        async with plugin(node, tmp_path / "elsewhere", widget="b c") as running:
            await running.lists({"a": False, "b": True, "c": True})
            node.remove(pod)
            running.puppet.show(widget="b")
            await running.lists({"a": False, "b": True, "c": False})
            await rewrite_checkpoint(node)
            for _ in range(3):
                await beside(node.restart)
                await running.lists({"a": False, "b": True, "c": False})
            assert running.journal.of(DevicesReleased) == ()
            (unknown,) = running.journal.of(HoldersUnknown)
            assert str(tmp_path / "elsewhere" / "pod-resources") in unknown.reason


@pytest.mark.parametrize(
    "content",
    [b"", b"\0\xff", b"{", b"[" * 100_000, b"null", b'{"Data":{"PodDeviceEntries":[7,{}]}}'],
    ids=["empty", "bytes", "brace", "deep", "null", "odd"],
)
async def test_a_checkpoint_of_any_content_is_harmless(
    directory: Path, profile: Profile, content: bytes
) -> None:
    """What was found is advertised, and what the kubelet itself says is held is kept."""
    async with kubelet(directory, profile) as node:
        await a_pod_holds(node, {WIDGET: 1}, widget="a")
        (directory / "kubelet_internal_checkpoint").write_bytes(content)
        async with plugin(node, widget="b") as running:
            await running.lists({"a": False, "b": True})


@asynccontextmanager
async def pod_resources(root: Path) -> AsyncGenerator[PodResources]:
    """Serve pod resources that a test makes up."""
    server = PodResources(root)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


async def test_looks_that_disagree_keep_a_device(
    directory: Path, profile: Profile, tmp_path: Path
) -> None:
    """Every other look finds a holder; when that ends the device goes."""
    async with kubelet(directory, profile) as node, pod_resources(tmp_path / "root") as server:
        held = asyncio.Event()
        held.set()

        async def every_other(call: int) -> None:
            server.free(WIDGET, "a")
            if held.is_set() and call % 2:
                server.hold(WIDGET, "a")

        server.on_call = every_other
        async with plugin(node, tmp_path / "root", widget="a b") as running:
            await running.lists({"a": True, "b": True})
            running.puppet.show(widget="b")
            await eventually(lambda: server.calls >= 10)
            assert running.journal.of(DevicesReleased) == ()
            held.clear()
            await running.released("a")
            await running.lists({"b": True})


async def test_looks_at_two_kubelets_do_not_agree(
    directory: Path, profile: Profile, tmp_path: Path
) -> None:
    """One restarts after each look; when that ends the device goes."""
    async with kubelet(directory, profile) as node, pod_resources(tmp_path / "root") as server:
        restarts = 5

        async def restart(call: int) -> None:
            if 1 < call <= 1 + restarts:
                await beside(node.restart)

        server.on_call = restart
        async with plugin(node, tmp_path / "root", widget="a b") as running:
            await running.lists({"a": True, "b": True})
            running.puppet.show(widget="b")
            await running.released("a")
            assert server.calls >= 1 + restarts + 2
            await running.lists({"b": True})


async def test_the_same_id_of_another_resource_is_another_device(
    directory: Path, profile: Profile
) -> None:
    """Held as a gadget, it is kept as a gadget, and the widget of its name is let go."""
    async with kubelet(directory, profile) as node:
        await a_pod_holds(node, {GADGET: 1}, gadget="a")
        async with plugin(node, gadget="", widget="a b") as running:
            await running.lists({"a": True, "b": True})
            await running.lists({"a": False}, GADGET)
            running.puppet.show(gadget="", widget="b")
            await running.released("a")
            await running.lists({"b": True})
            await running.lists({"a": False}, GADGET)


async def test_a_hundred_resources_ask_a_kubelet_once(directory: Path, profile: Profile) -> None:
    """It answers ten callers at once and refuses the rest; none of ours is refused."""
    types = {f"type{number}": "a" for number in range(100)}
    wants = {f"{NAMESPACE}/{name}": 1 for name in types}
    async with kubelet(directory, profile) as node:
        await a_pod_holds(node, wants, **types)
        (directory / "kubelet_internal_checkpoint").unlink()
        async with plugin(node, **dict.fromkeys(types, "b")) as running:
            for resource in wants:
                await running.lists({"a": False, "b": True}, resource)
            assert running.journal.of(HoldersUnknown) == ()
