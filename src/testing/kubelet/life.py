"""One life of the kubelet, from reading the checkpoint to sudden death."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Final, TypeVar

import attrs

from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import (
    add_RegistrationServicer_to_server,
)
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import (
    add_PodResourcesListerServicer_to_server,
)
from deviceplugin.testing.kubelet.active import ActivePods
from deviceplugin.testing.kubelet.admission import Admission
from deviceplugin.testing.kubelet.aligner import Aligner
from deviceplugin.testing.kubelet.allocator import Allocator
from deviceplugin.testing.kubelet.checkpoint import CheckpointFile
from deviceplugin.testing.kubelet.connector import Connector
from deviceplugin.testing.kubelet.directory import (
    CHECKPOINT,
    KUBELET_SOCKET,
    POD_RESOURCES,
    REGISTRY,
    clean,
    make,
    unusable,
)
from deviceplugin.testing.kubelet.errors import (
    FakeKubeletError,
    KubeletDownError,
    KubeletPanicError,
)
from deviceplugin.testing.kubelet.faults import Faults
from deviceplugin.testing.kubelet.history import History, Started, Stopped, Unserved
from deviceplugin.testing.kubelet.limits import Limits
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.numa import Numa
from deviceplugin.testing.kubelet.pod_resources import PodResources
from deviceplugin.testing.kubelet.profile import Profile
from deviceplugin.testing.kubelet.rate import Rate
from deviceplugin.testing.kubelet.registrar import Registrar
from deviceplugin.testing.kubelet.registry import Registry
from deviceplugin.testing.kubelet.server import Server
from deviceplugin.testing.kubelet.starting import Starting
from deviceplugin.testing.kubelet.streams import Streams
from deviceplugin.testing.kubelet.watch import Watch

_Result = TypeVar("_Result")


@attrs.frozen(kw_only=True, eq=False)
class Setup:
    """What outlives a kubelet: its node and those who look on."""

    directory: Path
    root: Path
    profile: Profile
    limits: Limits
    numa: Numa
    faults: Faults
    chance: Random
    watch: Watch
    history: History
    active: ActivePods


class Life:
    """A kubelet process. It starts once; after its end nothing of it is left but files."""

    def __init__(self, setup: Setup) -> None:
        """Read the checkpoint and put the parts together, with the directory if it is missing.

        Raises `UnusableDirectoryError`.
        """
        make(setup.directory)
        self._setup = setup
        self._over = threading.Event()
        self.manager: Final = _manager(setup)
        self.admission: Final = _admission(setup, self.manager)
        self.starting: Final = Starting(
            manager=self.manager,
            history=setup.history,
            admission=self.admission,
            deadline=setup.limits.pre_start,
        )
        self._connector = Connector(
            setup.directory,
            setup.profile,
            setup.limits,
            self.manager,
            setup.history,
        )
        self._streams = Streams(setup.watch, self.manager, setup.history)
        self._server = Server(setup.directory / KUBELET_SOCKET)
        self._pod_resources = Server(setup.root / POD_RESOURCES / KUBELET_SOCKET)
        self._registry = Registry(
            directory=setup.root / REGISTRY,
            profile=setup.profile,
            limits=setup.limits,
            history=setup.history,
            manager=self.manager,
            connector=self._connector,
            streams=self._streams,
        )

    @property
    def over(self) -> bool:
        """Whether the end has begun: what its calls return from now on does not count."""
        return self._over.is_set()

    def start(self) -> None:
        """Clean the directory, then bind, then listen; raises `OSError`."""
        setup = self._setup
        # Before anybody can ask: what pods hold that nobody knows is freed at the first question.
        setup.active.adopt(self.manager.allocations.pods)
        self._server.prepare(partial(add_RegistrationServicer_to_server, self._registrar()))
        self._pod_resources.prepare(
            partial(add_PodResourcesListerServicer_to_server, self._lister())
        )
        try:
            clean(setup.directory, setup.profile, setup.chance)
            self._over.wait(setup.faults.clean_to_bind)
            self._server.bind()
        except OSError as problem:
            raise unusable(setup.directory, problem) from problem
        self._over.wait(setup.faults.bind_to_listen)
        self._server.listen()
        setup.history.add(Started())
        self._tell_pod_resources()
        self._registry.start()

    def _tell_pod_resources(self) -> None:
        """Serve pod-resources, if it can be: a kubelet that can't says so and goes on."""
        path = self._pod_resources.path
        try:
            path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            self._pod_resources.bind()
        except OSError as problem:
            self._setup.history.add(Unserved(part=POD_RESOURCES, reason=str(problem)))
        else:
            self._pod_resources.listen()

    def _registrar(self) -> Registrar:
        return Registrar(
            connector=self._connector,
            streams=self._streams,
            acceptor=self._server.acceptor,
            history=self._setup.history,
            faults=self._setup.faults,
            chance=self._setup.chance,
        )

    def _lister(self) -> PodResources:
        limits = self._setup.limits
        return PodResources(
            profile=self._setup.profile,
            manager=self.manager,
            admission=self.admission,
            faults=self._setup.faults,
            rate=Rate(limits.pod_resources_rate, limits.pod_resources_burst),
        )

    def during(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of `work`, unless the kubelet died: then that is all that counts.

        Raises `KubeletDownError` in that case.
        """
        try:
            result = work()
        except KubeletPanicError:
            raise
        except FakeKubeletError as problem:
            if self.over:
                raise KubeletDownError("the fake kubelet died during this") from problem
            raise
        if self.over:
            raise KubeletDownError("the fake kubelet died during this")
        return result

    def doom(self) -> None:
        """Let the end begin: no start waits for anything from now on."""
        self._over.set()

    def end(self) -> None:
        """Die: close every connection, change no file and no book, and wait for the threads."""
        self._over.set()
        self.manager.close()
        self._streams.stop()
        self._registry.stop()
        # First: nobody who waits for an answer gets one, whatever fails from here on.
        self._server.acceptor.close()
        self._pod_resources.acceptor.close()
        self._connector.close()
        self._server.close()
        self._pod_resources.close()
        self._registry.join()
        self._streams.join()
        self._setup.history.add(Stopped())


def _manager(setup: Setup) -> DeviceManager:
    file = CheckpointFile(setup.directory / CHECKPOINT)
    return DeviceManager(setup.watch, setup.profile, setup.limits, setup.history, file)


def _admission(setup: Setup, manager: DeviceManager) -> Admission:
    panics = setup.profile.panics_on_vanished_device
    return Admission(
        manager=manager,
        aligner=Aligner(
            manager=manager,
            numa=setup.numa,
            panics_on_vanished_device=panics,
            hints_idle_nodes=setup.profile.hints_idle_nodes,
        ),
        allocator=Allocator(
            manager=manager,
            history=setup.history,
            chance=setup.chance,
            panics_on_vanished_device=panics,
        ),
        active=setup.active,
        reuses_sidecar_devices=setup.profile.reuses_sidecar_devices,
        passes_cdi_devices=setup.profile.passes_cdi_devices,
    )
