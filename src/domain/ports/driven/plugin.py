"""What we ask of a plugin's author: one scanner, and powers found on the same object.

Each power speaks domain types and may be a plain or an `async` method. A plain one runs on a
thread of its own, so it may block; each has a bound in time, because the kubelet has none and
admits pods one by one.
"""

from abc import abstractmethod
from collections.abc import Awaitable, Sequence
from typing import Protocol, runtime_checkable

from deviceplugin.domain.allocation import Grant, Request
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.preference import Wish
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import Devices


class Scanner(Protocol):
    """Finds devices for as long as the plugin lives."""

    @abstractmethod
    def scan(self, notifier: Notifier, /) -> Awaitable[None] | None:
        """Loop for ever; hand each tree found to `notifier.notify`.

        Called once. If it raises it is called again, later and later, and the last tree stays in
        force; if it returns the plugin ends.
        """
        ...


@runtime_checkable
class Allocator(Protocol):
    """The power to decide what a container gets."""

    @abstractmethod
    def allocate(self, request: Request, /) -> Awaitable[Grant | None] | Grant | None:
        """Return what the container gets, or None for the default, `request.default()`.

        What is raised fails the pod, with its text as the reason.
        """
        ...


@runtime_checkable
class PostAllocator(Protocol):
    """The power to change the default grant before it is given."""

    @abstractmethod
    def post_allocate(self, request: Request, grant: Grant, /) -> Awaitable[Grant] | Grant:
        """Return the grant to give in place of `grant`; never asked about an `Allocator`'s own."""
        ...


@runtime_checkable
class PreferredAllocator(Protocol):
    """The power to say which devices a container had better get."""

    @abstractmethod
    def preferred_allocation(
        self, resource: ResourceName, wish: Wish, devices: Devices, /
    ) -> Awaitable[Sequence[DeviceId]] | Sequence[DeviceId]:
        """Return `wish.size` ids out of `wish.available`, with `wish.must_include` among them."""
        ...


@runtime_checkable
class ContainerPreStarter(Protocol):
    """The power to act before each start of a container."""

    @abstractmethod
    def pre_start_container(self, request: Request, /) -> Awaitable[None] | None:
        """Make the devices ready. What is raised delays the container; the kubelet tries again.

        Not asked where a device cannot be had, or is no longer at the node that the container has:
        the kubelet hears that with id and path.
        """
        ...
