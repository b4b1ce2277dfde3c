"""The gRPC service PodResourcesLister: who holds what, and what could be held."""

import time
from collections.abc import Iterable, Iterator

import attrs
import grpc

from deviceplugin.adapters.kubelet.wire import podresources_pb2 as pb
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import PodResourcesListerServicer
from deviceplugin.testing.kubelet.admission import Admission
from deviceplugin.testing.kubelet.allocations import NO_NODE, Holding
from deviceplugin.testing.kubelet.faults import Faults
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.pods import Container, Pod
from deviceplugin.testing.kubelet.profile import Profile
from deviceplugin.testing.kubelet.rate import Rate
from deviceplugin.testing.kubelet.table import Snapshot


@attrs.frozen(kw_only=True, eq=False)
class PodResources(PodResourcesListerServicer):
    """Answers for one kubelet life. Held devices are told from the books, plugin or no plugin."""

    profile: Profile
    manager: DeviceManager
    admission: Admission
    faults: Faults
    rate: Rate
    """One for all callers and methods."""
    _born: float = attrs.field(factory=time.monotonic, init=False)

    def List(  # noqa: N802 - the wire's name
        self,
        request: pb.ListPodResourcesRequest,
        context: grpc.ServicerContext,
    ) -> pb.ListPodResourcesResponse:
        """Tell of every pod, also of one that holds nothing; what gone pods held is freed."""
        del request
        self._limit(context)
        self.admission.collect()
        return pb.ListPodResourcesResponse(pod_resources=map(self._pod, self._pods))

    def GetAllocatableResources(  # noqa: N802
        self,
        request: pb.AllocatableResourcesRequest,
        context: grpc.ServicerContext,
    ) -> pb.AllocatableResourcesResponse:
        """Tell of every healthy device, held or not."""
        del request
        self._limit(context)
        return pb.AllocatableResourcesResponse(devices=self._allocatable())

    def Get(  # noqa: N802
        self,
        request: pb.GetPodResourcesRequest,
        context: grpc.ServicerContext,
    ) -> pb.GetPodResourcesResponse:
        """Tell of one pod."""
        self._limit(context)
        if not self.profile.answers_pod_by_name:
            context.abort(grpc.StatusCode.UNKNOWN, "PodResources API Get method disabled")
        name, namespace = request.pod_name, request.pod_namespace
        pods = {(pod.name, pod.namespace): pod for pod in self._pods}
        if (name, namespace) not in pods:
            missing = f"pod {name} in namespace {namespace} not found"
            context.abort(grpc.StatusCode.UNKNOWN, missing)
        return pb.GetPodResourcesResponse(pod_resources=self._pod(pods[name, namespace]))

    def _limit(self, context: grpc.ServicerContext) -> None:
        if not self.rate.allows():
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "rejected by rate limit")

    @property
    def _pods(self) -> tuple[Pod, ...]:
        heard = time.monotonic() - self._born >= self.faults.pods_unheard
        return self.admission.pods if heard else ()

    def _allocatable(self) -> Iterator[pb.ContainerDevices]:
        for resource in sorted(self.manager.names):
            snapshot = self.manager.snapshot(resource) or Snapshot()
            for id_ in sorted(snapshot.healthy):
                nodes = snapshot.devices[id_].nodes
                yield from _entries(resource, id_, (None,) if nodes is None else nodes)

    def _pod(self, pod: Pod) -> pb.PodResources:
        return pb.PodResources(
            name=pod.name,
            namespace=pod.namespace,
            containers=[self._container(pod, each) for each in pod.in_order if self._shows(each)],
        )

    def _shows(self, container: Container) -> bool:
        """Tell whether a container is listed: not one that has ended before the others began."""
        return not container.init or (container.restartable and self.profile.shows_sidecars)

    def _container(self, pod: Pod, container: Container) -> pb.ContainerResources:
        held = self.manager.allocations.of(pod.uid, container.name)
        return pb.ContainerResources(
            name=container.name,
            devices=[entry for holding in held.values() for entry in _held(holding)],
        )


def _held(holding: Holding) -> Iterator[pb.ContainerDevices]:
    for node, ids in holding.nodes.items():
        for id_ in ids:
            yield from _entries(holding.resource, id_, [None if node == NO_NODE else node])


def _entries(
    resource: str, id_: str, nodes: Iterable[int | None]
) -> Iterator[pb.ContainerDevices]:
    """Yield one entry for each node, so none for a topology without nodes."""
    for node in nodes:
        topology = None if node is None else pb.TopologyInfo(nodes=[pb.NUMANode(ID=node)])
        yield pb.ContainerDevices(resource_name=resource, device_ids=[id_], topology=topology)
