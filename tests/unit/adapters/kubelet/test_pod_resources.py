"""Asking a kubelet who holds what: one call for all, within its limits, and an error is an answer.

The laws that hold for each source are in `deviceplugin.testing.contracts.holders`.
"""

import asyncio
import socket
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
from tests.support.pod_resources import PodResources

from deviceplugin.adapters.kubelet.held import MAX_ENTRIES
from deviceplugin.adapters.kubelet.pod_resources import (
    INTERVAL,
    MAX_ANSWER,
    SOCKET,
    PodResourcesHolders,
)
from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.adapters.system.worker import ThreadWorker
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import HoldersUnknownError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.retention import Holdings
from deviceplugin.domain.room import MAX_HELD_BYTES

NAMES = [ResourceName("example.com", f"widget{number}") for number in range(100)]
WIDGET = NAMES[0]

_Result = TypeVar("_Result")


@asynccontextmanager
async def kubelet(root: Path) -> AsyncGenerator[PodResources]:
    """Serve pod resources below a root."""
    server = PodResources(root)
    await server.start()
    try:
        yield server
    finally:
        server.may_answer.set()
        await server.stop()


def source(root: Path, clock: ManualClock | None = None) -> PodResourcesHolders:
    """Return the source under test."""
    return PodResourcesHolders(
        str(root), worker=InlineWorker(), clock=clock or ManualClock(), seconds=60.0
    )


async def test_one_call_answers_for_all_resources_that_ask_at_once(tmp_path: Path) -> None:
    """A plugin that starts with a hundred is far from the kubelet's limit."""
    async with kubelet(tmp_path) as server:
        for name in NAMES:
            server.hold(str(name), name.name)
        holders = source(tmp_path)
        answers = await asyncio.gather(*(holders.holders(name) for name in NAMES))
        assert [dict(answer.held) for answer in answers] == [
            {DeviceId(name.name): ()} for name in NAMES
        ]
        assert server.calls == 1


