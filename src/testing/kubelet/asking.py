"""Asking a kubelet's pod-resources, as anybody may who can reach its socket."""

from pathlib import Path
from urllib.parse import quote

import attrs
import grpc

from deviceplugin.adapters.kubelet.wire import podresources_pb2 as pb
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import PodResourcesListerStub
from deviceplugin.testing.kubelet.errors import KubeletDownError
from deviceplugin.testing.kubelet.goerror import FAILURES, go_text


@attrs.frozen(kw_only=True)
class Held:
    """A device that a container holds, with the NUMA nodes of all its entries."""

    namespace: str
    pod: str
    container: str
    resource: str
    device: str
    nodes: tuple[int, ...] = ()


def ask_pod_resources(socket: Path, timeout: float = 5.0) -> tuple[Held, ...]:
    """Return who holds what, in the order of List; raises `KubeletDownError` with its answer."""
    fresh = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(f"unix:{quote(str(socket))}", options=fresh) as channel:
        try:
            answer = PodResourcesListerStub(channel).List(
                pb.ListPodResourcesRequest(), timeout=timeout
            )
        except FAILURES as problem:
            raise KubeletDownError(f"{socket}: {go_text(problem)}") from problem
    nodes: dict[Held, list[int]] = {}
    for pod in answer.pod_resources:
        for container in pod.containers:
            for entry in container.devices:
                for id_ in entry.device_ids:
                    key = Held(
                        namespace=pod.namespace,
                        pod=pod.name,
                        container=container.name,
                        resource=entry.resource_name,
                        device=id_,
                    )
                    nodes.setdefault(key, []).extend(node.ID for node in entry.topology.nodes)
    return tuple(attrs.evolve(key, nodes=tuple(on)) for key, on in nodes.items())
