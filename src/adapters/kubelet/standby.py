"""gRPC's own machinery, kept up while there is nobody to serve."""

import asyncio

import grpc.aio


async def stand_by() -> None:
    """Keep gRPC up, for the next server to start at once. Does not return.

    While a process has neither server nor channel, grpc.aio ends its thread and gives back all it
    has: what comes next, as at a kubelet's restart, has to begin with that.
    """
    grpc.aio.init_grpc_aio()
    try:
        await asyncio.Event().wait()
    finally:
        grpc.aio.shutdown_grpc_aio()
