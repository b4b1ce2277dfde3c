"""The real kubelet's device plane with the face of `FakeKubelet`."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import attrs
from tests.conformance.program import CommandError, Event, Program

from deviceplugin.testing.kubelet import (
    Answer,
    ContainerGrant,
    ContainerStartError,
    Device,
    DeviceSpec,
    History,
    KubeletDownError,
    KubeletRunningError,
    ListReceived,
    Mount,
    Numa,
    Pod,
    PodAdmitted,
    PodRejected,
    Quantity,
    Record,
    Refused,
    RegisterAsked,
    Registered,
    ResourceView,
    Started,
    Stopped,
    StreamEnded,
    Verdict,
)
from deviceplugin.testing.kubelet.numa import ONE_NODE
from deviceplugin.testing.kubelet.watch import Watch

KUBELET_DIRECTORY: Final = Path("/var/lib/kubelet")
"""A constant of the kubelet; the tests run where this is theirs alone."""
_LOOK_AGAIN: Final = 0.002
"""Seconds between two looks at a kubelet that does not call back."""


def _is_alone() -> bool:
    """Say whether the kubelet's directory is one that tests/kubelets/alone has mounted."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return [str(KUBELET_DIRECTORY), "tmpfs"] in [mount[1:3] for mount in mounts]


class RealKubelet:
    """A context manager like `FakeKubelet`: running inside, dead and gone outside.

    Every start is a new process. The files live on, and the pods that ran.
    """

    def __init__(self, binary: Path, *, numa: Numa = ONE_NODE) -> None:
        """Make a kubelet that is not running yet. Raises `RuntimeError` beside files of others."""
        if not _is_alone():
            raise RuntimeError(
                f"{KUBELET_DIRECTORY} is this machine's, and a test's kubelet would write there; "
                "use `make conformance`, `make soak KUBELET=...` or `make bench KUBELET=...`, or "
                "run the command by tests/kubelets/alone"
            )
        self.directory: Final = KUBELET_DIRECTORY / "device-plugins"
        self.history: Final = History(Watch())
        self._binary = binary
        self._numa = numa
        self._program: Program | None = None
        self._pods: dict[str, Pod] = {}
        self._node: dict[str, Quantity] = {}

    # --- life and death ---

    @property
    def socket(self) -> Path:
        """Where it takes Register."""
        return self.directory / "kubelet.sock"

    @property
    def running(self) -> bool:
        """Whether it was started and not stopped; it may have died since."""
        return self._program is not None

    def start(self) -> None:
        """Run the program; returns when plugins can register."""
        if self._program is not None:
            raise KubeletRunningError("the kubelet is running already")
        self._program = Program(self._binary, self._hear)
        self._program.ask(
            "start",
            policy=self._numa.policy.value,
            nodes=self._numa.nodes,
            active=[_said(pod) for pod in self._pods.values()],
        )
        self.history.add(Started())

    def stop(self) -> None:
        """Die by SIGTERM. Does nothing if it is not running."""
        self._die(Program.terminate)

    def crash(self) -> None:
        """Die by SIGKILL. Does nothing if it is not running."""
        self._die(Program.kill)

    def signal(self, number: int) -> None:
        """Send its process a signal that does not end it. Raises `KubeletDownError`."""
        if self._program is None:
            raise KubeletDownError("the kubelet is not running")
        self._program.signal(number)

    def _die(self, how: Callable[[Program], None]) -> None:
        program, self._program = self._program, None
        if program is not None:
            how(program)
            self.history.add(Stopped())

    def restart(self, gap: float = 0.0) -> None:
        """Die by SIGKILL and start again after `gap` seconds."""
        self.crash()
        time.sleep(gap)
        self.start()

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    # --- what it knows ---

    def resource(self, name: str) -> ResourceView:
        """Return what is known of a resource; of its devices only the healthy ones."""
        if self._program is None:
            return ResourceView(name=name)
        seen = self._ask("resource", resource=name)
        return ResourceView(
            name=name,
            known=seen["known"],
            capacity=seen["capacity"],
            allocatable=seen["allocatable"],
            devices={
                key: Device(id=key, nodes=None if nodes is None else tuple(nodes))
                for key, nodes in seen["healthy"].items()
            },
            streams=self.streams(name),
        )

    def streams(self, resource: str) -> int:
        """Return how many ListAndWatch streams of a resource are open."""
        open_ = 0
        for record in self.history:
            if isinstance(record, Started | Stopped):
                open_ = 0 if isinstance(record, Stopped) else open_
            elif getattr(record, "resource", None) == resource:
                open_ += isinstance(record, Registered) - isinstance(record, StreamEnded)
        return open_

    def await_resource(
        self,
        name: str,
        wanted: Callable[[ResourceView], bool],
        timeout: float = 5.0,
    ) -> ResourceView:
        """Wait until a resource looks as `wanted` and return it so."""
        end = time.monotonic() + timeout
        while not wanted(seen := self.resource(name)):
            if time.monotonic() > end:
                raise TimeoutError(f"after {timeout} s there is only {seen}")
            time.sleep(_LOOK_AGAIN)
        return seen

    def node_status(self) -> Mapping[str, Quantity]:
        """Return what the node shows after a status update, which happens now."""
        shown = {name: Quantity(**each) for name, each in self._ask("node").items()}
        self._node = dict.fromkeys(self._node, Quantity(0, 0)) | shown
        return dict(self._node)

    def hints(self, pod: Pod, container: str) -> Mapping[str, list[Mapping[str, Any]] | None]:
        """Return the topology hints for a container, by resource."""
        hints: Mapping[str, list[Mapping[str, Any]] | None] = self._ask(
            "hints", pod=_said(pod), container=container
        )
        return hints

    def health(self) -> str:
        """Return what its health check complains of; nothing if it is well."""
        problem: str = self._ask("health")["problem"]
        return problem

    # --- pods ---

    def admit(self, pod: Pod) -> Verdict:
        """Admit a pod and return how that ended. The answers are left out: see `start_container`.

        Raises `KubeletDownError` if the kubelet is dead, or dies meanwhile, and
        `KubeletPanicError` if this pod kills it.
        """
        said = self._ask("admit", pod=_said(pod))
        if not said["admitted"]:
            self._pods.pop(pod.uid, None)
            return PodRejected(pod=pod, reason=said["reason"], message=said["message"])
        self._pods[pod.uid] = pod
        return PodAdmitted(
            pod=pod,
            containers={
                name: ContainerGrant(
                    ids={resource: frozenset(ids) for resource, ids in held.items()},
                    answer=Answer(),
                )
                for name, held in said["devices"].items()
            },
        )

    def start_container(self, pod: Pod, container: str) -> ContainerGrant:
        """Start a container: PreStartContainer comes first. The ids are left out: see `admit`."""
        try:
            made = self._ask("run", pod=_said(pod), container=container)
        except CommandError as problem:
            raise ContainerStartError(str(problem)) from problem
        return ContainerGrant(ids={}, answer=_answer(made))

    def remove(self, pod: Pod) -> None:
        """End a pod."""
        self._pods.pop(pod.uid, None)
        if self._program is not None:
            self._ask("remove", pod=_said(pod))

    # --- accidents ---

    def cut_stream(self, resource: str) -> None:
        """Reset the connections to all plugins: which one is whose cannot be seen from here."""
        del resource
        self._ask("cut")

    def _ask(self, do: str, **more: object) -> Any:  # noqa: ANN401 - whatever JSON can say
        program = self._program
        if program is None:
            raise KubeletDownError("the kubelet is not running")
        return program.ask(do, **more)

    def _hear(self, event: Event) -> None:
        record = _record(event)
        if record is not None:
            self.history.add(record)


