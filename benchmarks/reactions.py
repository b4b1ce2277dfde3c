"""How long a plugin takes to react: each measure takes both in turns, in one run."""

import time
from collections.abc import Generator
from statistics import median

from benchmarks.measures import pair
from benchmarks.results import Result
from benchmarks.subject import Appearance, Kind, Subject, subject
from deviceplugin.testing.kubelet import Registered

_R0 = "bench.example.com/r0"


def restart(kind: Kind, resources: int) -> Result:
    """From the appearance of kubelet.sock to every list received, median of the restarts.

    Both serve beside each other if their kubelets can; real ones have one directory. A restart
    of few resources takes 6 to 16 ms, bare or not: it needs more of them for a steady median.
    """
    rounds = 60 if resources == 1 else 12
    if kind.binary is None:
        with pair(resources, kind) as (bare, ours):
            times = [(_restarted(bare), _restarted(ours)) for _ in range(rounds)]
    else:
        times = list(_in_turns(kind, resources, rounds, turns=6 if resources == 1 else 2))
    bare_times, our_times = zip(*times, strict=True)
    return Result(
        name=f"{kind.name} restarts: {resources} listed again",
        unit="ms",
        bare=median(bare_times) * 1e3,
        ours=median(our_times) * 1e3,
        bound=1.2,
    )


def _in_turns(
    kind: Kind, resources: int, rounds: int, turns: int
) -> Generator[tuple[float, float]]:
    """Yield times of bare servers and ours, which take turns: each process has a pace of its own.

    Who begins changes, so that a machine that grows slow does not take sides.
    """
    for turn in range(turns):
        times: dict[str, list[float]] = {}
        for name in ("bare", "ours") if turn % 2 == 0 else ("ours", "bare"):
            with subject(name, resources, kind) as running:
                times[name] = [_restarted(running) for _ in range(rounds // turns)]
        yield from zip(times["bare"], times["ours"], strict=True)


def _restarted(running: Subject, dead: float = 0.5, alive: float = 1.5) -> float:
    """Long enough dead and alive for both to have noticed and come to rest.

    A second after a stream opens we ask the kubelet what is held. One that stops in the middle of
    that has left it unanswered: the next one is asked first, which is another story.
    """
    running.kubelet.stop()
    time.sleep(dead)
    appearance = Appearance(running.kubelet.directory)
    running.kubelet.start()
    begin = appearance.moment()
    running.listed()
    time.sleep(alive)
    return running.last_list(begin) - begin


def watcher(kind: Kind, rounds: int = 5) -> Result:
    """From the appearance of kubelet.sock to the list, where the kubelet finds us by itself."""
    with subject("ours", 1, kind, "watcher") as ours:
        times = [_restarted(ours) for _ in range(rounds)]
    return Result(
        name=f"{kind.name} restarts: 1 found again in plugins_registry",
        unit="ms",
        bare=None,
        ours=median(times) * 1e3,
        bound=None,
        of="ours",
    )


def stream_cut(kind: Kind, way: str = "auto", rounds: int = 15) -> Result:
    """From the cut of a stream, and nothing else, to the next registration.

    In plugins_registry the kubelet looks once a second: that is reported, and has no bound.
    """
    times: list[float] = []
    with subject("ours", 1, kind, way) as ours:
        for _ in range(rounds):
            time.sleep(1.0)  # a stream that lived for less is the second failure in a row
            registered = len(ours.kubelet.history.of(Registered))
            begin = time.monotonic()
            ours.kubelet.cut_stream(_R0)
            ours.kubelet.await_resource(
                _R0, lambda _, old=registered: len(ours.kubelet.history.of(Registered)) > old
            )
            times.append(ours.kubelet.history.of(Registered)[-1].at - begin)
    return Result(
        name=f"stream cut, registered again, {kind.name}, {way}",
        unit="ms",
        bare=None,
        ours=median(times) * 1e3,
        bound=50.0 if way == "auto" else None,
        of="ours",
    )


def change(rounds: int = 200) -> Result:
    """From a change that the plugin is told of to its arrival at the kubelet."""
    with pair(1, Kind()) as both:
        times: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for running, taken in zip(both, times, strict=True):
                taken.append(_told(running, healthy=bool(number % 2)))
    return Result(
        name="a change reaches the kubelet",
        unit="ms",
        bare=median(times[0]) * 1e3,
        ours=median(times[1]) * 1e3,
        bound=2.0,
        of="difference",
    )


def _told(running: Subject, *, healthy: bool) -> float:
    begin = time.monotonic()
    running.tell(healthy)
    running.kubelet.await_resource(_R0, lambda seen: seen.allocatable == int(healthy))
    return time.monotonic() - begin
