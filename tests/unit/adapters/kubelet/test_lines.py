"""Who calls one kubelet at the same time shares a connection, and nobody else does."""

import asyncio

import grpc.aio
import pytest

from deviceplugin.adapters.kubelet.lines import Lines


class _Dialling:
    """Counts the channels that it opens: to nobody, which nothing here needs."""

    def __init__(self) -> None:
        self.opened: list[grpc.aio.Channel] = []

    def __call__(self) -> grpc.aio.Channel:
        self.opened.append(grpc.aio.insecure_channel("unix:nobody.sock"))
        return self.opened[-1]

    def closed(self) -> bool:
        """Say whether the last channel is closed."""
        return self.opened[-1].get_state() is grpc.ChannelConnectivity.SHUTDOWN


async def test_calls_at_one_time_share_a_channel_that_the_last_one_closes() -> None:
    dial = _Dialling()
    lines = Lines(dial)
    async with lines.to("a") as one:
        async with lines.to("a") as other:
            assert one is other
        assert not dial.closed()
    assert dial.closed()
    assert len(dial.opened) == 1


async def test_a_call_that_comes_after_the_last_one_has_a_new_channel() -> None:
    dial = _Dialling()
    lines = Lines(dial)
    for _ in range(2):
        async with lines.to("a"):
            pass
    assert len(dial.opened) == 2


async def test_the_next_kubelet_at_a_socket_is_called_on_a_channel_of_its_own() -> None:
    dial = _Dialling()
    lines = Lines(dial)
    async with lines.to("a") as old, lines.to("b") as new:
        assert old is not new
    assert dial.closed()


@pytest.mark.parametrize("fault", [RuntimeError, asyncio.CancelledError])
async def test_who_comes_after_a_failure_has_a_new_channel_and_who_is_on_the_old_keeps_it(
    fault: type[BaseException],
) -> None:
    dial = _Dialling()
    lines = Lines(dial)
    async with lines.to("a") as old:
        with pytest.raises(fault):
            async with lines.to("a"):
                raise fault
        async with lines.to("a") as new:
            assert new is not old
        assert dial.closed()
        assert old.get_state() is not grpc.ChannelConnectivity.SHUTDOWN
    assert old.get_state() is grpc.ChannelConnectivity.SHUTDOWN
