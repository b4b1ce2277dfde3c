"""A node without a cluster: a real kubelet, told by files, asked at its own ports."""

import json
import os
import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import grpc
from tests.node.daemon import Daemon, awaited
from tests.node.pods import CONTAINER, NAMESPACE, PodView, manifest, pod_view
from tests.node.runtime import ROOT, SOCKET, Runtime

from deviceplugin.adapters.kubelet.wire import podresources_pb2 as wire
from deviceplugin.adapters.kubelet.wire.podresources_pb2_grpc import PodResourcesListerStub

KUBELET: Final = Path("/var/lib/kubelet")
PLUGINS: Final = KUBELET / "device-plugins"
_POD_RESOURCES: Final = KUBELET / "pod-resources" / "kubelet.sock"
_FILES: Final = Path("/run/node")
_CONFIGURATION: Final = _FILES / "kubelet.json"
_MANIFESTS: Final = _FILES / "manifests"
_POD_LOGS: Final = _FILES / "pods"
_NAME: Final = "node"
_READ_ONLY_PORT: Final = 10255
_SECONDS: Final = 5.0
"""For one question to the kubelet."""


def _configuration() -> Mapping[str, object]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "staticPodPath": str(_MANIFESTS),
        "fileCheckFrequency": "1s",
        "podLogsDir": str(_POD_LOGS),
        "volumePluginDir": str(_FILES / "volume-plugins"),
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "resolvConf": "",
        "address": "127.0.0.1",
        "readOnlyPort": _READ_ONLY_PORT,
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": os.environ["NODE_CGROUP"],
        "enforceNodeAllocatable": [],
        "failCgroupV1": False,
        "failSwapOn": False,
        "localStorageCapacityIsolation": False,
        "makeIPTablesUtilChains": False,
        # However full this machine is, no pod goes because of that.
        "evictionHard": {"memory.available": "0%"},
        "imageGCHighThresholdPercent": 100,
        # It asks for hints of pods that run, too: what does harm is seen.
        "topologyManagerPolicy": "restricted",
    }


