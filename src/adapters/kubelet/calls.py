"""Calls that we make, and may no longer want the answer of."""

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import grpc.aio

_Answer = TypeVar("_Answer")


async def answered(call: "grpc.aio.UnaryUnaryCall[Any, _Answer]") -> _Answer:
    """Return the answer of `call`; if we are cancelled, cancel it and wait until it has ended.

    Where grpc.aio is cancelled while it awaits an operation, it never frees what it had given to
    the operation: some two kilobytes of each Register that a restart interrupts. So it is not
    cancelled but its operation, which then ends as if the peer had ended it.
    """
    answer = asyncio.ensure_future(call)
    try:
        return await asyncio.shield(answer)
    except asyncio.CancelledError:
        _cancel_operation(call)
        await asyncio.wait({answer})
        if not answer.cancelled():
            answer.exception()
        raise
    finally:
        # An error knows this frame, and the answer that error: in a ring they would keep the
        # call, and with it the connection, until the next collection of garbage.
        del answer, call


def _cancel_operation(call: "grpc.aio.UnaryUnaryCall[Any, Any]") -> None:
    """Cancel as `call.cancel()` does in the first place: it goes on to cancel the waiting, too."""
    operation = getattr(call, "_cython_call", None)
    if operation is None:
        call.cancel()
    else:
        operation.cancel("no longer wanted")
