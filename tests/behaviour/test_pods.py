"""What pods get, and that nothing of ours fails one that could have run."""

import asyncio
from typing import cast

import grpc
import grpc.aio
import pytest
from tests.support.stage import WIDGET, Puppet, Raise, Stage, beside

from deviceplugin import (
    DeviceId,
    DeviceInfo,
    DeviceNode,
    Grant,
    Health,
    Mount,
    Request,
    ResourceName,
    Wish,
)
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub
from deviceplugin.domain.events import AllocationFailed, PreferenceFailed
from deviceplugin.domain.tree import Devices
from deviceplugin.testing.kubelet import (
    AllocateAsked,
    Container,
    ContainerStartError,
    Pod,
    PodAdmitted,
    PodRejected,
    PreferenceAsked,
)


def _node(name: str) -> DeviceInfo:
    return DeviceInfo(
        nodes=[DeviceNode(f"/dev/{name}")],
        mounts=[Mount(f"/lib/{name}")],
        envs={name.upper(): "1"},
        annotations={f"example.com/{name}": "1"},
    )


async def _admitted(on: Stage, pod: Pod) -> PodAdmitted:
    verdict = await beside(lambda: on.kubelet.admit(pod))
    assert isinstance(verdict, PodAdmitted), verdict
    return verdict


async def _rejected(on: Stage, pod: Pod) -> str:
    verdict = await beside(lambda: on.kubelet.admit(pod))
    assert isinstance(verdict, PodRejected), verdict
    return verdict.message


async def test_a_container_gets_all_that_its_devices_bring(stage: Raise) -> None:
    """Nodes, mounts, variables and annotations of each of three devices arrive."""
    async with stage() as on:
        on.puppet.show(widget={name: _node(name) for name in "abc"})
        await on.lists("a", "b", "c")
        answer = (await _admitted(on, Pod.asking("p", {WIDGET: 3}))).containers["main"].answer
        assert {node.host_path for node in answer.devices} == {"/dev/a", "/dev/b", "/dev/c"}
        assert {mount.host_path for mount in answer.mounts} == {"/lib/a", "/lib/b", "/lib/c"}
        assert answer.envs == {"A": "1", "B": "1", "C": "1"}
        assert set(answer.annotations) == {"example.com/a", "example.com/b", "example.com/c"}


async def test_devices_may_be_allocated_again(stage: Raise) -> None:
    """An init container's devices go to the app container: the same answer, no "in use"."""
    async with stage() as on:
        on.puppet.show(widget={name: _node(name) for name in "abc"})
        await on.lists("a", "b", "c")
        init, main = Container("init", {WIDGET: 1}, init=True), Container("main", {WIDGET: 2})
        admitted = await _admitted(on, Pod("p", [init, main]))
        first, second = (admitted.containers[name] for name in ("init", "main"))
        assert first.ids[WIDGET] < second.ids[WIDGET]
        assert set(first.answer.devices) < set(second.answer.devices)


async def test_pods_get_devices_through_whatever_socket_we_have(stage: Raise) -> None:
    """Ours is removed, then the kubelet restarts: the same devices bring the same again."""
    async with stage() as on:
        on.puppet.show(widget={name: _node(name) for name in "abc"})
        await on.lists("a", "b", "c")
        answers: list[set[str]] = []
        for number in range(3):
            endpoint = str(on.kubelet.resource(WIDGET).endpoint)
            pod = Pod.asking(f"p{number}", {WIDGET: 3})
            answer = (await _admitted(on, pod)).containers["main"].answer
            answers.append({node.host_path for node in answer.devices})
            on.kubelet.remove(pod)
            if number:
                await beside(on.kubelet.restart)
            else:
                (on.kubelet.directory / endpoint).unlink()
            await on.renewed(endpoint)
            await on.lists("a", "b", "c")
        assert answers == [{"/dev/a", "/dev/b", "/dev/c"}] * 3