async def test_a_refusal_is_shared_as_an_answer_is(tmp_path: Path) -> None:
    async with kubelet(tmp_path) as server:
        server.refusal = (grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")
        holders = source(tmp_path)
        for failure in await asyncio.gather(
            *(holders.holders(name) for name in NAMES), return_exceptions=True
        ):
            assert isinstance(failure, HoldersUnknownError)
            assert "rejected by rate limit" in str(failure)
        assert server.calls == 1


@pytest.mark.parametrize(
    ("code", "text", "told"),
    [
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit", "rejected by rate limit"),
        (grpc.StatusCode.UNIMPLEMENTED, "unknown service", "Kubernetes 1.20 or later"),
        (grpc.StatusCode.UNKNOWN, "not yet", "not yet"),
        (grpc.StatusCode.UNAVAILABLE, "", "UNAVAILABLE"),
    ],
    ids=lambda value: value.name if isinstance(value, grpc.StatusCode) else None,
)
async def test_a_refusal_is_told_with_the_path_and_the_reason(
    tmp_path: Path, code: grpc.StatusCode, text: str, told: str
) -> None:
    async with kubelet(tmp_path) as server:
        server.refusal = (code, text)
        await assert_unknown(source(tmp_path).holders(WIDGET), str(tmp_path / SOCKET), told)


async def test_the_entries_of_a_device_name_its_nodes(tmp_path: Path) -> None:
    """A kubelet makes one for each node."""
    async with kubelet(tmp_path) as server:
        server.nodes = (1, 0)
        server.hold(str(WIDGET), "a")
        assert (await source(tmp_path).holders(WIDGET)).held == {DeviceId("a"): (0, 1)}


async def test_an_answer_may_be_large_but_not_of_any_size(tmp_path: Path) -> None:
    """Above the four megabytes that gRPC takes by default, up to sixteen."""
    ids = [f"{number:063}" for number in range(6_000)]
    held = dict.fromkeys(map(DeviceId, ids), ())
    async with kubelet(tmp_path) as server:
        for name in NAMES[:10]:
            server.hold(str(name), *ids)
        clock = ManualClock()
        holders = source(tmp_path, clock)
        answers = await asyncio.gather(*map(holders.holders, NAMES[:10]))
        assert answers == [Holdings(held=held, complete=True)] * 10
        server.hold(str(WIDGET), "x" * MAX_ANSWER)
        await clock.advance(INTERVAL)
        await assert_unknown(holders.holders(WIDGET), "larger than max")


async def test_who_leaves_something_out_does_not_know_everything(tmp_path: Path) -> None:
    """What had no room is not free for that: nothing may be let go by such an answer."""
    async with kubelet(tmp_path) as server:
        server.hold(str(WIDGET), "a", "x" * MAX_HELD_BYTES)
        answer = await source(tmp_path).holders(WIDGET)
        assert answer == Holdings(held={DeviceId("a"): ()}, left_out=1)


async def test_an_answer_that_names_too_much_is_not_read_to_its_end(tmp_path: Path) -> None:
    async with kubelet(tmp_path) as server:
        server.hold(str(WIDGET), *map(str, range(MAX_ENTRIES + 1)))
        told = f"{tmp_path / SOCKET}: names more than {MAX_ENTRIES} devices"
        await assert_unknown(source(tmp_path).holders(WIDGET), told)


async def test_an_answer_is_made_out_beside_the_loop(tmp_path: Path) -> None:
    """It may be a long one."""
    threads: list[threading.Thread] = []

    class Watched(ThreadWorker):
        async def run(self, call: Callable[[], _Result]) -> _Result:
            def watched() -> _Result:
                threads.append(threading.current_thread())
                return call()

            return await super().run(watched)

    async with kubelet(tmp_path) as server:
        server.hold(str(WIDGET), "a")
        holders = PodResourcesHolders(
            str(tmp_path), worker=Watched(), clock=ManualClock(), seconds=60.0
        )
        assert (await holders.holders(WIDGET)).held == {DeviceId("a"): ()}
    assert threads
    assert threading.current_thread() not in threads


async def test_silence_is_bounded(tmp_path: Path) -> None:
    async with kubelet(tmp_path) as server:
        server.may_answer.clear()
        holders = PodResourcesHolders(
            str(tmp_path), worker=InlineWorker(), clock=ManualClock(), seconds=0.05
        )
        await assert_unknown(holders.holders(WIDGET), r"no answer within 0.05 s")


async def test_where_no_kubelet_is_the_way_out_is_told(tmp_path: Path) -> None:
    """No file, a file, the socket of a dead kubelet."""
    path = tmp_path / SOCKET
    hint = "; is the kubelet's root mounted here? kubelet_root (--kubelet-root) names another one"
    await assert_unknown(
        source(tmp_path).holders(WIDGET), f"{path}: No such file or directory{hint}"
    )
    path.parent.mkdir()
    path.touch()
    await assert_unknown(source(tmp_path).holders(WIDGET), f"{path}: Connection refused{hint}")
    path.unlink()
    _leave_dead(path)
    await assert_unknown(source(tmp_path).holders(WIDGET), f"{path}: Connection refused{hint}")


async def test_who_is_no_grpc_server_is_told_too(tmp_path: Path) -> None:
    """Whatever listens there."""
    path = tmp_path / SOCKET
    path.parent.mkdir()

    async def rudely(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 no\r\n\r\n")
        writer.close()

    async with await asyncio.start_unix_server(rudely, path):
        await assert_unknown(source(tmp_path).holders(WIDGET), str(path))


async def test_a_path_too_long_for_a_socket_is_measured(tmp_path: Path) -> None:
    root = tmp_path / ("x" * 90)
    length = len(str(root / SOCKET))
    await assert_unknown(source(root).holders(WIDGET), f"has {length} bytes, Linux allows 107")


async def test_the_one_character_that_grpc_cannot_take_is_told(tmp_path: Path) -> None:
    await assert_unknown(source(tmp_path / "a,b").holders(WIDGET), "no comma in a path")


async def test_a_path_may_have_characters_that_grpc_reads_otherwise(tmp_path: Path) -> None:
    """Such as those of a percent code."""
    root = tmp_path / "a%20b#c?d"
    async with kubelet_behind_a_link(tmp_path, root) as server:
        server.hold(str(WIDGET), "a")
        answer = await source(root).holders(WIDGET)
        assert answer.held == {DeviceId("a"): ()}


@asynccontextmanager
async def kubelet_behind_a_link(tmp_path: Path, root: Path) -> AsyncGenerator[PodResources]:
    """Serve pod resources below a plain root, to which `root` is a link."""
    root.symlink_to(tmp_path / "plain")  # noqa: ASYNC240 - it does not block
    async with kubelet(tmp_path / "plain") as server:
        yield server


async def assert_unknown(question: Awaitable[Holdings], *parts: str) -> None:
    """The question has no answer, and the reason has these parts."""
    with pytest.raises(HoldersUnknownError) as unknown:
        await question
    assert [part for part in parts if part not in str(unknown.value)] == []


def _leave_dead(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
