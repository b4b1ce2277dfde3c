"""Round after round: the devices change, an accident happens, and all must be well again."""

import time
from collections import defaultdict
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import attrs
from tests.conformance.real import KUBELET_DIRECTORY, RealKubelet
from tests.soak.accidents import RESOURCES, Scene, accidents
from tests.soak.subject import IN_A_ROUND, Figures, Subject, Truth

from deviceplugin.testing.kubelet import FakeKubelet, Profile, ResourceView

if TYPE_CHECKING:
    from tests.conformance.kubelets import Kubelet

PATIENCE: Final = 30.0
"""Seconds after which a resource counts as stranded. The worst accident takes one or two."""
WARM_UP: Final = 50
"""Rounds before the start is measured: allocators and caches fill on the first occasion. Half of
the rounds, or of the time, is enough where there is less."""
_REST: Final = 2.0
"""Seconds in which timers run out and connections that ended are cleared away."""
_LOOKS: Final = 4
"""Looks at the figures, of which the least counts: a thread may just be reading a file."""
SETTLE: Final = 10.0
"""Seconds in which each round must come down to about the start's figures: what hangs must end."""
_LOOK_AGAIN: Final = 0.05
_IDS: Final = tuple("abcdefgh")


@attrs.define
class Report:
    """What a soak has shown."""

    rounds: int = 0
    seconds: dict[str, list[float]] = attrs.field(
        factory=lambda: defaultdict[str, list[float]](list)
    )
    """By accident, how long it took until all was well again."""
    stranded: list[str] = attrs.field(factory=list[str])
    leaked: list[str] = attrs.field(factory=list[str])
    """What a round has left behind; it was the last one."""
    start: Figures | None = None
    end: Figures | None = None


class Soak:
    """A plugin and a kubelet for any number of rounds."""

    def __init__(self, scene: Scene, settle: float) -> None:
        """Take the scene, and the seconds in which a round must settle; nothing happens yet."""
        self._scene = scene
        self._settle = settle
        self._accidents = accidents(scene.kubelet)
        self._truth: Truth = {}
        self._seen: dict[str, set[str]] = defaultdict(set)
        self.report: Final = Report()

    def run(self, rounds: int, seconds: float) -> Report:
        """Run so many rounds, or for so long, whichever is over first; the first leak ends it.

        However short the time, there is a round after the start was measured.
        """
        begin = time.monotonic()
        until, half = begin + seconds, begin + seconds / 2
        while self.report.rounds < rounds and not self.report.leaked:
            warm = self.report.rounds >= min(WARM_UP, rounds // 2) or time.monotonic() >= half
            if self.report.start is None and warm:
                self.report.start = self._measured()
            elif time.monotonic() >= until:
                break
            name = self._round()
            if self.report.start is not None:
                self._count(name, self.report.start)
            self.report.rounds += 1
        if not self.report.leaked:
            self.report.end = self._measured()
        return self.report

    def _measured(self) -> Figures:
        """How big the plugin is at rest, with the same devices each time."""
        self._show({name.partition("/")[2]: {"a": True} for name in RESOURCES})
        self._verify("rest")
        time.sleep(_REST)
        looks: list[Figures] = []
        for _ in range(_LOOKS):
            looks.append(self._scene.subject.measure())
            time.sleep(_REST / _LOOKS)
        return Figures.least(looks)

    def _count(self, name: str, start: Figures) -> None:
        """See that nothing is left of a round, once what ends by itself has ended."""
        until = time.monotonic() + self._settle
        while excess := start.excess(now := self._scene.subject.count(), IN_A_ROUND):
            if time.monotonic() > until:
                self.report.leaked = [
                    f"round {self.report.rounds}, {name}: {each}" for each in excess
                ]
                self.report.end = now
                return
            time.sleep(_LOOK_AGAIN)

    def _round(self) -> str:
        """Let one accident happen, and return its name when all is well again."""
        chance = self._scene.chance
        names = list(self._accidents)
        weights = [weight for _, weight in self._accidents.values()]
        (name,) = chance.choices(names, weights)
        first = chance.random() < 0.5
        if first:
            self._change()
        self._accidents[name][0](self._scene)
        if not first:
            self._change()
        begin = time.monotonic()
        self._verify(name)
        self.report.seconds[name].append(time.monotonic() - begin)
        self._scene.subject.deafen(off=False)
        return name

    def _change(self) -> None:
        """Another set of devices, and now and then one resource fewer."""
        chance = self._scene.chance
        types = [name.partition("/")[2] for name in RESOURCES]
        self._show(
            {
                name: {
                    key: chance.random() < 0.7 for key in chance.sample(_IDS, chance.randint(0, 6))
                }
                for name in types
                if chance.random() < 0.9
            }
        )

    def _show(self, truth: Truth) -> None:
        self._truth = truth
        for name, devices in self._truth.items():
            self._seen[name] |= devices.keys()
        self._scene.subject.show(self._truth)

    def _verify(self, name: str) -> None:
        for resource in RESOURCES:
            try:
                self._scene.kubelet.await_resource(resource, self._is_well(resource), PATIENCE)
            except TimeoutError as error:
                self.report.stranded.append(f"round {self.report.rounds}, {name}: {error}")

    def _is_well(self, resource: str) -> "_Expectation":
        kind = resource.partition("/")[2]
        real = isinstance(self._scene.kubelet, RealKubelet)
        return _Expectation(self._truth.get(kind), self._seen[kind], shows_ill=not real)


@attrs.frozen
class _Expectation:
    """How the kubelet must see a resource: None if there is none.

    Healthy is what the scan found healthy; all that it found is there; whatever else there is was
    found before and may be held by a container.
    """

    truth: Mapping[str, bool] | None
    ever: set[str]
    shows_ill: bool = attrs.field(kw_only=True)

    def __call__(self, seen: ResourceView) -> bool:
        if self.truth is None:
            return (seen.streams, seen.allocatable) == (0, 0)
        healthy = {key for key, device in seen.devices.items() if device.healthy}
        wanted = {key for key, well in self.truth.items() if well}
        if (seen.streams, healthy, seen.allocatable) != (1, wanted, len(wanted)):
            return False
        if not self.shows_ill:
            return len(self.truth) <= seen.capacity <= len(self.ever)
        return self.truth.keys() <= seen.devices.keys() <= self.ever


@contextmanager
def staged(kubelet: str, seed: int, settle: float = SETTLE) -> Generator[Soak]:
    """Give a soak with a kubelet: a fake one of this version, or a real one by its program."""
    with TemporaryDirectory() as temporary:
        is_real = Path(kubelet).is_absolute()
        base = KUBELET_DIRECTORY if is_real else Path(temporary)
        (base / "a").mkdir()
        place = base / "device-plugins"
        place.symlink_to(base / "a")
        chosen: Kubelet = (
            RealKubelet(Path(kubelet))
            if is_real
            else FakeKubelet(place, profile=Profile.named(kubelet), seed=seed)
        )
        chosen.start()
        try:
            with Subject(place) as subject:
                chance = Random(seed)  # noqa: S311 - a course of events, no secret
                scene = Scene(kubelet=chosen, subject=subject, place=place, chance=chance)
                yield Soak(scene, settle)
        finally:
            chosen.stop()
