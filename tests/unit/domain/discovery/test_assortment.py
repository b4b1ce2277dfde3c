"""The laws of who gets a device: one physical device, one resource."""

from itertools import permutations

import attrs
import pytest

from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.assortment import Assortment, assort, shown
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.events import DeviceContested, DeviceDisputed
from deviceplugin.domain.discovery.guests import Guests
from deviceplugin.domain.discovery.provision import Companion, GroupBy, Provision, Relation
from deviceplugin.domain.discovery.rulebook import OnConflict, Rulebook, lacking
from deviceplugin.domain.discovery.templates import Template
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, alternative, rule

GPU = "/devices/pci0000:00/0000:03:00.0"
USB = "/devices/pci0000:00/0000:00:14.0/usb1/1-2"


def device(place: str, subsystem: str) -> Candidate:
    """Return a device with a node of its own."""
    node = Node(path=f"/dev/{place.rpartition('/')[2]}", number=str(hash(place) % 10**9))
    return Candidate(
        name=place.rpartition("/")[2], subsystem=subsystem, devpath=place, driver="", node=node
    )


CARD = device(f"{GPU}/drm/card0", "drm")
RENDER = device(f"{GPU}/drm/renderD128", "drm")
OTHER_GPU = device("/devices/pci0000:00/0000:04:00.0/drm/renderD129", "drm")
I2C = device(f"{GPU}/i2c-3/i2c-dev/i2c-3", "i2c-dev")
ADAPTER = device(USB, "usb")
PORTS = [device(f"{USB}/1-2:1.{n}/ttyUSB{n}/tty/ttyUSB{n}", "tty") for n in range(2)]
DISK = device("/devices/virtual/block/sda", "block")
LUN = "/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0"
SCSI_DISK = device(f"{LUN}/block/sda", "block")
SCSI_PARTITION = device(f"{LUN}/block/sda/sda1", "block")
SG = device(f"{LUN}/scsi_generic/sg0", "scsi_generic")
BSG = device(f"{LUN}/bsg/0:0:0:0", "bsg")
OTHER_SG = device(f"{LUN[:-1]}1/scsi_generic/sg1", "scsi_generic")
TAPE = [device(f"{LUN}/scsi_tape/{name}", "scsi_tape") for name in ("st0", "nst0")]
TPM = [device(f"/devices/platform/MSFT0101:00/{name}/{name}0", name) for name in ("tpm", "tpmrm")]
VIRTUAL_TPM = [device(f"/devices/virtual/tpm/tpm{n}", "tpm") for n in (1, 2)]
CONTROLLER, CONTROLLER_2 = (
    device(f"/devices/pci0000:00/0000:0{n}:00.0/nvme/nvme{n}", "nvme") for n in (1, 2)
)
NAMESPACES = [device(f"{CONTROLLER.devpath}/nvme1n{n}", "block") for n in (1, 2)]
NG = [device(f"{CONTROLLER.devpath}/ng1n{n}", "nvme-generic") for n in (1, 2)]
_HEADS = "/devices/virtual/nvme-subsystem/nvme-subsys1"
HEADS = [
    attrs.evolve(device(f"{_HEADS}/{name}", subsystem), within=(place, CONTROLLER_2.devpath))
    for place in [CONTROLLER.devpath]
    for name, subsystem in (
        ("nvme3n1", "block"),
        ("nvme3n1/nvme3n1p1", "block"),
        ("ng3n1", "nvme-generic"),
        ("nvme3n2", "block"),
    )
]
HID = "/devices/pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0/0003:046D:C21D.0001"
HIDRAW = device(f"{HID}/hidraw/hidraw0", "hidraw")
INPUTS = [device(f"{HID}/input/input5/{name}", "input") for name in ("event5", "js0", "mouse0")]
HIDDEV = device(f"{HID.rpartition('/')[0]}/usbmisc/hiddev0", "usbmisc")
MODEM = device(f"{HID.rpartition('/')[0]}/usbmisc/cdc-wdm0", "usbmisc")
OTHER_INPUT = device(f"{HID}/input/input6/event6", "input")
ALL_MICE = device("/devices/virtual/input/mice", "input")
VIRTUAL_INPUT = device("/devices/virtual/input/input9/event9", "input")
FLASH = [device(f"/devices/platform/spi/mtd/{name}", "mtd") for name in ("mtd0", "mtd0ro", "mtd1")]
FLASH_BLOCK = device(f"{FLASH[0].devpath}/mtdblock0", "block")
VFIO = device("/devices/virtual/vfio/12", "vfio")
VFIO_DEVICES = [
    attrs.evolve(
        device(f"/devices/pci0000:00/0000:03:00.{n}/vfio-dev/vfio{n}", "vfio-dev"),
        within=(VFIO.devpath, "/devices/virtual/vfio/noiommu-12"),
    )
    for n in (0, 1)
]
PARTITIONS = [device(f"/devices/virtual/block/sda/sda{n}", "block") for n in (1, 2)]


