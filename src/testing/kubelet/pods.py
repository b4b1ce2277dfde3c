"""Pods, as far as devices go, and what becomes of them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias
from uuid import uuid4

import attrs

from deviceplugin.testing.kubelet.values import Answer


def _read_only(resources: Mapping[str, int]) -> Mapping[str, int]:
    return MappingProxyType(dict(resources))


def _uid() -> str:
    return str(uuid4())


@attrs.frozen
class Container:
    """A container and the limits it sets on extended resources."""

    name: str
    resources: Mapping[str, int] = attrs.field(factory=dict[str, int], converter=_read_only)
    init: bool = attrs.field(default=False, kw_only=True)
    restartable: bool = attrs.field(default=False, kw_only=True)
    """With `init`: a side-car, which keeps running and so keeps its devices."""


@attrs.frozen(kw_only=True)
class Want:
    """A container's limit on one resource."""

    pod: str
    container: str
    resource: str
    size: int


@attrs.frozen
class Pod:
    """A pod. Two of the same name are different pods unless they share the uid."""

    name: str
    containers: Sequence[Container] = attrs.field(converter=tuple[Container, ...])
    namespace: str = attrs.field(default="default", kw_only=True)
    uid: str = attrs.field(factory=_uid, kw_only=True)

    @classmethod
    def asking(cls, name: str, resources: Mapping[str, int]) -> "Pod":
        """Return a pod whose one container `main` sets these limits."""
        return cls(name, [Container("main", resources)])

    @property
    def in_order(self) -> tuple[Container, ...]:
        """The containers as the kubelet serves them: init containers first, else as they stand."""
        return tuple(sorted(self.containers, key=lambda container: not container.init))

    def wants(self, container: Container) -> tuple[Want, ...]:
        """Return what a container of this pod asks for."""
        return tuple(
            Want(pod=self.uid, container=container.name, resource=resource, size=size)
            for resource, size in container.resources.items()
        )

    def container(self, name: str) -> Container:
        """Return one container; raises `LookupError`."""
        for container in self.containers:
            if container.name == name:
                return container
        message = f"pod {self.name} has no container {name!r}"
        raise LookupError(message)


@attrs.frozen(kw_only=True)
class ContainerGrant:
    """What a container gets: which devices of each resource, and the merged answers."""

    ids: Mapping[str, frozenset[str]]
    answer: Answer


@attrs.frozen(kw_only=True)
class PodAdmitted:
    """The pod runs. A container that got no device has an empty grant."""

    pod: Pod
    containers: Mapping[str, ContainerGrant]


@attrs.frozen(kw_only=True)
class PodRejected:
    """The pod has failed for good: the kubelet never tries the same pod again."""

    pod: Pod
    reason: str
    message: str


Verdict: TypeAlias = PodAdmitted | PodRejected
"""How an admission ends."""
