"""What is measured of a plugin at rest: each takes both in turns, in one run."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import grpc

from benchmarks.results import Result
from benchmarks.subject import Kind, Subject, subject
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub

_LOCAL = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))


@contextmanager
def pair(resources: int, kind: Kind) -> Generator[tuple[Subject, Subject]]:
    """Run the bare servers and ours, each with a kubelet of its own."""
    with subject("bare", resources, kind) as bare, subject("ours", resources, kind) as ours:
        yield bare, ours


@contextmanager
def _caller(socket: Path) -> Generator[DevicePluginStub]:
    with grpc.insecure_channel(f"unix:{socket}", options=_LOCAL) as channel:
        yield DevicePluginStub(channel)


def allocate(rounds: int = 40, calls: int = 100) -> Result:
    """Latency of Allocate for one device, median of all calls, in blocks taken in turns."""
    request = wire.AllocateRequest(
        container_requests=[wire.ContainerAllocateRequest(devices_ids=["dev0"])]
    )
    with (
        pair(1, Kind()) as (bare, ours),
        _caller(bare.endpoint()) as bare_caller,
        _caller(ours.endpoint()) as our_caller,
    ):
        if bare_caller.Allocate(request) != our_caller.Allocate(request):
            raise SystemExit("the two answer differently: the measure would mean nothing")
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(rounds):
            for caller, taken in zip((bare_caller, our_caller), times, strict=True):
                taken += [_timed(caller, request) for _ in range(calls)]
    return Result(
        name="Allocate, one device, p50",
        unit="µs",
        bare=median(times[0]) * 1e6,
        ours=median(times[1]) * 1e6,
        bound=1.25,
    )


def _timed(caller: DevicePluginStub, request: wire.AllocateRequest) -> float:
    begin = time.perf_counter()
    caller.Allocate(request)
    return time.perf_counter() - begin


def memory(resources: int = 100) -> Result:
    """Resident memory with many resources, all registered and listed."""
    with pair(resources, Kind()) as (bare, ours):
        return Result(
            name=f"memory, {resources} resources",
            unit="MB",
            bare=bare.resident_megabytes(),
            ours=ours.resident_megabytes(),
            bound=1.15,
        )