def dealt(
    *claims: tuple[str, Conditions], candidates: list[Candidate]
) -> tuple[Assortment, dict[str, list[str]]]:
    """Return who gets what of the candidates, by resource."""
    book = Rulebook([rule(f"x.local/{name}", match) for name, match in claims])
    seen = [book.judge(each, lacking) for each in candidates]
    result = assort(book, seen, Guests(seen))
    found = {key.name: [each.name for each in given] for key, given in result.found.items()}
    return result, found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (CARD, RENDER),
        (RENDER, CARD),
        (ADAPTER, PORTS[0]),
        (PORTS[0], ADAPTER),
        (DISK, PARTITIONS[0]),
        (PARTITIONS[0], DISK),
        *permutations([SCSI_DISK, SG], 2),
        *permutations([SCSI_PARTITION, SG], 2),
        *permutations([SG, BSG], 2),
        *permutations([SG, TAPE[0]], 2),
        *permutations(TAPE, 2),
        *permutations(TPM, 2),
        *permutations([NAMESPACES[0], NG[0]], 2),
        *permutations([NAMESPACES[0], CONTROLLER], 2),
        *permutations([NG[0], CONTROLLER], 2),
        *permutations(HEADS[:3], 2),
        *permutations([HEADS[0], CONTROLLER_2], 2),
        *permutations([HEADS[1], CONTROLLER], 2),
        *permutations([HEADS[2], CONTROLLER], 2),
        *permutations(INPUTS, 2),
        *permutations([INPUTS[0], HIDRAW], 2),
        *permutations([HIDDEV, HIDRAW], 2),
        *permutations([HIDDEV, INPUTS[0]], 2),
        *permutations(FLASH[:2], 2),
        *permutations([FLASH[1], FLASH_BLOCK], 2),
        *permutations([VFIO, VFIO_DEVICES[1]], 2),
    ],
)
def test_views_of_one_device_are_not_given_to_two_resources(
    first: Candidate, second: Candidate
) -> None:
    """The first one in the file wins, in whatever order they are met; the other is told."""
    for candidates in permutations([first, second]):
        result, found = dealt(
            ("a", {"name": first.name}), ("b", {"name": second.name}), candidates=[*candidates]
        )
        assert found == {"a": [first.name]}
        (skip,) = result.skips
        assert skip.is_contested
        assert skip.reason == "it is part of what already belongs to x.local/a"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (PORTS[0], PORTS[1]),
        (PARTITIONS[0], PARTITIONS[1]),
        (RENDER, I2C),
        (CARD, OTHER_GPU),
        (SCSI_DISK, OTHER_SG),
        (SG, OTHER_SG),
        (NAMESPACES[0], NAMESPACES[1]),
        (NAMESPACES[0], NG[1]),
        (NG[0], NG[1]),
        (HEADS[0], HEADS[3]),
        (CONTROLLER, CONTROLLER_2),
        (NAMESPACES[0], CONTROLLER_2),
        (VIRTUAL_TPM[0], VIRTUAL_TPM[1]),
        (INPUTS[0], OTHER_INPUT),
        (INPUTS[2], ALL_MICE),
        (VIRTUAL_INPUT, ALL_MICE),
        (VIRTUAL_INPUT, HIDRAW),
        (MODEM, HIDRAW),
        (FLASH[0], FLASH[2]),
        (VFIO_DEVICES[0], VFIO_DEVICES[1]),
    ],
)
def test_parts_beside_each_other_are_devices_of_their_own(
    first: Candidate, second: Candidate
) -> None:
    """Two ports, partitions or namespaces, a card and its I2C bus, two cards or disks."""
    _, found = dealt(
        ("a", {"name": first.name}), ("b", {"name": second.name}), candidates=[first, second]
    )
    assert found == {"a": [first.name], "b": [second.name]}


