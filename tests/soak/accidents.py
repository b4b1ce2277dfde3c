"""What befalls the plugin, one at a time."""

import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Final

import attrs
from tests.conformance.kubelets import Kubelet
from tests.conformance.real import RealKubelet
from tests.soak.subject import Subject
from tests.support.stage import remove_tree

from deviceplugin.testing.kubelet import (
    DropEarly,
    DropLate,
    FakeKubelet,
    Hang,
    Late,
    Refuse,
    Step,
)

_QUEUE: Final = Path("/proc/sys/fs/inotify/max_queued_events")


@attrs.frozen(kw_only=True)
class Scene:
    """Where accidents happen. `place` is the link that the kubelet and the plugin know."""

    kubelet: Kubelet
    subject: Subject
    place: Path
    chance: Random

    def sockets(self) -> list[Path]:
        """The plugin's sockets that are there."""
        return sorted(self.place.glob("dp-*.sock"))


Accident = Callable[[Scene], None]


def _restart(scene: Scene) -> None:
    scene.kubelet.stop()
    scene.kubelet.start()


def _crash(scene: Scene) -> None:
    scene.kubelet.crash()
    scene.kubelet.start()


def _outage(scene: Scene) -> None:
    scene.kubelet.crash()
    time.sleep(scene.chance.uniform(0.0, 0.1))
    scene.kubelet.start()


def _burst(scene: Scene) -> None:
    for _ in range(scene.chance.randint(2, 5)):
        scene.kubelet.restart(scene.chance.uniform(0.0, 0.05))


def _removed(scene: Scene) -> None:
    """The kubelet may be alive or dead when its directory goes."""
    alive = scene.chance.random() < 0.5
    if not alive:
        scene.kubelet.stop()
    folder = scene.place.resolve()
    remove_tree(folder)
    if alive:
        scene.kubelet.stop()
    folder.mkdir()
    scene.kubelet.start()


def _repointed(scene: Scene) -> None:
    scene.kubelet.stop()
    old = scene.place.resolve()
    new = old.with_name("b" if old.name == "a" else "a")
    new.mkdir()
    fresh = scene.place.with_name("link")
    fresh.symlink_to(new)
    fresh.replace(scene.place)
    scene.kubelet.start()
    remove_tree(old)


def _renamed(scene: Scene) -> None:
    """A live kubelet's socket comes back under its name by a rename: for us that is another."""
    socket = scene.place / "kubelet.sock"
    other = socket.with_name("other")
    socket.rename(other)
    time.sleep(scene.chance.choice((0.0, 0.02)))
    other.rename(socket)


def _replaced(scene: Scene) -> None:
    """A new kubelet's socket is renamed over the old one's, which is there until then.

    A kubelet binds its socket in its place, so the old one's is put back there first, unseen.
    """
    socket = scene.place / "kubelet.sock"
    fresh, old = socket.with_name("fresh"), scene.place.with_name("old")
    scene.subject.hold()
    old.hardlink_to(socket)
    scene.kubelet.crash()
    scene.kubelet.start()
    socket.rename(fresh)
    old.rename(socket)
    if scene.chance.random() < 0.5:
        fresh.rename(socket)
        scene.subject.release()
    else:
        scene.subject.release()
        time.sleep(scene.chance.choice((0.0, 0.02)))
        fresh.rename(socket)


def _cut(scene: Scene) -> None:
    for resource in scene.chance.sample(RESOURCES, scene.chance.randint(1, len(RESOURCES))):
        scene.kubelet.cut_stream(resource)


def _unlinked(scene: Scene) -> None:
    if sockets := scene.sockets():
        scene.chance.choice(sockets).unlink(missing_ok=True)


def _failing_scan(scene: Scene) -> None:
    scene.subject.fail()


def _overflow(scene: Scene) -> None:
    """The kubelet restarts while nobody reads, and more happens than the kernel keeps."""
    scene.subject.hold()
    noise = scene.place / "noise.sock"
    for _ in range(int(_QUEUE.read_text(encoding="ascii")) // 2 + 1):
        noise.touch()
        noise.unlink()
    scene.kubelet.restart()
    scene.subject.release()


def _deaf(scene: Scene) -> None:
    """Whatever was watched cannot be any more, when the kubelet restarts."""
    scene.subject.deafen(off=True)
    scene.kubelet.restart()


def _register(*steps: Step) -> Accident:
    def befall(scene: Scene) -> None:
        assert isinstance(scene.kubelet, FakeKubelet)
        times = scene.chance.randint(1, 3)
        scene.kubelet.faults.on_register(scene.chance.choice(steps), times=times)
        scene.kubelet.restart()

    return befall


def _frozen(scene: Scene) -> None:
    """It takes connections, and answers nobody for longer than the plugin waits."""
    assert isinstance(scene.kubelet, RealKubelet)
    scene.kubelet.restart()
    scene.kubelet.signal(signal.SIGSTOP)
    time.sleep(scene.chance.uniform(0.0, 0.8))
    scene.kubelet.signal(signal.SIGCONT)


RESOURCES: Final = tuple(f"example.com/{name}" for name in ("gadget", "gizmo", "widget"))
"""All there ever are."""
_OF_ALL: Final = MappingProxyType(
    {
        "graceful restart": (_restart, 10),
        "crash": (_crash, 10),
        "outage": (_outage, 10),
        "several restarts": (_burst, 6),
        "directory removed": (_removed, 8),
        "link re-pointed": (_repointed, 8),
        "kubelet.sock renamed": (_renamed, 6),
        "kubelet.sock replaced": (_replaced, 6),
        "stream cut": (_cut, 12),
        "our socket deleted": (_unlinked, 12),
        "scan failed": (_failing_scan, 6),
        "inotify overflow": (_overflow, 1),
        "inotify unavailable": (_deaf, 1),
    }
)
_OF_FAKES: Final = MappingProxyType(
    {
        "Register hangs": (_register(Hang()), 2),
        "Register fails": (_register(Refuse("no"), DropEarly()), 6),
        "Register unclear": (_register(DropLate(), Late(0.7)), 4),
    }
)
_OF_REAL_ONES: Final = MappingProxyType({"kubelet frozen": (_frozen, 4)})


def accidents(kubelet: Kubelet) -> Mapping[str, tuple[Accident, int]]:
    """Return what can befall the plugin with this kubelet, and how often, by name."""
    return {**_OF_ALL, **(_OF_FAKES if isinstance(kubelet, FakeKubelet) else _OF_REAL_ONES)}