def _record(event: Event) -> Record | None:
    """Return what a line of the log means, if it means anything. No line tells the endpoint."""
    resource = event.get("resourceName") or event.get("resource") or ""
    reason = event.get("err", "")
    match event["event"]:
        case "Got registration request from device plugin with resource":
            return RegisterAsked(resource=resource, endpoint="", version="")
        case "Device plugin connected":
            return Registered(resource=resource, endpoint="")
        case text if text.startswith(("Bad registration request", "Error connecting to device")):
            return Refused(resource=resource, endpoint="", reason=reason)
        case "Processed device updates for resource":
            devices = event["totalCount"]
            return ListReceived(resource=resource, endpoint="", devices=devices, size=0)
        case "ListAndWatch ended unexpectedly for device plugin":
            return StreamEnded(resource=resource, endpoint="", reason=reason)
        case _:
            return None


def _said(pod: Pod) -> Mapping[str, object]:
    return {
        "name": pod.name,
        "namespace": pod.namespace,
        "uid": pod.uid,
        "containers": [
            attrs.asdict(each, recurse=False) | {"resources": dict(each.resources)}
            for each in pod.containers
        ],
    }


def _answer(made: Mapping[str, Any]) -> Answer:
    return Answer(
        envs=made["envs"],
        annotations=made["annotations"],
        devices=tuple(
            DeviceSpec(
                container_path=each["container"],
                host_path=each["host"],
                permissions=each["permissions"],
            )
            for each in made["devices"] or ()
        ),
        mounts=tuple(
            Mount(
                container_path=each["container"],
                host_path=each["host"],
                read_only=each["read_only"],
            )
            for each in made["mounts"] or ()
        ),
        cdi_devices=tuple(made["cdi"] or ()),
    )