def test_a_resource_may_have_every_view_of_its_own_devices() -> None:
    """Whoever writes one rule for all of them means it."""
    result, found = dealt(("a", {"subsystem": "drm"}), candidates=[CARD, RENDER])
    assert sorted(found["a"]) == ["card0", "renderD128"]
    assert result.skips == ()


def contested(on_conflict: OnConflict, before: Discovery | None = None) -> Discovery:
    """Return what comes of a port that two resources claim."""
    rules = [rule("x.local/modem", {"name": "ttyUSB0"}), rule("x.local/serial", {"name": "tty*"})]
    book = Rulebook(rules, on_conflict=on_conflict)
    seen = [book.judge(each, lacking) for each in PORTS]
    return discover(book, seen, before=before or Discovery())


def test_a_device_that_two_resources_claim_is_one_warning() -> None:
    """Once, naming the device, who has it and who does not."""
    first = contested(OnConflict.FIRST)
    warnings = [
        each for each in first.news_since(Discovery()) if isinstance(each, DeviceContested)
    ]
    assert [str(each.resource) for each in warnings] == ["x.local/serial"]
    assert warnings[0].device == PORTS[0].devpath
    assert warnings[0].reason == "its device node already belongs to x.local/modem"
    assert warnings[0].level == "warning"
    assert contested(OnConflict.FIRST, first).news_since(first) == ()


def test_a_device_that_two_resources_claim_is_nobodys_if_that_is_an_error() -> None:
    """Told once, with the way out of it; the others are offered, and no scan fails."""
    result = contested(OnConflict.ERROR)
    assert result.devices.keys() == {ResourceName("x.local", "serial")}
    (info,) = result.devices[ResourceName("x.local", "serial")].values()
    assert [node.host_path for node in info.nodes] == ["/dev/ttyUSB1"]
    (told,) = [each for each in result.news_since(Discovery()) if isinstance(each, DeviceDisputed)]
    assert (str(told.resource), told.device) == ("x.local/serial", PORTS[0].devpath)
    way_out = (
        "Narrow one of them with 'exclude', or let the first one win with 'on_conflict: first'"
    )
    reason = "its device node already belongs to x.local/modem"
    assert told.reason == f"{reason}, so that nobody gets it. {way_out}"
    assert result.dispute == (
        f"resources claim the same device: {PORTS[0].devpath}: x.local/serial, but {reason}. "
        f"{way_out}"
    )
    assert contested(OnConflict.ERROR, result).news_since(result) == ()
    assert contested(OnConflict.FIRST).dispute == ""


