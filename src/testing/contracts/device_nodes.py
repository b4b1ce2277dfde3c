"""The laws of `DeviceNodes`."""

import errno
from abc import abstractmethod
from contextlib import AbstractContextManager
from typing import Protocol

from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber

ODD_PATHS = ("", "kvm", "/", "/dev", "/dev/a\0b", "/dev/" + "x" * 5000, "/dev/\udcff", "/de/kvm")


class DeviceNodesWorld(Protocol):
    """An empty /dev of a host, and the power to fill it. Folders come into being as needed."""

    @property
    @abstractmethod
    def nodes(self) -> DeviceNodes:
        """The device nodes under test."""
        ...

    @abstractmethod
    def add_node(self, path: str) -> NodeNumber:
        """Make a device node and return its number; skip the test if this process may not."""
        ...

    @abstractmethod
    def add_file(self, path: str) -> None:
        """Make a plain file."""
        ...

    @abstractmethod
    def add_link(self, path: str, target: str) -> None:
        """Make a symbolic link with this text."""
        ...

    @abstractmethod
    def close(self, path: str) -> None:
        """Let a folder be one that may not be looked into (EACCES)."""
        ...

    @abstractmethod
    def open(self, path: str) -> None:
        """Let a closed folder be as before."""
        ...


class DeviceNodesContract:
    """What holds for each view of device nodes: subclass it and provide `world`."""

    def world(self) -> AbstractContextManager[DeviceNodesWorld]:
        """Return a world of its own for one test."""
        raise NotImplementedError

    def test_a_node_has_its_number(self) -> None:
        """At once when it is there, below any folder."""
        with self.world() as world:
            for path in ("/dev/kvm", "/dev/bus/usb/001/002"):
                assert world.nodes.number(path) is None
                number = world.add_node(path)
                assert world.nodes.number(path) == number

    def test_what_is_no_node_has_no_number(self) -> None:
        """Neither a plain file, nor a folder, nor what lies below a file."""
        with self.world() as world:
            world.add_file("/dev/sub/file")
            for path in ("/dev/sub/file", "/dev/sub", "/dev/sub/file/x", "/dev/missing"):
                assert world.nodes.number(path) is None

    def test_a_node_is_found_through_links(self) -> None:
        """Relative or absolute, to the node or to its folder, one after the other."""
        with self.world() as world:
            world.add_link("/dev/serial/by-id/usb-x", "../../ttyUSB0")
            world.add_link("/dev/modem", "/dev/serial/by-id/usb-x")
            world.add_link("/dev/ids", "serial/by-id")
            number = world.add_node("/dev/ttyUSB0")
            for path in ("/dev/serial/by-id/usb-x", "/dev/modem", "/dev/ids/usb-x"):
                assert world.nodes.number(path) == number

    def test_a_link_is_resolved_to_the_name_that_the_host_knows(self) -> None:
        """A file need not be a device; a path without links is itself."""
        with self.world() as world:
            world.add_file("/dev/ttyUSB0")
            world.add_link("/dev/serial/by-id/usb-x", "../../ttyUSB0")
            world.add_link("/dev/modem", "/dev/serial/by-id/usb-x")
            for path in ("/dev/ttyUSB0", "/dev/serial/by-id/usb-x", "/dev/modem"):
                assert world.nodes.resolve(path) == "/dev/ttyUSB0"
            assert world.nodes.resolve("/dev/serial/../ttyUSB0") == "/dev/ttyUSB0"

    def test_a_link_that_leads_nowhere_stays_as_it_is(self) -> None:
        """Whether what it names is missing, or it leads to itself, or below a file."""
        with self.world() as world:
            world.add_file("/dev/file")
            for path, target in (
                ("/dev/dangling", "missing"),
                ("/dev/loop", "loop"),
                ("/dev/to", "fro"),
                ("/dev/fro", "to"),
                ("/dev/below", "file/x"),
            ):
                world.add_link(path, target)
                assert world.nodes.resolve(path) == path
                assert world.nodes.number(path) is None

    def test_no_link_leads_out_of_dev(self) -> None:
        """Outside of /dev there may be another machine's files: what leads there leads nowhere."""
        with self.world() as world:
            world.add_file("/dev/inside")
            for path, target in (
                ("/dev/log", "/run/log"),
                ("/dev/up", "../etc/passwd"),
                ("/dev/root", "/"),
                ("/dev/high", "../../../etc/passwd"),
            ):
                world.add_link(path, target)
                assert world.nodes.resolve(path) == path
                assert world.nodes.number(path) is None
            for path in ("/dev/../etc/passwd", "/dev/root/dev/../etc", "/devices/x"):
                assert world.nodes.resolve(path) == path
                assert world.nodes.number(path) is None

    def test_a_link_may_go_through_the_root_and_back(self) -> None:
        """Only where it ends counts."""
        with self.world() as world:
            world.add_file("/dev/inside")
            for path, target in (
                ("/dev/by-root", "../dev/inside"),
                ("/dev/by-dots", "/dev/../dev/inside"),
            ):
                world.add_link(path, target)
                assert world.nodes.resolve(path) == "/dev/inside"

    def test_a_glob_finds_names_in_order(self) -> None:
        """Whatever bears the name: a file, a folder, a link that leads nowhere; each once."""
        with self.world() as world:
            for name in ("ttyUSB10", "ttyUSB2", "ttyS0", "null"):
                world.add_file(f"/dev/{name}")
            world.add_file("/dev/ttyUSBs/x")
            world.add_link("/dev/ttyUSB9", "missing")
            found = ["/dev/ttyUSB10", "/dev/ttyUSB2", "/dev/ttyUSB9", "/dev/ttyUSBs"]
            assert list(world.nodes.matching("/dev/ttyUSB*")) == found
            assert list(world.nodes.matching("/dev/ttyUSB?")) == found[1:]
            assert list(world.nodes.matching("/dev/ttyUSB[0-9]")) == found[1:3]
            assert list(world.nodes.matching("/dev/ttyUSB[!0-9]")) == found[3:]
            assert list(world.nodes.matching("/dev/null")) == ["/dev/null"]
            assert list(world.nodes.matching("/dev/nothing*")) == []

    def test_a_wildcard_never_crosses_a_slash(self) -> None:
        """Each part of a pattern matches one name; two stars are no more than one."""
        with self.world() as world:
            world.add_file("/dev/dri/by-path/card")
            world.add_file("/dev/dri/card0")
            assert list(world.nodes.matching("/dev/*")) == ["/dev/dri"]
            assert list(world.nodes.matching("/dev/**")) == ["/dev/dri"]
            assert list(world.nodes.matching("/dev/*/card*")) == ["/dev/dri/card0"]
            assert list(world.nodes.matching("/dev/*/*/c*")) == ["/dev/dri/by-path/card"]
            assert list(world.nodes.matching("/dev/**/card")) == []

    def test_a_glob_goes_through_links_without_leaving_dev(self) -> None:
        """What is found keeps the name under which it was found."""
        with self.world() as world:
            world.add_file("/dev/serial/by-id/usb-x")
            world.add_link("/dev/ids", "serial/by-id")
            world.add_link("/dev/out", "/etc")
            world.add_link("/dev/up", "..")
            assert list(world.nodes.matching("/dev/ids/*")) == ["/dev/ids/usb-x"]
            assert list(world.nodes.matching("/dev/out/*")) == []
            assert list(world.nodes.matching("/dev/up/*")) == []
            assert list(world.nodes.matching("/dev/../*")) == []

    def test_a_hidden_name_needs_a_pattern_that_says_so(self) -> None:
        """As in a shell, no wildcard stands for a dot at the beginning."""
        with self.world() as world:
            world.add_file("/dev/.hidden")
            assert list(world.nodes.matching("/dev/*")) == []
            assert list(world.nodes.matching("/dev/.h*")) == ["/dev/.hidden"]

    def test_a_folder_that_may_not_be_looked_into_is_told_by_name(self) -> None:
        """By its own path, whatever was asked below it; once, until it is asked again."""
        with self.world() as world:
            world.add_file("/dev/open/x")
            world.add_file("/dev/closed/y/z")
            world.add_link("/dev/way", "closed/y")
            world.close("/dev/closed")
            assert dict(world.nodes.take_refusals()) == {}
            told = {"/dev/closed": errno.EACCES}
            for path in ("/dev/closed/y", "/dev/closed/y/z", "/dev/closed/none", "/dev/way/z"):
                assert world.nodes.number(path) is None
                assert dict(world.nodes.take_refusals()) == told
                assert world.nodes.resolve(path) == path
                assert dict(world.nodes.take_refusals()) == told
            for pattern in ("/dev/closed/*", "/dev/*/[xy]", "/dev/closed/y/z", "/dev/way/*"):
                list(world.nodes.matching(pattern))
                assert dict(world.nodes.take_refusals()) == told
            assert dict(world.nodes.take_refusals()) == {}
            assert list(world.nodes.matching("/dev/*/x")) == ["/dev/open/x"]
            world.nodes.take_refusals()
            world.open("/dev/closed")
            assert list(world.nodes.matching("/dev/way/*")) == ["/dev/way/z"]
            assert dict(world.nodes.take_refusals()) == {}

    def test_what_is_not_there_is_no_refusal(self) -> None:
        """Nor is what is below a file, or a link that leads nowhere."""
        with self.world() as world:
            world.add_file("/dev/file")
            world.add_link("/dev/dangling", "missing")
            world.add_link("/dev/loop", "loop")
            world.add_link("/dev/out", "/etc")
            for path in ("/dev/missing/x", "/dev/file/x", "/dev/dangling/x", "/dev/loop/x"):
                world.nodes.number(path)
                world.nodes.resolve(path)
            for pattern in ("/dev/file/*", "/dev/missing/*", "/dev/*/x", "/dev/out/*"):
                list(world.nodes.matching(pattern))
            for path in ODD_PATHS:
                world.nodes.number(path)
            assert dict(world.nodes.take_refusals()) == {}

    def test_odd_paths_raise_nothing(self) -> None:
        """What can be no device is no device, by whatever text."""
        with self.world() as world:
            for path in ODD_PATHS:
                assert world.nodes.number(path) is None
                assert world.nodes.resolve(path) == path
            for pattern in (*ODD_PATHS, "/dev/[", "/dev/", "/etc/*", "*"):
                assert list(world.nodes.matching(pattern)) == []