async def test_allocating_changes_no_list(stage: Raise) -> None:
    """A held device stays Healthy: the kubelet does the counting."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        await _admitted(on, Pod.asking("p", {WIDGET: 2}))
        on.puppet.show(widget="a b")
        await on.lists("a", "b")
        assert "Requested: 1, Available: 0" in await _rejected(on, Pod.asking("q", {WIDGET: 1}))


async def test_fifty_allocations_at_once_are_answered_by_their_ids(stage: Raise) -> None:
    """No answer depends on any other request."""
    async with stage() as on:
        on.puppet.show(widget={f"d{number}": _node(f"d{number}") for number in range(50)})
        await on.lists(*(f"d{number}" for number in range(50)))
        pods = [Pod.asking(f"p{number}", {WIDGET: 1}) for number in range(50)]
        for admitted in await asyncio.gather(*(_admitted(on, pod) for pod in pods)):
            grant = admitted.containers["main"]
            (name,) = grant.ids[WIDGET]
            assert [node.host_path for node in grant.answer.devices] == [f"/dev/{name}"]


@pytest.mark.parametrize(
    ("ids", "code", "text"),
    [
        (["b"], grpc.StatusCode.FAILED_PRECONDITION, "not healthy now: b"),
        (["z"], grpc.StatusCode.NOT_FOUND, "never advertised: z"),
        (["a", "b"], grpc.StatusCode.FAILED_PRECONDITION, "not healthy now: b"),
        (["a", "b", "z"], grpc.StatusCode.NOT_FOUND, "never advertised: z; not healthy now: b"),
    ],
)
async def test_a_device_that_cannot_be_had_is_refused_by_name(
    stage: Raise, ids: list[str], code: grpc.StatusCode, text: str
) -> None:
    """Ill, unknown or mixed with good ones: every such id is named, nothing is granted in part."""
    async with stage() as on:
        on.puppet.show(widget={"a": DeviceInfo(), "b": DeviceInfo(health=Health.UNHEALTHY)})
        await on.lists("a")
        (socket,) = on.sockets()
        request = wire.AllocateRequest(
            container_requests=[wire.ContainerAllocateRequest(devices_ids=ids)]
        )
        async with grpc.aio.insecure_channel(f"unix:{socket}") as channel:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await DevicePluginStub(channel).Allocate(request)
        assert refused.value.code() is code
        assert text in (refused.value.details() or "")
        assert on.journal.of(AllocationFailed)[-1].reason == refused.value.details()


async def test_a_clash_fails_the_pod_with_both_sides_named(stage: Raise) -> None:
    """Two devices that set one variable differently cannot share a container."""
    async with stage() as on:
        on.puppet.show(widget={name: DeviceInfo(envs={"WHICH": name}) for name in "ab"})
        await on.lists("a", "b")
        await _admitted(on, Pod.asking("p", {WIDGET: 1}))
        on.puppet.show(widget={name: DeviceInfo(envs={"WHICH": name}) for name in "abc"})
        await on.lists("a", "b", "c")
        reason = await _rejected(on, Pod.asking("q", {WIDGET: 2}))
        assert "environment variable 'WHICH' is wanted as" in reason


async def test_an_authors_allocator_decides(stage: Raise) -> None:
    """Plain code on a thread; None is the default; what it raises is the pod's reason."""

    class Author(Puppet):
        def allocate(self, request: Request) -> Grant | None:
            if len(request.devices) == 3:
                raise RuntimeError("no three at a time")
            return Grant(envs={"MINE": "yes"}) if len(request.devices) == 2 else None

    async with stage(author=Author()) as on:
        on.puppet.show(widget={name: _node(name) for name in "abcdef"})
        await on.lists(*"abcdef")
        one = await _admitted(on, Pod.asking("one", {WIDGET: 1}))
        assert len(one.containers["main"].answer.devices) == 1
        two = await _admitted(on, Pod.asking("two", {WIDGET: 2}))
        assert two.containers["main"].answer.envs == {"MINE": "yes"}
        assert "no three at a time" in await _rejected(on, Pod.asking("three", {WIDGET: 3}))


async def test_a_preference_is_followed(stage: Raise) -> None:
    """The kubelet is offered the call and gives what the policy prefers."""
    async with stage(allocation_policy="packed") as on:
        on.puppet.show(
            widget={
                f"{card}{unit}": DeviceInfo(parent=card) for card in "xyz" for unit in range(3)
            }
        )
        await on.sees(lambda seen: seen.allocatable == 9)
        admitted = await _admitted(on, Pod.asking("p", {WIDGET: 3}))
        assert len({name[0] for name in admitted.containers["main"].ids[WIDGET]}) == 1
        assert on.kubelet.history.of(PreferenceAsked)


async def test_a_preference_that_fails_fails_no_pod(stage: Raise) -> None:
    """The author's error becomes an empty preference, and is recorded."""

    class Author(Puppet):
        async def preferred_allocation(
            self, resource: ResourceName, wish: Wish, devices: Devices
        ) -> tuple[DeviceId, ...]:
            raise RuntimeError(f"no links between {len(devices)} devices of {resource}: {wish}")

    async with stage(author=Author()) as on:
        on.puppet.show(widget="a b c")
        await on.lists("a", "b", "c")
        await _admitted(on, Pod.asking("p", {WIDGET: 2}))
        assert "no links between 3" in on.journal.of(PreferenceFailed)[0].reason