def offered(*claims: tuple[str, Conditions], candidates: list[Candidate]) -> set[str]:
    """Return the names of the resources that have a device if a conflict is an error."""
    rules = [rule(f"x.local/{name}", match) for name, match in claims]
    book = Rulebook(rules, on_conflict=OnConflict.ERROR)
    seen = [book.judge(each, lacking) for each in candidates]
    return {key.name for key in discover(book, seen, before=Discovery()).devices}


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_of_a_whole_and_its_part_that_are_disputed_nobody_gets_either(
    order: tuple[int, ...],
) -> None:
    """Whoever comes first in the file; a device beside them is not concerned."""
    claims: list[tuple[str, Conditions]] = [
        ("disk", {"name": "sda"}),
        ("partition", {"name": "sda1"}),
        ("gpu", {"name": "renderD129"}),
    ]
    candidates = [DISK, *PARTITIONS, OTHER_GPU]
    assert offered(*(claims[each] for each in order), candidates=candidates) == {"gpu"}


@pytest.mark.parametrize("order", [*permutations(range(4))])
def test_of_a_whole_and_all_its_parts_that_are_disputed_nobody_gets_any(
    order: tuple[int, ...],
) -> None:
    """Each claim counts, not only that of the first."""
    claims: list[tuple[str, Conditions]] = [
        ("disk", {"name": "sda"}),
        ("first", {"name": "sda1"}),
        ("second", {"name": "sda2"}),
        ("gpu", {"name": "renderD129"}),
    ]
    candidates = [DISK, *PARTITIONS, OTHER_GPU]
    assert offered(*(claims[each] for each in order), candidates=candidates) == {"gpu"}


@pytest.mark.parametrize("order", [*permutations(range(3))])
@pytest.mark.parametrize(
    ("one", "other", "free"),
    [
        (SG, SCSI_DISK, OTHER_SG),
        (NAMESPACES[0], NG[0], NG[1]),
        (CONTROLLER, NG[0], DISK),
        (HEADS[0], CONTROLLER, OTHER_GPU),
    ],
)
def test_of_two_doors_to_one_device_that_are_disputed_nobody_gets_either(
    order: tuple[int, ...], one: Candidate, other: Candidate, free: Candidate
) -> None:
    claims: list[tuple[str, Conditions]] = [
        ("one", {"name": one.name}),
        ("other", {"name": other.name}),
        ("free", {"name": free.name}),
    ]
    mixed = [claims[each] for each in order]
    assert offered(*mixed, candidates=[one, other, free]) == {"free"}


def test_of_a_device_and_what_comes_along_that_are_disputed_nobody_gets_either() -> None:
    """It cannot be given whole without what another resource claims."""
    clock = attrs.evolve(device(f"{GPU}/ptp/ptp0", "ptp"), hardware_path=GPU)
    companion = Companion(
        relation=Relation.SIBLINGS, wanted=alternative({"subsystem": "ptp"}), optional=True
    )
    rules = [
        attrs.evolve(
            rule("x.local/gpu", {"subsystem": "drm", "name": "renderD128"}),
            provision=Provision(companions=(companion,)),
        ),
        rule("x.local/clock", {"subsystem": "ptp"}),
        rule("x.local/other", {"name": "renderD129"}),
    ]
    book = Rulebook(rules, on_conflict=OnConflict.ERROR)
    candidates = [attrs.evolve(RENDER, hardware_path=GPU), clock, OTHER_GPU]
    seen = [book.judge(each, lacking) for each in candidates]
    assert {key.name for key in discover(book, seen, before=Discovery()).devices} == {"other"}


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("guest", [SG, SCSI_DISK])
def test_what_is_disputed_comes_along_with_nothing_either(
    *, optional: bool, guest: Candidate
) -> None:
    """Nor does another door to it: the device that wanted it is not usable, or goes without."""
    changer = device(f"{LUN}/scsi_changer/sch0", "scsi_changer")
    companion = Companion(
        relation=Relation.SIBLINGS,
        wanted=alternative({"subsystem": guest.subsystem}),
        optional=optional,
    )
    rules = [
        rule("x.local/a", {"name": "sda"}),
        rule("x.local/b", {"name": "sda"}),
        attrs.evolve(
            rule("x.local/changer", {"name": "sch0"}),
            provision=Provision(companions=(companion,)),
        ),
    ]
    book = Rulebook(rules, on_conflict=OnConflict.ERROR)
    beside = [changer] if guest is SCSI_DISK else [changer, guest]
    candidates = [attrs.evolve(each, hardware_path=LUN) for each in (SCSI_DISK, *beside)]
    seen = [book.judge(each, lacking) for each in candidates]
    ((name, devices),) = discover(book, seen, before=Discovery()).devices.items()
    assert name.name == "changer"
    (info,) = devices.values()
    assert (info.health is Health.HEALTHY) is optional
    assert [node.host_path for node in info.nodes] == ["/dev/sch0"]


