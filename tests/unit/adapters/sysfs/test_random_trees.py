"""Whatever is in a tree: a scan ends, never leaves it, and finds what is good in it."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import attrs
from hypothesis import given
from hypothesis import strategies as st
from tests.support.ground import Ground
from tests.support.witness import Witness, weight

from deviceplugin.adapters.memory.host_use import MemoryHostUse
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.recorded import (
    NotedHostUse,
    NotedNodes,
    RecordedHostUse,
    opened,
    write,
)
from deviceplugin.adapters.sysfs import SysfsScanner
from deviceplugin.adapters.sysfs.files import PAGE, Files
from deviceplugin.adapters.sysfs.recording import Questions, replaying, taken
from deviceplugin.adapters.system.recorded_nodes import RecordedDeviceNodes
from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.discovery.provision import (
    Companion,
    GroupBy,
    MountRule,
    Provision,
    Relation,
    path_template,
)
from deviceplugin.domain.discovery.templates import Template, Use
from deviceplugin.domain.events import Event
from deviceplugin.domain.ports.driven.device_nodes import DeviceNodes, NodeNumber
from deviceplugin.domain.ports.driven.host_use import HostUse
from deviceplugin.domain.recording.entries import Recording
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.tree import FrozenTree
from deviceplugin.testing.rules import alternative, rule
from deviceplugin.testing.sysfs import FakeSysfs, Oddity

FILES = [
    *("uevent", "dev", "numa_node", "driver", "subsystem", "serial", "device", "power"),
    *("slaves", "lower_x", "iommu_group", "uuid", "dm", "holders", "brif", "sriov_numvfs"),
]
HOMES = ["class/odd", "class/misc", "class", "bus", "devices", "dev/char"]
"""Where the same odd things stand."""
BESIDE = "beside-the-root"
TARGETS = [
    "../../devices/odd0",
    "../odd1",
    "..",
    ".",
    "/",
    "/etc",
    "gone",
    "a",
    f"../../../{BESIDE}",
]


@attrs.frozen
class Thing:
    """Something in a directory: a file with data, a link, a directory or a pipe."""

    name: str
    data: bytes | None = None
    target: str = ""
    is_pipe: bool = False


names = st.one_of(
    st.sampled_from(["a", "ttyUSB0", "odd0", "..x", "-", "usb1", "1-1:1.0"]),
    st.text(st.characters(blacklist_characters="/\0", blacklist_categories=["Cs"]), max_size=12),
    st.binary(min_size=1, max_size=8).map(os.fsdecode),
).filter(lambda name: name not in {"", ".", ".."} and "/" not in name and "\0" not in name)
data = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"MAJOR=1\nMINOR=7\nDEVNAME=full\n",
            b"MAJOR=188\nMINOR=0\nDEVNAME=../secret\n",
            b"MAJOR=4\nDEVNAME=a\xffb\nMINOR=64\n",
            b"-1\n",
            b"1:7\n",
            b"x" * 9000,
        ]
    ),
)


def things(name: st.SearchStrategy[str]) -> st.SearchStrategy[Thing]:
    """Return a strategy for what may stand in a directory."""
    return st.one_of(
        st.builds(Thing, name, data=data),
        st.builds(Thing, name, target=st.sampled_from(TARGETS)),
        st.builds(Thing, name),
        st.builds(Thing, name, is_pipe=st.just(True)),
    )


def put(directory: Path, thing: Thing) -> None:
    """Make the thing, if nothing of its name is there and the file system can have it."""
    path = directory / thing.name
    if os.path.lexists(path):
        return
    if thing.data is not None:
        path.write_bytes(thing.data)
    elif thing.target:
        path.symlink_to(thing.target)
    elif thing.is_pipe:
        os.mkfifo(path)
    else:
        path.mkdir()


@attrs.frozen
class Tree:
    """What is odd in a tree."""

    entries: list[Thing]
    inside: list[list[Thing]]
    spoilt: list[Oddity]
    without: str


trees = st.builds(
    Tree,
    entries=st.lists(things(names), max_size=6),
    inside=st.lists(st.lists(things(st.sampled_from(FILES)), max_size=6), max_size=4),
    spoilt=st.lists(st.sampled_from(Oddity), max_size=4),
    without=st.sampled_from(["", "bus", "dev", "class/odd", "bus/pci/devices", "dev/char"]),
)

RULES = [
    rule("x.local/good", {"subsystem": "misc", "name": "kvm"}),
    rule("x.local/port", {"node": "/dev/serial/by-id/*"}),
    rule(
        "x.local/odd",
        {"subsystem": "odd", "attributes": {"serial": "*", "device/uevent": "*", "dev": "*"}},
        {"parents": [{"properties": {"MAJOR": "1"}}, {"driver": "*"}], "usb": {"serial": "*"}},
        {"pci": {"class": "*"}, "properties": {"DEVNAME": "*"}},
        {"driver": "*", "attributes": {"power": "*"}},
        {"devpath": "*odd*"},
        {"name": "*"},
        exclude=[
            {"parents": [{"attributes": {"serial": "x", "dm/uuid": "*"}}]},
            {"pci": "0001:*"},
        ],
        exclude_in_use=True,
    ),
]

EVERYTHING_ALONG = Provision(
    companions=tuple(
        Companion(relation=relation, wanted=alternative({"name": "*"}), optional=optional)
        for relation in Relation
        for optional in (True, False)
    ),
    mounts=(MountRule(host_path=path_template("/run/{attributes.serial}/{name}")),),
    envs=((Template("E_{name}", Use.NAME), Template("{usb.serial|}{properties.DEVNAME|}")),),
    group_by=GroupBy("attributes.serial"),
    count=2,
    limit=20,
)
"""All that a resource can say of what a container gets."""


def good_machine(sysfs: FakeSysfs) -> None:
    """Make two good devices, and something beside the root that looks like a third."""
    beside = sysfs.root.parent / BESIDE
    beside.mkdir()
    (beside / "uevent").write_text(f"MAJOR=1\nMINOR=1\nDEVNAME={BESIDE}\n")
    sysfs.misc("kvm", 232)
    hub = sysfs.usb_hub(1, below=sysfs.pci("0000:00:14.0", numa_node="1"))
    usb = sysfs.usb("1-1", below=hub, number=2)
    sysfs.usb_tty("ttyUSB0", below=sysfs.usb_interface(usb))
    sysfs.nodes.add_link("/dev/serial/by-id/x", "../../ttyUSB0")
    for home in HOMES:
        sysfs.at(home).mkdir(parents=True, exist_ok=True)


GROUND = Ground(good_machine)


@contextmanager
def grown(tree: Tree) -> Generator[FakeSysfs]:
    """Lend a machine with two good devices among the odd ones."""
    with GROUND.machine() as sysfs:
        for number, oddity in enumerate(tree.spoilt):
            device = sysfs.child(f"spoilt{number}", subsystem="odd", number=(200, number))
            sysfs.spoil(device, oddity)
        for number, inside in enumerate(tree.inside):
            directory = sysfs.at(f"/devices/odd{number}")
            directory.mkdir(parents=True)
            for thing in inside:
                put(directory, thing)
            sysfs.link(f"/class/odd/odd{number}", f"/devices/odd{number}")
            sysfs.link(f"/class/net/odd{number}", f"/devices/odd{number}")
            sysfs.link(f"/dev/block/1:{number}", f"/devices/odd{number}")
        for home in HOMES:
            for thing in tree.entries:
                put(sysfs.at(home), thing)
        if tree.without:
            GROUND.take_away(f"sys/{tree.without}")
        yield sysfs


def check_good(found: dict[ResourceName, dict[DeviceId, DeviceInfo]], tree: Tree) -> None:
    """Fail unless the good devices are found, and nothing that is outside of the tree."""
    kvm = found[ResourceName("x.local", "good")][DeviceId("kvm")]
    assert (kvm.health, kvm.nodes[0].host_path) == (Health.HEALTHY, "/dev/kvm")
    if not tree.without.startswith("dev"):
        (port,) = found[ResourceName("x.local", "port")].values()
        assert (port.health, port.numa_nodes) == (Health.HEALTHY, (1,))
    everything = [info for devices in found.values() for info in devices.values()]
    paths = [node.host_path for info in everything for node in info.nodes]
    assert not [path for path in paths if not path.startswith("/dev/") or ".." in path]
    assert BESIDE not in str(paths)
    numbers = [info.attributes["devnum"] for info in everything if info.health is Health.HEALTHY]
    assert len(set(numbers)) == len(numbers)


def in_use() -> MemoryHostUse:
    """Return a host that uses one disk and one network card."""
    host = MemoryHostUse()
    host.mount(NodeNumber("block", 1, 7), "/")
    host.route("odd0")
    return host


def everything_in(directory: Path) -> set[str]:
    """Return the paths of all that is in a directory, however deep."""
    return {
        f"{each}/{name}" for each, below, files in os.walk(directory) for name in (*below, *files)
    }


@contextmanager
def bounded(sysfs: FakeSysfs, scanner: SysfsScanner, journal: MemoryJournal) -> Generator[None]:
    """Fail unless two scans stay in the tree, and do and keep no more than its size allows."""
    witness = Witness()
    with witness.watching():
        yield
    assert not witness.outside(sysfs.root)
    entries = len(everything_in(sysfs.root))
    assert len(witness.opened) <= 2 * entries
    assert len(journal.events) <= entries
    assert weight((scanner, journal), but=[sysfs.nodes, *RULES]) <= 64 * 1024 + PAGE * entries


@given(trees)
def test_no_tree_breaks_a_scan_or_hides_a_good_device(tree: Tree) -> None:
    journal = MemoryJournal()
    with grown(tree) as sysfs:
        scanner = SysfsScanner(
            RULES, nodes=sysfs.nodes, journal=journal, sys_root=str(sysfs.root), host=in_use()
        )
        with bounded(sysfs, scanner, journal):
            first = scanner.scan().freeze("x.local")
            check_good({key: dict(each) for key, each in first.resources.items()}, tree)
            assert scanner.scan().freeze("x.local") == first


def seen(
    root: Path, host: HostUse, nodes: DeviceNodes, reader: Callable[[str], Files]
) -> tuple[FrozenTree, set[Event]]:
    """Return what one scan of a tree finds, and what it says."""
    journal = MemoryJournal()
    scanner = SysfsScanner(
        RULES, nodes=nodes, journal=journal, sys_root=str(root), host=host, files=reader
    )
    return scanner.scan().freeze("x.local"), set(journal.events)


@given(trees)
def test_whatever_a_tree_is_its_recording_says_the_same(tree: Tree) -> None:
    """Written below a directory of its own, and nothing outside of it."""
    with grown(tree) as sysfs:
        root = sysfs.root.parent
        asked, nodes, host = Questions(), NotedNodes(sysfs.nodes), NotedHostUse(in_use())
        live = seen(sysfs.root, host, nodes, asked.reader)
        before = everything_in(root)
        witness = Witness()
        with witness.watching():
            below = {f"/sys{path}": entry for path, entry in taken(str(sysfs.root), asked).items()}
        assert not witness.outside(sysfs.root)
        copy = root / "copy"
        write(Recording({**below, **nodes.entries()}, uses=host.uses()), str(copy))
        after = everything_in(root) - before
        assert {each for each in after if not each.startswith(f"{copy}/")} == {str(copy)}
        recorded = opened(str(copy))
        assert recorded is not None
        replayed = seen(
            copy / "sys",
            RecordedHostUse(recorded.uses),
            RecordedDeviceNodes(f"{copy}/dev"),
            replaying(recorded.below("/sys")),
        )
        assert replayed == live


@given(trees, st.sampled_from(["attributes.serial", "hardware", "iommu_group"]))
def test_no_tree_breaks_what_comes_along_or_hides_a_good_device(tree: Tree, by: str) -> None:
    """Whoever asks for all that there is, by all relations: nothing is from outside of it."""
    journal = MemoryJournal()
    with grown(tree) as sysfs:
        good, port, odd = RULES
        given_along = attrs.evolve(EVERYTHING_ALONG, group_by=GroupBy(by))
        scanner = SysfsScanner(
            [good, port, attrs.evolve(odd, provision=given_along)],
            nodes=sysfs.nodes,
            journal=journal,
            host=MemoryHostUse(),
            sys_root=str(sysfs.root),
        )
        with bounded(sysfs, scanner, journal):
            for _ in range(2):
                found = scanner.scan().freeze("x.local").resources
                kvm = found[good.resource][DeviceId("kvm")]
                assert (kvm.health, kvm.nodes[0].host_path) == (Health.HEALTHY, "/dev/kvm")
                units = found.get(odd.resource, {})
                assert len(units) <= 40
                for info in units.values():
                    assert all(node.host_path.startswith("/dev/") for node in info.nodes)
                    assert all(each.host_path.startswith("/run/") for each in info.mounts)
                    assert not [node for node in info.nodes if ".." in node.host_path.split("/")]
                    assert BESIDE not in str(info.nodes)
