"""The laws of `HostUse`."""

from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Protocol

import pytest

from deviceplugin.domain.errors import ScanError
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.ports.driven.host_use import HostUse


class HostUseWorld(Protocol):
    """A host that uses nothing, and the power to let it use something."""

    @property
    @abstractmethod
    def host(self) -> HostUse:
        """The view of the host under test."""
        ...

    @abstractmethod
    def mount(self, number: NodeNumber, place: str) -> None:
        """Mount a block device at a place."""
        ...

    @abstractmethod
    def swap(self, number: NodeNumber) -> None:
        """Swap to a block device."""
        ...

    @abstractmethod
    def route(self, interface: str) -> None:
        """Let a default route lead by a network interface."""
        ...

    @abstractmethod
    def release(self) -> None:
        """End every use."""
        ...

    @abstractmethod
    def break_down(self) -> None:
        """Let nothing be told any more."""
        ...


SDA1 = NodeNumber("block", 8, 1)
SDA2 = NodeNumber("block", 8, 2)


class HostUseContract:
    """What holds for each view of what the host uses: subclass it and provide `world`."""

    def world(self) -> AbstractContextManager[HostUseWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    def test_a_host_that_uses_nothing_uses_nothing(self) -> None:
        """That can be told, and is no error."""
        with self.world() as world:
            assert world.host.disks() == {}
            assert world.host.interfaces() == {}

    def test_what_is_mounted_is_told_with_its_place(self) -> None:
        """Whatever letters the place has."""
        for place in ("/", "/var/lib/my data", "/a\\b", "/\u00e9", "/tab\there", "/new\nline"):
            with self.world() as world:
                world.mount(SDA1, place)
                assert world.host.disks() == {SDA1: f"mounted at {place}"}

    def test_what_is_swapped_to_is_told(self) -> None:
        """Beside what is mounted."""
        with self.world() as world:
            world.mount(SDA1, "/")
            world.swap(SDA2)
            found = world.host.disks()
            assert found == {SDA1: "mounted at /", SDA2: "used as swap space"}

    def test_default_routes_are_told_by_their_interfaces(self) -> None:
        """There can be several."""
        with self.world() as world:
            world.route("eth0")
            world.route("wlan0.7")
            assert world.host.interfaces().keys() == {"eth0", "wlan0.7"}

    def test_a_use_that_ended_is_no_use(self) -> None:
        """Each look is a new one."""
        with self.world() as world:
            world.mount(SDA1, "/")
            world.swap(SDA2)
            world.route("eth0")
            assert world.host.disks()
            world.release()
            assert world.host.disks() == {}
            assert world.host.interfaces() == {}

    def test_what_cannot_be_told_is_not_no_use(self) -> None:
        """Else a disk in use would be given away."""
        with self.world() as world:
            world.mount(SDA1, "/")
            world.break_down()
            with pytest.raises(ScanError):
                world.host.disks()
            with pytest.raises(ScanError):
                world.host.interfaces()