async def test_without_powers_none_is_offered(stage: Raise) -> None:
    """Neither a preference nor a preparation is asked for."""
    async with stage() as on:
        on.puppet.show(widget="a b")
        seen = await on.lists("a", "b")
        assert seen.options is not None
        assert not seen.options.preferred
        assert not seen.options.pre_start


async def test_a_preparation_that_fails_delays_the_container(stage: Raise) -> None:
    """With the id in the reason; the next try goes on."""

    class Author(Puppet):
        ready = False

        def pre_start_container(self, request: Request) -> None:
            if not self.ready:
                raise RuntimeError(f"{', '.join(map(str, request.devices))} is still warming up")

    author = Author()
    async with stage(author=author) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        pod = Pod.asking("p", {WIDGET: 1})
        await _admitted(on, pod)
        with pytest.raises(ContainerStartError, match="a is still warming up"):
            await beside(lambda: on.kubelet.start_container(pod, "main"))
        author.ready = True
        await beside(lambda: on.kubelet.start_container(pod, "main"))


async def test_a_container_does_not_start_again_on_the_path_that_its_device_has_left(
    stage: Raise,
) -> None:
    """Plugged in again elsewhere: the kubelet hears id and paths, and a new pod gets it there."""

    class Author(Puppet):
        def pre_start_container(self, request: Request) -> None:
            del request

    async with stage(author=Author()) as on:
        on.puppet.show(widget={"a": _node("ttyUSB0")})
        await on.lists("a")
        pod, newer = (Pod.asking(name, {WIDGET: 1}) for name in ("p", "q"))
        await _admitted(on, pod)
        await beside(lambda: on.kubelet.start_container(pod, "main"))
        on.puppet.show(widget={})
        await on.lists()
        with pytest.raises(ContainerStartError, match=r"not healthy now: a \(/dev/ttyUSB0\)"):
            await beside(lambda: on.kubelet.start_container(pod, "main"))
        on.puppet.show(widget={"a": _node("ttyUSB1")})
        await on.lists("a")
        with pytest.raises(ContainerStartError, match="a was given as /dev/ttyUSB0 and is"):
            await beside(lambda: on.kubelet.start_container(pod, "main"))
        on.kubelet.remove(pod)
        await _admitted(on, newer)
        await beside(lambda: on.kubelet.start_container(newer, "main"))


async def test_an_author_that_hangs_holds_up_nobody_for_ever(stage: Raise) -> None:
    """While a call hangs, streams and other resources go on; stopping does not wait for it."""

    class Author(Puppet):
        async def allocate(self, request: Request) -> Grant | None:
            if request.resource.name == "stuck":
                await asyncio.Event().wait()
            return None

    async with stage(author=Author()) as on:
        on.puppet.show(stuck="s", widget="a")
        await on.lists("s", resource="example.com/stuck")
        await on.lists("a")
        hung = asyncio.ensure_future(
            beside(lambda: on.kubelet.admit(Pod.asking("p", {"example.com/stuck": 1})))
        )
        await on.sees(lambda _: bool(on.kubelet.history.of(AllocateAsked)))
        on.puppet.show(stuck="s", widget="a b")
        await on.lists("a", "b")
        on.manager.stop()
        await asyncio.wait_for(on.serving, 2)
        assert isinstance(await hung, PodRejected)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("bad \udcff"), "ValueError: bad"),
        (GeneratorExit(), "raised GeneratorExit"),
        (ValueError("x" * 100_000), "ValueError: xxx"),
    ],
    ids=["surrogate", "no-exception", "long"],
)
async def test_whatever_an_author_raises_is_an_answer(
    stage: Raise, error: BaseException, text: str
) -> None:
    """The kubelet sets no deadline: silence would stop every admission on the node."""

    class Author(Puppet):
        def allocate(self, request: Request) -> Grant | None:
            del request
            raise error

    async with stage(author=Author()) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        assert text in await asyncio.wait_for(_rejected(on, Pod.asking("p", {WIDGET: 1})), 5)


async def test_what_is_no_grant_is_told_as_such(stage: Raise) -> None:
    """The usual slip of an author's code is a forgotten return."""

    class Author(Puppet):
        def post_allocate(self, request: Request, grant: Grant) -> Grant:
            del request, grant
            return cast("Grant", None)

    async with stage(author=Author()) as on:
        on.puppet.show(widget="a")
        await on.lists("a")
        reason = await _rejected(on, Pod.asking("p", {WIDGET: 1}))
        assert "must return a Grant, not NoneType" in reason