class Node:
    """A context manager: a kubelet and its runtime inside, nothing of them after.

    Pods are told apart by the name that they are made with. Whatever waits raises `TimeoutError`,
    and `DaemonDiedError` if the kubelet has ended by itself.
    """

    def __init__(self, kubelet: Path, logs: Path) -> None:
        """Start it; returns when pods and plugins can come."""
        self._binary = kubelet
        self._logs = logs
        with ExitStack() as ending:
            for each in (KUBELET, ROOT, _FILES):
                ending.enter_context(_mounted(each))
            _MANIFESTS.mkdir()
            _CONFIGURATION.write_text(json.dumps(_configuration()))
            self._runtime = Runtime(logs / "containerd.log")
            ending.callback(self._runtime.end)
            self._kubelet = self._started()
            ending.callback(lambda: self._kubelet.end(signal.SIGKILL))
            self.await_kubelet()
            self._ending = ending.pop_all()

    # --- life and death ---

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it all, however it is."""
        self._ending.close()

    @property
    def kubelet(self) -> Daemon:
        """The present life of the kubelet, or the last one."""
        return self._kubelet

    def kill(self) -> None:
        """End the kubelet by SIGKILL; pods run on."""
        self._kubelet.check()
        self._kubelet.end(signal.SIGKILL)

    def start(self) -> None:
        """Start the kubelet again; does not wait for anything."""
        assert self._kubelet.code is not None
        self._kubelet = self._started()

    def await_kubelet(self) -> None:
        """Return when plugins can register and it tells about pods."""
        awaited(lambda: _shown() is not None and _POD_RESOURCES.exists(), check=self.check)

    def check(self) -> None:
        """Raise `DaemonDiedError` unless kubelet and runtime run."""
        self._runtime.check()
        self._kubelet.check()

    def _started(self) -> Daemon:
        command = [
            str(self._binary),
            f"--config={_CONFIGURATION}",
            f"--hostname-override={_NAME}",
            "--node-ip=127.0.0.1",
            "--v=2",
        ]
        return Daemon(command, self._logs / "kubelet.log")

    # --- pods ---

    def run(self, name: str, limits: Mapping[str, int], script: str = ":") -> None:
        """Have a pod run a script; returns before it does."""
        new = _MANIFESTS / f".{name}"
        new.write_text(manifest(name, limits, script))
        new.rename(_MANIFESTS / f"{name}.json")

    def remove(self, name: str) -> None:
        """End a pod; returns when the kubelet shows it no more."""
        (_MANIFESTS / f"{name}.json").unlink()
        awaited(lambda: self.pod(name), lambda pod: pod is None, check=self.check)

    def pod(self, name: str) -> PodView | None:
        """Return a pod as the kubelet shows it; None if it does not, or is down."""
        shown = {pod.name: pod for pod in _shown() or ()}
        return shown.get(f"{name}-{_NAME}")

    def judged(self, name: str) -> PodView:
        """Wait until a pod runs, or the kubelet has not admitted it."""
        pod = awaited(
            lambda: self.pod(name),
            lambda pod: pod is not None and pod.judged,
            check=self.check,
        )
        assert pod is not None
        return pod

    def running(self, name: str) -> PodView:
        """Wait until a pod runs."""
        pod = self.judged(name)
        assert pod.runs, pod
        return pod

    def refused(self, name: str) -> PodView:
        """Wait until the kubelet has not admitted a pod."""
        pod = self.judged(name)
        assert not pod.runs, pod
        return pod

    def output(self, name: str) -> list[str]:
        """Return the lines that the container of a pod has written, the last one complete."""
        lines = list[str]()
        for file in _POD_LOGS.glob(f"{NAMESPACE}_{name}-{_NAME}_*/{CONTAINER}/*.log"):
            lines += [line.split(" ", 3)[3] for line in file.read_text().splitlines()]
        return lines

    def heard(self, name: str, last: str) -> list[str]:
        """Return what a pod has written, once it has written the line `last`."""
        return awaited(lambda: self.output(name), lambda lines: last in lines, check=self.check)

    # --- devices ---

    def allocatable(self, resource: str) -> dict[str, tuple[int, ...]]:
        """Return the healthy devices of a resource, held or not, with their NUMA nodes."""
        with _pod_resources() as stub:
            answer = stub.GetAllocatableResources(
                wire.AllocatableResourcesRequest(), timeout=_SECONDS
            )
        found = dict[str, tuple[int, ...]]()
        for entry in answer.devices:
            if entry.resource_name == resource:
                nodes = tuple(node.ID for node in entry.topology.nodes)
                for id_ in entry.device_ids:
                    found[id_] = found.get(id_, ()) + nodes
        return found

    def await_allocatable(self, resource: str, count: int) -> frozenset[str]:
        """Wait until so many devices of a resource are healthy, and return their ids."""

        def look() -> frozenset[str] | None:
            with suppress(grpc.RpcError):
                return frozenset(self.allocatable(resource))
            return None

        seen = awaited(look, lambda ids: ids is not None and len(ids) == count, check=self.check)
        assert seen is not None
        return seen

    def holders(self, resource: str) -> dict[str, frozenset[str]]:
        """Return the ids that containers hold of a resource, by the name of the pod."""
        with _pod_resources() as stub:
            answer = stub.List(wire.ListPodResourcesRequest(), timeout=_SECONDS)
        found = dict[str, frozenset[str]]()
        for pod in answer.pod_resources:
            assert pod.namespace == NAMESPACE
            for container in pod.containers:
                held = [e.device_ids for e in container.devices if e.resource_name == resource]
                if held:
                    found[pod.name.removesuffix(f"-{_NAME}")] = frozenset().union(*held)
        return found


@contextmanager
def _mounted(directory: Path) -> Generator[None]:
    """Put an empty file system on a directory, and take it away with all that is in it."""
    directory.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", directory], check=True)  # noqa: S603, S607
    try:
        yield
    finally:
        # Lazily: the mounts in it may be as busy as they like.
        subprocess.run(["umount", "--recursive", "--lazy", directory], check=True)  # noqa: S603, S607


@contextmanager
def _pod_resources() -> Generator[PodResourcesListerStub]:
    """Ask at the kubelet's other socket, on a connection that knows no earlier kubelet."""
    alone = [("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(f"unix:{_POD_RESOURCES}", options=alone) as channel:
        yield PodResourcesListerStub(channel)


def _shown() -> list[PodView] | None:
    """Return the pods that the kubelet shows; None if it does not answer."""
    connection = HTTPConnection("127.0.0.1", _READ_ONLY_PORT, timeout=_SECONDS)
    try:
        connection.request("GET", "/pods")
        answer = json.loads(connection.getresponse().read())
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()
    return [pod_view(each) for each in answer["items"] or ()]
