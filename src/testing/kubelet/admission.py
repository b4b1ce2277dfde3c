"""Admission: a pod gets the devices of all its containers, or fails for good."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

import attrs

from deviceplugin.testing.kubelet.active import ActivePods
from deviceplugin.testing.kubelet.aligner import Aligner
from deviceplugin.testing.kubelet.allocator import Allocator
from deviceplugin.testing.kubelet.answers import answer_of
from deviceplugin.testing.kubelet.errors import AllocationError, UnalignedError
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.merge import merged
from deviceplugin.testing.kubelet.pods import (
    Container,
    ContainerGrant,
    Pod,
    PodAdmitted,
    PodRejected,
    Verdict,
    Want,
)


@attrs.frozen(kw_only=True)
class Admission:
    """Admits one pod after the other: while a plugin does not answer, no other pod starts."""

    manager: DeviceManager
    aligner: Aligner
    allocator: Allocator
    active: ActivePods
    """Who keeps its devices; what other pods hold is freed at the next admission."""
    reuses_sidecar_devices: bool
    passes_cdi_devices: bool
    _turn: threading.Lock = attrs.field(factory=threading.Lock, init=False, eq=False)
    _pending: list[Pod] = attrs.field(factory=list[Pod], init=False, eq=False)

    @property
    def pods(self) -> tuple[Pod, ...]:
        """The pods of the node, with the one that is being admitted."""
        pods = {pod.uid: pod for pod in (*self.active.pods, *self._pending)}
        return tuple(pods.values())

    def collect(self) -> None:
        """Free what pods hold that are gone (UpdateAllocatedDevices)."""
        self.manager.allocations.collect({pod.uid for pod in self.pods})

    def admit(self, pod: Pod) -> Verdict:
        """Serve the containers in order, init containers first, and say how it ended.

        A pod that is admitted again keeps what it holds and the plugin is not called.
        """
        with self._turn, self._admitting(pod):
            try:
                self._serve(pod)
            except UnalignedError as problem:
                return self._reject(pod, "TopologyAffinityError", str(problem))
            except AllocationError as problem:
                message = f"Allocate failed due to {problem}, which is unexpected"
                return self._reject(pod, "UnexpectedAdmissionError", message)
            self.active.add(pod)
            grants = {each.name: self.grant(pod, each) for each in pod.in_order}
            return PodAdmitted(pod=pod, containers=grants)

    @contextmanager
    def _admitting(self, pod: Pod) -> Generator[None]:
        self._pending.append(pod)
        try:
            yield
        finally:
            self._pending.remove(pod)

    def _reject(self, pod: Pod, reason: str, message: str) -> PodRejected:
        self.active.remove(pod.uid)
        return PodRejected(pod=pod, reason=reason, message=message)

    def _serve(self, pod: Pod) -> None:
        reusable: dict[str, frozenset[str]] = {}
        for container in pod.in_order:
            self._serve_one(pod, container, reusable)
            for resource, holding in self.manager.allocations.of(pod.uid, container.name).items():
                before = reusable.get(resource, frozenset())
                over = container.init and (
                    self.reuses_sidecar_devices or not container.restartable
                )
                reusable[resource] = before | holding.ids if over else before - holding.ids

    def again(self, pod: Pod, container: Container) -> None:
        """Serve one container outside of admission; raises `AllocationError`."""
        with self._turn, self._admitting(pod):
            self._serve_one(pod, container, {})

    def _serve_one(
        self,
        pod: Pod,
        container: Container,
        reusable: dict[str, frozenset[str]],
    ) -> None:
        self.collect()
        wants = self.wants(pod, container)
        mask = self.aligner.mask(wants, reusable)
        self.allocator.allocate(wants, mask, reusable)

    def wants(self, pod: Pod, container: Container) -> list[Want]:
        """Return the limits that the device manager answers for.

        A resource that nobody has listed yet is passed over: the container runs without it.
        """
        return [want for want in pod.wants(container) if self.manager.is_ours(want.resource)]

    def grant(self, pod: Pod, container: Container) -> ContainerGrant:
        """Return what a container holds, its answers merged in random order."""
        holdings = self.manager.allocations.of(pod.uid, container.name)
        chance = self.allocator.chance
        shuffled = chance.sample(tuple(holdings.values()), len(holdings))
        answer = merged(answer_of(holding.answer) for holding in shuffled)
        return ContainerGrant(
            ids={resource: holding.ids for resource, holding in holdings.items()},
            answer=answer if self.passes_cdi_devices else attrs.evolve(answer, cdi_devices=()),
        )
