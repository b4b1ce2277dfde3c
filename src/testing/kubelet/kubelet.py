"""The fake kubelet itself: what a test or a command line holds in its hands."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Final, Self, TypeVar

from deviceplugin.testing.kubelet.active import ActivePods
from deviceplugin.testing.kubelet.directory import KUBELET_SOCKET, POD_RESOURCES, REGISTRY, root_of
from deviceplugin.testing.kubelet.errors import (
    KubeletDownError,
    KubeletPanicError,
    KubeletRunningError,
)
from deviceplugin.testing.kubelet.faults import Faults
from deviceplugin.testing.kubelet.history import History
from deviceplugin.testing.kubelet.life import Life, Setup
from deviceplugin.testing.kubelet.limits import REAL_LIMITS, Limits
from deviceplugin.testing.kubelet.manager import ResourceView
from deviceplugin.testing.kubelet.numa import ONE_NODE, Numa
from deviceplugin.testing.kubelet.pods import ContainerGrant, Pod, Verdict
from deviceplugin.testing.kubelet.profile import Profile
from deviceplugin.testing.kubelet.table import Quantity
from deviceplugin.testing.kubelet.watch import Watch

_Result = TypeVar("_Result")


class FakeKubelet:
    """The kubelet's side of the device plugin API, over real sockets in a directory.

    A context manager: running inside, dead and gone outside. It may die and start again any number
    of times; what outlives it is what outlives a kubelet: the files, the running pods, the node's
    status, and `history`. All methods may be called from any thread; none needs an event loop.
    """

    def __init__(  # noqa: PLR0913 - all but one have a default
        self,
        directory: Path | str,
        *,
        root: Path | str | None = None,
        profile: Profile = Profile.V1_37,
        limits: Limits = REAL_LIMITS,
        numa: Numa = ONE_NODE,
        seed: int = 0,
    ) -> None:
        """Make a kubelet that is not running yet. All its chance comes from `seed`.

        Below `root` it serves pod-resources and watches plugins_registry. If left out, that is
        the parent of a directory with the usual name `device-plugins`, else `directory` itself.
        """
        self.directory: Final = Path(directory).absolute()
        self.root: Final = Path(root).absolute() if root else root_of(self.directory)
        self.registry: Final = self.root / REGISTRY
        self.pod_resources: Final = self.root / POD_RESOURCES / KUBELET_SOCKET
        self.faults: Final = Faults()
        self._watch = Watch()
        self.history: Final = History(self._watch)
        self._setup = Setup(
            directory=self.directory,
            root=self.root,
            profile=profile,
            limits=limits,
            numa=numa,
            faults=self.faults,
            chance=Random(seed),  # noqa: S311 - chance, no secret
            watch=self._watch,
            history=self.history,
            active=ActivePods(self._watch),
        )
        self._life: Life | None = None
        self._begun: Life | None = None
        self._turn = threading.Lock()
        self._node: dict[str, Quantity] = {}

    # --- life and death ---

    @property
    def profile(self) -> Profile:
        """Which Kubernetes this is."""
        return self._setup.profile

    @property
    def socket(self) -> Path:
        """Where it takes Register. A file at this path does not mean that anybody listens."""
        return self.directory / KUBELET_SOCKET

    @property
    def running(self) -> bool:
        """Whether it lives. It does not notice that its socket file or directory is gone."""
        return self._life is not None

    def start(self) -> None:
        """Clean the directory and listen; returns when plugins can register.

        Raises `KubeletRunningError`, `UnusableDirectoryError` if there can be no kubelet.sock.
        """
        with self._turn:
            if self._life is not None:
                raise KubeletRunningError("the fake kubelet is running already")
            life = self._begun = Life(self._setup)
            try:
                life.start()
            except BaseException:
                life.end()
                raise
            self._life = life

    def stop(self) -> None:
        """Die as on SIGTERM: all connections close at once, all files stay, no event is seen.

        Calls in flight end; `admit` raises `KubeletDownError`. Does nothing if it is not running.
        """
        while not self._turn.acquire(timeout=0.02):  # a start has it, and may wait for long
            if self._begun is not None:
                self._begun.doom()
        with ExitStack() as turn:
            turn.callback(self._turn.release)
            life, self._life = self._life, None
            if life is not None:
                life.end()

    def crash(self) -> None:
        """Die as on SIGKILL. A plugin sees no difference to `stop`, and there is none here."""
        self.stop()

    def restart(self, gap: float = 0.0) -> None:
        """Die and start again after `gap` seconds."""
        self.stop()
        time.sleep(gap)
        self.start()

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        """Stop."""
        self.stop()

    # --- what it knows ---

    def resource(self, name: str) -> ResourceView:
        """Return what is known of a resource; a dead kubelet knows nothing."""
        life = self._life
        return ResourceView(name=name) if life is None else life.manager.view(name)

    def resources(self) -> Mapping[str, ResourceView]:
        """Return every known resource by name."""
        life = self._life
        names = () if life is None else sorted(life.manager.names)
        return {name: self.resource(name) for name in names}

    def streams(self, resource: str) -> int:
        """Return how many ListAndWatch streams of a resource are open."""
        return self.resource(resource).streams

    def await_resource(
        self,
        name: str,
        wanted: Callable[[ResourceView], bool],
        timeout: float = 5.0,
    ) -> ResourceView:
        """Wait until a resource looks as `wanted` and return it so.

        `wanted` runs under the kubelet's lock: it must not wait. Raises `TimeoutError` that shows
        the resource as it is.
        """

        def look() -> ResourceView | None:
            view = self.resource(name)
            return view if wanted(view) else None

        seen = self._watch.until(look, timeout)
        if seen is None:
            raise TimeoutError(f"after {timeout} s there is only {self.resource(name)}")
        return seen

    def node_status(self) -> Mapping[str, Quantity]:
        """Return what the node shows after a status update, which happens now.

        A resource whose endpoint has been gone for `Limits.stop_grace` is dropped by the device
        manager at this moment; the node keeps its name, with nothing left.
        """
        fresh = self._alive().manager.node_status()
        with self._watch.changing():
            self._node = dict.fromkeys(self._node, Quantity(0, 0)) | fresh
            return dict(self._node)

    # --- pods ---

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods that run. One that another process left is named by its uid."""
        return self._setup.active.pods

    def admit(self, pod: Pod) -> Verdict:
        """Admit a pod and return how that ended. One at a time, and without any time limit.

        Raises `KubeletDownError` if the kubelet is dead, or dies meanwhile, and
        `KubeletPanicError` if this pod kills it.
        """
        life = self._alive()
        return self._during(life, lambda: life.admission.admit(pod))

    def start_container(self, pod: Pod, container: str) -> ContainerGrant:
        """Start, or start again, a container of an admitted pod: PreStartContainer comes first.

        Returns what it is made with, by the answers kept from Allocate. Raises
        `ContainerStartError`, which is not final, and what `admit` raises.
        """
        life = self._alive()
        return self._during(life, lambda: life.starting.start(pod, pod.container(container)))

    def prefer(self, resource: str, size: int) -> frozenset[str]:
        """Return which free devices the plugin would rather give to a pod; nobody gets them.

        Raises `AllocationError` if it cannot be asked, and what `admit` raises.
        """
        life = self._alive()
        return self._during(life, lambda: life.admission.allocator.prefer(resource, size))

    def remove(self, pod: Pod) -> None:
        """End a pod. No plugin hears of it; the devices are free from the next admission on."""
        self._setup.active.remove(pod.uid)

    # --- accidents ---

    def cut_stream(self, resource: str) -> None:
        """Break the open ListAndWatch streams of a resource; the kubelet lives on."""
        for link in self._alive().manager.streaming(resource):
            link.cut()

    def _alive(self) -> Life:
        life = self._life
        if life is None:
            raise KubeletDownError("the fake kubelet is not running")
        return life

    def _during(self, life: Life, work: Callable[[], _Result]) -> _Result:
        try:
            return life.during(work)
        except KubeletPanicError:
            self.stop()
            raise
