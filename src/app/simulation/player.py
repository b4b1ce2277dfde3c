"""Has a fake kubelet do what it is told."""

import itertools
import time
from functools import singledispatchmethod

from deviceplugin.app.simulation import commands as do
from deviceplugin.app.simulation import files
from deviceplugin.app.simulation.grammar import GRAMMAR
from deviceplugin.app.simulation.screen import Screen, grants, parts
from deviceplugin.testing.kubelet import (
    Container,
    DropLate,
    FakeKubelet,
    FakeKubeletError,
    Hang,
    Late,
    Pod,
    PodRejected,
    Refuse,
    Registered,
    ResourceView,
    Step,
    ask_pod_resources,
)


class CommandFailedError(Exception):
    """What was told could not be done, or did not come true; the text says which."""


class Player:
    """Carries out commands, one after the other, and shows what came of them.

    It knows the kubelet's pods by name, which is the uid of those that an earlier process left.
    `ended` is set by `quit`.
    """

    def __init__(self, kubelet: FakeKubelet, screen: Screen) -> None:
        """Do nothing yet."""
        self._kubelet = kubelet
        self._screen = screen
        self._numbers = itertools.count(1)
        self.ended = False

    def play(self, command: do.Command) -> None:
        """Carry out one command; raises `CommandFailedError`."""
        try:
            self._do(command)
        except (FakeKubeletError, TimeoutError, OSError, LookupError) as problem:
            raise CommandFailedError(str(problem)) from problem

    @singledispatchmethod
    def _do(self, command: do.Command) -> None:
        raise NotImplementedError(type(command))

    # --- life and death ---

    @_do.register
    def _(self, _: do.Start) -> None:
        self._kubelet.start()

    @_do.register
    def _(self, _: do.Stop) -> None:
        self._kubelet.stop()

    @_do.register
    def _(self, _: do.Crash) -> None:
        self._kubelet.crash()

    @_do.register
    def _(self, command: do.Restart) -> None:
        self._kubelet.restart(command.gap)

    @_do.register
    def _(self, _: do.Quit) -> None:
        self.ended = True

    # --- accidents ---

    @_do.register
    def _(self, command: do.Cut) -> None:
        if not self._kubelet.streams(command.resource):
            raise CommandFailedError(f"{command.resource} has no stream to cut")
        self._kubelet.cut_stream(command.resource)

    @_do.register
    def _(self, command: do.Spoil) -> None:
        step: Step
        match command.how:
            case "reject":
                step = Refuse(command.reason)
            case "hang":
                step = Hang()
            case "drop":
                step = DropLate()
            case _:
                step = Late(command.seconds)
        faults = self._kubelet.faults
        faults.on_register(step, times=command.times, resource=command.resource)

    @_do.register
    def _(self, command: do.Delay) -> None:
        self._kubelet.faults.clean_to_bind = command.bind
        self._kubelet.faults.bind_to_listen = command.listen

    @_do.register
    def _(self, _: do.DeleteDirectory) -> None:
        files.delete(self._kubelet.directory)

    @_do.register
    def _(self, _: do.MakeDirectory) -> None:
        self._kubelet.directory.mkdir()

    @_do.register
    def _(self, _: do.LinkDirectory) -> None:
        aside = files.put_link(self._kubelet.directory)
        self._screen.line(f"{self._kubelet.directory} is a link to {aside} now")

    # --- pods ---

    @_do.register
    def _(self, command: do.Allocate) -> None:
        name = command.pod or f"pod-{next(self._numbers)}"
        if name in self._pods():
            raise CommandFailedError(
                f"there is a pod {name} already: write `remove {name}` first, or another name"
            )
        containers = [Container("main", command.wants)]
        if command.init is not None:
            wants = dict.fromkeys(command.wants, command.init)
            containers.insert(0, Container("init", wants, init=True))
        self._admit(Pod(name, containers, namespace=command.namespace))

    @_do.register
    def _(self, command: do.Again) -> None:
        self._admit(self._pod(command.pod))

    def _admit(self, pod: Pod) -> None:
        verdict = self._kubelet.admit(pod)
        if isinstance(verdict, PodRejected):
            raise CommandFailedError(f"{pod.name} rejected: {verdict.reason}: {verdict.message}")
        self._screen.line(f"{pod.name} admitted")
        headings = ("Container", "What", "In the container", "From the host")
        self._screen.table(headings, grants(verdict))

    @_do.register
    def _(self, command: do.PreStart) -> None:
        made = self._kubelet.start_container(self._pod(command.pod), command.container)
        self._screen.line(f"{command.container} of {command.pod} started")
        self._screen.table(("What", "In the container", "From the host"), parts(made.answer))

    @_do.register
    def _(self, command: do.Remove) -> None:
        self._kubelet.remove(self._pod(command.pod))

    @_do.register
    def _(self, command: do.Prefer) -> None:
        ids = self._kubelet.prefer(command.resource, command.size)
        self._screen.line(f"preferred: {', '.join(sorted(ids)) or 'none in particular'}")

    def _pod(self, name: str) -> Pod:
        pods = self._pods()
        if name not in pods:
            known = ", ".join(pods) or "none"
            raise CommandFailedError(f"there is no pod {name}; there is {known}")
        return pods[name]

    def _pods(self) -> dict[str, Pod]:
        return {pod.name: pod for pod in self._kubelet.pods}

    # --- looking ---

    @_do.register
    def _(self, _: do.PodResources) -> None:
        held = ask_pod_resources(self._kubelet.pod_resources)
        self._screen.table(
            ("Namespace", "Pod", "Container", "Resource", "Device", "NUMA"),
            [
                (h.namespace, h.pod, h.container, h.resource, h.device, _listed(h.nodes))
                for h in held
            ],
        )

    @_do.register
    def _(self, _: do.Show) -> None:
        state = "runs" if self._kubelet.running else "is dead"
        self._screen.line(
            f"Kubernetes {self._kubelet.profile.version} at {self._kubelet.socket} {state}"
        )
        self._screen.table(
            ("Resource", "Capacity", "Allocatable", "Allocated", "Streams", "Endpoint"),
            [_row(seen) for seen in self._kubelet.resources().values()],
        )

    @_do.register
    def _(self, command: do.Wait) -> None:
        def wanted(seen: ResourceView) -> bool:
            return self._count(seen, command.what) == command.count

        try:
            self._kubelet.await_resource(command.resource, wanted, command.within)
        except TimeoutError:
            seen = self._kubelet.resource(command.resource)
            raise CommandFailedError(
                f"after {command.within:g} s {command.resource} has {command.what} "
                f"{self._count(seen, command.what)}, not {command.count}"
            ) from None

    def _count(self, seen: ResourceView, what: str) -> int:
        match what:
            case "capacity":
                return seen.capacity
            case "allocatable":
                return seen.allocatable
            case "allocated":
                return len(seen.allocated)
            case "streams":
                return seen.streams
            case _:
                return len(self._kubelet.history.of(Registered, seen.name))

    @_do.register
    def _(self, command: do.Sleep) -> None:
        time.sleep(command.seconds)

    @_do.register
    def _(self, command: do.Fails) -> None:
        try:
            self.play(command.command)
        except CommandFailedError as problem:
            self._screen.line(f"as it must, this failed: {problem}")
        else:
            raise CommandFailedError("it did not fail")

    @_do.register
    def _(self, _: do.Help) -> None:
        rows = [(entry.usage, entry.about) for entry in GRAMMAR.values()]
        self._screen.table(("Command", "What it does"), rows)


def _row(seen: ResourceView) -> tuple[str, ...]:
    numbers = (seen.capacity, seen.allocatable, len(seen.allocated), seen.streams)
    return (seen.name, *map(str, numbers), seen.endpoint or "-")


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers)) or "-"