def test_ids_are_unique_across_resources() -> None:
    """Two devices of one name in two resources: a name of all metrics and logs is one device."""
    twins = [device("/devices/a/x", "one"), device("/devices/b/x", "two")]
    book = Rulebook(
        [rule("x.local/a", {"subsystem": "one"}), rule("x.local/b", {"subsystem": "two"})]
    )
    result = discover(book, [book.judge(each, lacking) for each in twins], before=Discovery())
    keys = [key for devices in result.devices.values() for key in devices]
    assert len(set(keys)) == len(keys) == 2


BARE = {
    "bus": Candidate(
        name="ttyUSB0", subsystem="usb-serial", devpath=f"{USB}/1-2:1.0/ttyUSB0", driver="x"
    ),
    "interface": Candidate(name="1-2:1.0", subsystem="usb", devpath=f"{USB}/1-2:1.0", driver="x"),
    "connector": Candidate(
        name="card0-HDMI-A-1", subsystem="drm", devpath=f"{GPU}/drm/card0/card0-HDMI-A-1"
    ),
    "function": Candidate(name="0000:03:00.0", subsystem="pci", devpath=GPU, driver="x"),
}
"""Devices without a node that sysfs has beside those that have one."""
ANYWHERE = Companion(relation=Relation.DEVICE, wanted=alternative({"name": "sda"}))
EXTRA = [
    Provision(companions=(ANYWHERE,)),
    Provision(envs=((Template("A"), Template("b")),)),
]


@pytest.mark.parametrize("provision", EXTRA, ids=["companion", "variable"])
@pytest.mark.parametrize(
    ("bare", "front"),
    [
        ("bus", PORTS[0]),
        ("interface", PORTS[0]),
        ("interface", ADAPTER),
        ("connector", CARD),
        ("function", RENDER),
    ],
)
def test_what_only_shows_a_device_once_more_is_none_beside_it(
    bare: str, front: Candidate, provision: Provision
) -> None:
    """Though it had something to give without a node; by itself it is one, as in a group."""
    extra = attrs.evolve(rule("x.local/x", {"name": "*"}), provision=provision)
    asked = attrs.evolve(
        extra, match=(alternative({"name": BARE[bare].name}), alternative({"name": front.name}))
    )
    book = Rulebook([asked])
    for order in permutations([BARE[bare], front]):
        seen = [book.judge(each, lacking) for each in order]
        result = assort(book, seen, Guests(seen))
        assert result.found[asked.resource] == (front,)
        (skip,) = result.skips
        assert not skip.is_contested
        assert shown(front) in skip.reason
    (alone,) = (book.judge(BARE[bare], lacking),)
    assert assort(book, [alone], Guests([alone])).found[asked.resource] == (BARE[bare],)
    others = [book.judge(each, lacking) for each in (BARE[bare], OTHER_GPU, DISK)]
    assert BARE[bare] in assort(book, others, Guests(others)).found[asked.resource]
    grouping = attrs.evolve(provision, group_by=GroupBy("hardware"))
    together = Rulebook([attrs.evolve(asked, provision=grouping)])
    seen = [together.judge(each, lacking) for each in (BARE[bare], front)]
    assert len(assort(together, seen, Guests(seen)).found[asked.resource]) == 2
