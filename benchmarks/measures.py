"""What is measured: each returns pairs of (bare, ours), taken in turns in one run."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import attrs
import grpc

from benchmarks.subject import Subject, subject
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import DevicePluginStub

_LOCAL = (("grpc.default_authority", "localhost"), ("grpc.use_local_subchannel_pool", 1))


@attrs.frozen(kw_only=True)
class Result:
    """A ratio, the bound it has to keep, and the medians it is made of."""

    name: str
    unit: str
    bare: float
    ours: float
    bound: float

    @property
    def ratio(self) -> float:
        """How many times the bare server's figure."""
        return self.ours / self.bare

    @property
    def kept(self) -> bool:
        """Whether the bound is kept."""
        return self.ratio <= self.bound


@contextmanager
def _pair(resources: int) -> Iterator[tuple[Subject, Subject]]:
    with subject("bare", resources) as bare, subject("ours", resources) as ours:
        yield bare, ours


@contextmanager
def _caller(socket: Path) -> Iterator[DevicePluginStub]:
    with grpc.insecure_channel(f"unix:{socket}", options=_LOCAL) as channel:
        yield DevicePluginStub(channel)


def allocate(rounds: int = 40, calls: int = 100) -> Result:
    """Latency of Allocate for one device, median of all calls, in blocks taken in turns."""
    request = wire.AllocateRequest(
        container_requests=[wire.ContainerAllocateRequest(devices_ids=["dev0"])]
    )
    with (
        _pair(1) as (bare, ours),
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
    with _pair(resources) as (bare, ours):
        return Result(
            name=f"memory, {resources} resources",
            unit="MB",
            bare=bare.resident_megabytes(),
            ours=ours.resident_megabytes(),
            bound=1.15,
        )


def restart(resources: int = 100, rounds: int = 7, settle: float = 1.0) -> Result:
    """From the kubelet's return to every list received, median of the restarts."""
    with _pair(resources) as (bare, ours):
        times = ([_restarted(bare, settle), _restarted(ours, settle)] for _ in range(rounds))
        bare_times, our_times = zip(*times, strict=True)
    return Result(
        name=f"kubelet restart, {resources} resources listed again",
        unit="ms",
        bare=median(bare_times) * 1e3,
        ours=median(our_times) * 1e3,
        bound=2.0,
    )


def _restarted(running: Subject, gap: float) -> float:
    running.kubelet.stop()
    time.sleep(gap)
    begin = time.perf_counter()
    running.kubelet.start()
    running.listed()
    taken = time.perf_counter() - begin
    time.sleep(gap)
    return taken
