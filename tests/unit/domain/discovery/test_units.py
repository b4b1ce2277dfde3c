"""The laws of units: what is given out together, and what becomes of it if a part is missing."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.allocation import select
from deviceplugin.domain.devices import DeviceId, DeviceInfo, Health
from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.discoveries import Discovery, discover
from deviceplugin.domain.discovery.events import DeviceContested, DeviceSkipped, DeviceUnwell
from deviceplugin.domain.discovery.expectations import AnyOf
from deviceplugin.domain.discovery.globs import NodeGlob
from deviceplugin.domain.discovery.inquiry import Outcome, findings
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.provision import (
    Companion,
    GroupBy,
    MountRule,
    Provision,
    Relation,
    node_path_template,
    path_template,
)
from deviceplugin.domain.discovery.rulebook import Rulebook, lacking
from deviceplugin.domain.discovery.templates import Template, Use
from deviceplugin.domain.discovery.traits import Traits
from deviceplugin.domain.errors import AllocationClashError
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import Conditions, alternative, rule

CARD = "/devices/pci0000:00/0000:00:02.0"


def device(  # noqa: PLR0913 - facts of one device, by name
    name: str,
    subsystem: str = "drm",
    *,
    below: str = CARD,
    minor: int | None = None,
    present: bool = True,
    group: str = "",
    numa: Iterable[int] = (0,),
    unique: str = "",
    **facts: str,
) -> Candidate:
    """Return a device that is part of a card, with a node if it has a minor number."""
    address = below.rpartition("/")[2]
    return Candidate(
        name=name,
        subsystem=subsystem,
        devpath=f"{below}/{subsystem}/{name}",
        driver="",
        node=None
        if minor is None
        else Node(path=f"/dev/{name}", number=f"{hash_of(subsystem)}:{minor}", present=present),
        hardware_path=below,
        iommu_group=group,
        numa_nodes=tuple(numa),
        parent=below.rpartition("/")[2],
        attributes=facts,
        traits=Traits(unique=unique, address=address, part=name.rstrip("0123456789")),
        hardware_traits=Traits(address=address),
    )


def hash_of(text: str) -> int:
    """Return a major number for a subsystem."""
    return sum(map(ord, text))


RENDER = device("renderD128", minor=128)
CARD0 = device("card0", minor=0)


def companion(relation: Relation, conditions: Conditions) -> Companion:
    """Return what comes along."""
    return Companion(relation=relation, wanted=alternative(conditions))


def asked(
    resource: str,
    match: Conditions,
    **provision: Any,  # noqa: ANN401 - the parts of a Provision, by name
) -> ResourceRule:
    """Return a rule with what a container gets beside."""
    given_along = attrs.evolve(Provision(), **provision)
    return attrs.evolve(rule(resource, match), provision=given_along)


def found(
    rules: Sequence[ResourceRule],
    candidates: Iterable[Candidate],
    before: Discovery | None = None,
    at: float = 0.0,
) -> Discovery:
    """Return what one scan comes to."""
    book = Rulebook(rules)
    sightings = [book.judge(each, lacking) for each in candidates]
    return discover(book, sightings, before=before or Discovery(), at=at)


def units(
    one: ResourceRule, candidates: Iterable[Candidate], *more: ResourceRule
) -> Mapping[str, DeviceInfo]:
    """Return the units of the first rule by id."""
    result = found([one, *more], candidates)
    return {key.value: info for key, info in result.devices.get(one.resource, {}).items()}


def paths(info: DeviceInfo) -> list[str]:
    """Return the nodes that a container gets."""
    return [node.host_path for node in info.nodes]


GPU = asked(
    "x.local/gpu",
    {"subsystem": "drm", "name": "renderD*"},
    companions=(companion(Relation.SIBLINGS, {"subsystem": "drm", "name": "card*"}),),
)


# --- what comes along ----------------------------------------------------------------------------


def test_siblings_are_those_of_the_same_hardware() -> None:
    """Card and render node of one GPU, whatever is met first; those of another one stay there."""
    other = "/devices/pci0000:00/0000:00:03.0"
    everything = [
        RENDER,
        CARD0,
        device("renderD129", minor=129, below=other),
        device("card1", minor=1, below=other),
    ]
    for candidates in permutations(everything):
        assert [paths(info) for info in units(GPU, candidates).values()] == [
            ["/dev/renderD128", "/dev/card0"],
            ["/dev/renderD129", "/dev/card1"],
        ]


def test_children_are_those_below_the_device() -> None:
    """A sound card has no node of its own; its control and PCM nodes are what a pod gets."""
    whole = device("card0", "sound")
    parts = [
        device(name, "sound", minor=number, below=whole.devpath)
        for number, name in enumerate(["controlC0", "pcmC0D0p", "pcmC0D0c"])
    ]
    stranger = device("controlC1", "sound", minor=32, below=f"{CARD}/sound/card1")
    sound = asked(
        "x.local/sound",
        {"subsystem": "sound", "name": "card*"},
        companions=(companion(Relation.CHILDREN, {"subsystem": "sound"}),),
    )
    (info,) = units(sound, [whole, *parts, stranger]).values()
    assert paths(info) == ["/dev/controlC0", "/dev/pcmC0D0c", "/dev/pcmC0D0p"]
    assert info.health is Health.HEALTHY


def test_members_of_an_iommu_group_and_the_group_itself_come_along() -> None:
    """A PCI function brings the node of its group, and the container of vfio, which is no part."""
    function = device("0000:3b:00.0", "pci", group="12")
    vfio = asked(
        "x.local/vfio",
        {"subsystem": "pci"},
        companions=(
            companion(Relation.IOMMU_GROUP, {"subsystem": "vfio"}),
            companion(Relation.DEVICE, {"node": "/dev/vfio/vfio"}),
        ),
    )
    seen = [
        function,
        device("12", "vfio", minor=12, group="12"),
        device("13", "vfio", minor=13, group="13"),
        attrs.evolve(device("vfio", "misc", minor=196), paths=("/dev/vfio/vfio",)),
    ]
    (info,) = units(vfio, seen).values()
    assert paths(info) == ["/dev/12", "/dev/vfio"]


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (None, "nothing is there that fits siblings: {subsystem: drm, name: card*}"),
        (device("card0", minor=0, present=False), "/dev/card0, which should come along"),
    ],
)
def test_without_what_must_come_along_a_device_is_unhealthy_and_says_why(
    card: Candidate | None, said: str
) -> None:
    """In the event, and to whoever asks; with `optional` it goes without."""
    seen = [RENDER, card] if card else [RENDER]
    result = found([GPU], seen)
    (info,) = result.devices[GPU.resource].values()
    assert info.health is Health.UNHEALTHY
    (note,) = result.notes
    assert isinstance(note, DeviceUnwell)
    assert said in note.reason
    book = Rulebook([GPU])
    told = findings(book, [book.judge(each, lacking) for each in seen])
    assert said in next(each.reason for each in told if each.outcome is Outcome.OFFERED)
    optional = attrs.evolve(GPU.provision.companions[0], optional=True)
    easy = attrs.evolve(GPU, provision=Provision(companions=(optional,)))
    (info,) = units(easy, seen).values()
    assert (info.health, paths(info)) == (Health.HEALTHY, ["/dev/renderD128"])


@pytest.mark.parametrize(
    ("relation", "wanted", "said"),
    [
        (Relation.DEVICE, {"node": "/dev/nope"}, "node: /dev/nope"),
        (
            Relation.DEVICE,
            {"node": AnyOf([NodeGlob("/dev/nope"), NodeGlob("/dev/no*")])},
            "device: {node: /dev/nope or /dev/no*}",
        ),
        (
            Relation.DEVICE,
            {"subsystem": "misc", "node": "/dev/nope"},
            "device: {subsystem: misc, node: /dev/nope}",
        ),
        (Relation.CHILDREN, {"node": "/dev/nope"}, "children: {node: /dev/nope}"),
    ],
)
def test_what_is_lacking_is_told_as_a_configuration_has_it(
    relation: Relation, wanted: Conditions, said: str
) -> None:
    """So that whoever looks for it in the file finds it."""
    lone = attrs.evolve(GPU, provision=Provision(companions=(companion(relation, wanted),)))
    (note,) = found([lone], [RENDER]).notes
    assert isinstance(note, DeviceUnwell)
    assert note.reason == f"nothing is there that fits {said}"


def test_a_device_that_should_come_along_with_itself_is_told_so() -> None:
    """It is there, and where the container has it is said elsewhere."""
    itself = companion(Relation.DEVICE, {"node": RENDER.node.path if RENDER.node else ""})
    linked = attrs.evolve(RENDER, paths=(RENDER.node.path if RENDER.node else "",))
    lone = attrs.evolve(GPU, provision=Provision(companions=(itself,)))
    (note,) = found([lone], [linked]).notes
    assert isinstance(note, DeviceUnwell)
    assert note.reason == (
        "node: /dev/renderD128 is the device itself; where it is wanted says container_path"
    )


def test_a_companion_has_its_own_permissions_and_place() -> None:
    special = attrs.evolve(
        GPU.provision.companions[0],
        permissions="r",
        container_path=node_path_template("/dev/cards/"),
    )
    (info,) = units(
        attrs.evolve(GPU, provision=Provision(companions=(special,))), [RENDER, CARD0]
    ).values()
    assert [(node.container_path, node.permissions) for node in info.nodes] == [
        ("/dev/renderD128", "rw"),
        ("/dev/cards/card0", "r"),
    ]


def test_what_comes_along_by_its_place_is_given_to_no_later_resource() -> None:
    """Nor does it come along if an earlier one has it: then the device cannot be used."""
    function = device("0000:00:02.0", "pci", below=CARD)
    whole = asked(
        "x.local/whole",
        {"subsystem": "pci"},
        companions=(companion(Relation.SIBLINGS, {"subsystem": "net"}),),
    )
    port = device("tap0", "net", minor=1)
    ports = rule("x.local/ports", {"subsystem": "net"})
    first = found([whole, ports], [function, port])
    assert list(first.devices) == [whole.resource]
    assert [note.reason for note in first.notes if isinstance(note, DeviceContested)] == [
        "it comes along with what already belongs to x.local/whole"
    ]
    second = found([ports, whole], [function, port])
    (info,) = second.devices[whole.resource].values()
    assert info.health is Health.UNHEALTHY
    assert list(second.devices[ports.resource])


def test_a_companion_can_come_along_with_devices_of_two_resources() -> None:
    """A card's controls come with playback and with capture."""
    control = device("controlC0", "sound", minor=0)
    both = [
        asked(
            f"x.local/{word}",
            {"subsystem": "sound", "name": f"pcm*{letter}"},
            companions=(companion(Relation.SIBLINGS, {"name": "control*"}),),
        )
        for word, letter in (("playback", "p"), ("capture", "c"))
    ]
    pcms = [device("pcmC0D0p", "sound", minor=16), device("pcmC0D0c", "sound", minor=24)]
    result = found(both, [control, *pcms])
    assert [paths(info) for name in result.devices for info in result.devices[name].values()] == [
        ["/dev/pcmC0D0p", "/dev/controlC0"],
        ["/dev/pcmC0D0c", "/dev/controlC0"],
    ]


# --- groups --------------------------------------------------------------------------------------

LEDS = asked("x.local/leds", {"subsystem": "leds"}, group_by=GroupBy("hardware"))


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_devices_of_one_group_are_one_unit(order: list[int], present: list[bool]) -> None:
    """Its health is that of its worst member, its NUMA nodes are those of all, its id stays."""
    members = [
        device(
            f"led{number}",
            "leds",
            below=f"/devices/0000:0{number % 2}:00.0",
            minor=number,
            present=present[number],
            numa=(number % 2, number // 2),
        )
        for number in range(6)
    ]
    found_units = units(LEDS, [members[number] for number in order])
    assert list(found_units) == ["0000:00:00.0", "0000:01:00.0"]
    for half, info in enumerate(found_units.values()):
        own = range(half, 6, 2)
        assert paths(info) == [f"/dev/led{number}" for number in own]
        well = all(present[number] for number in own)
        assert info.health is (Health.HEALTHY if well else Health.UNHEALTHY)
        assert info.numa_nodes == tuple(sorted({half, *(number // 2 for number in own)}))


def test_a_group_keeps_its_id_when_a_member_comes_or_goes() -> None:
    """Whatever each of its members has to be known by, also alone, and after a restart."""
    one = device("led0", "leds", minor=0, unique="naa.1")
    two = device("led1", "leds", minor=1, unique="naa.2")
    both = found([LEDS], [one, two])
    assert [list(each) for each in both.devices.values()] == [[DeviceId("0000:00:02.0")]]
    for seen in ([one], [two], [two, one]):
        assert list(found([LEDS], seen, both).devices[LEDS.resource]) == [DeviceId("0000:00:02.0")]
        assert list(found([LEDS], seen).devices[LEDS.resource]) == [DeviceId("0000:00:02.0")]


def test_a_group_of_which_one_numa_node_is_not_known_has_none() -> None:
    members = [device("led0", "leds", minor=0), device("led1", "leds", minor=1, numa=())]
    (info,) = units(LEDS, members).values()
    assert info.numa_nodes == ()


def test_a_device_that_shares_nothing_is_a_unit_of_its_own() -> None:
    by = asked("x.local/x", {"subsystem": "leds"}, group_by=GroupBy("attributes.switch"))
    members = [
        device("led0", "leds", minor=0, switch="a"),
        device("led1", "leds", minor=1, switch="a"),
        device("led2", "leds", minor=2, switch="b"),
        device("led3", "leds", minor=3),
    ]
    assert [len(info.nodes) for info in units(by, members).values()] == [1, 2, 1]


def test_two_resources_may_group_by_the_same_hardware() -> None:
    """Their units have ids of their own."""
    pair = [
        asked("x.local/a", {"name": "led0"}, group_by=GroupBy("hardware")),
        asked("x.local/b", {"name": "led1"}, group_by=GroupBy("hardware")),
    ]
    members = [device("led0", "leds", minor=0), device("led1", "leds", minor=1)]
    result = found(pair, members)
    ids = [key for devices in result.devices.values() for key in devices]
    assert len(set(ids)) == 2


# --- texts and places ----------------------------------------------------------------------------


def test_mounts_and_texts_are_filled_with_the_facts_of_the_device() -> None:
    full = asked(
        "x.local/led",
        {"subsystem": "leds"},
        container_path=node_path_template("/dev/led-{parent}"),
        mounts=(
            MountRule(host_path=path_template("/sys{devpath}")),
            MountRule(
                host_path=path_template("/etc/leds/{name}"),
                container_path=path_template("/etc/led"),
                read_only=False,
            ),
        ),
        envs=((Template("LED_{name}", Use.NAME), Template("{container_path} {attributes.max}")),),
        annotations=((Template("x/{name}"), Template("{id}")),),
    )
    (info,) = units(full, [device("led0", "leds", minor=0, max="255")]).values()
    (node,) = info.nodes
    assert (node.host_path, node.container_path) == ("/dev/led0", "/dev/led-0000:00:02.0")
    assert [(each.host_path, each.container_path, each.read_only) for each in info.mounts] == [
        (f"/sys{CARD}/leds/led0", f"/sys{CARD}/leds/led0", True),
        ("/etc/leds/led0", "/etc/led", False),
    ]
    assert info.envs == {"LED_led0": "/dev/led-0000:00:02.0 255"}
    assert info.annotations == {"x/led0": "0000:00:02.0-led"}


def test_a_device_that_lacks_a_fact_is_unhealthy_and_hides_no_other() -> None:
    serial = asked(
        "x.local/led",
        {"subsystem": "leds"},
        envs=((Template("SERIAL", Use.NAME), Template("{attributes.serial}")),),
    )
    seen = [device("led0", "leds", minor=0), device("led1", "leds", minor=1, serial="S")]
    health = {paths(info)[0]: info.health for info in units(serial, seen).values()}
    assert health == {"/dev/led0": Health.UNHEALTHY, "/dev/led1": Health.HEALTHY}


def test_a_unit_whose_parts_want_one_place_is_unhealthy() -> None:
    fixed = attrs.evolve(
        LEDS, provision=attrs.evolve(LEDS.provision, container_path=path_template("/dev/led"))
    )
    result = found([fixed], [device("led0", "leds", minor=0), device("led1", "leds", minor=1)])
    (info,) = result.devices[LEDS.resource].values()
    assert info.health is Health.UNHEALTHY
    (note,) = result.notes
    assert isinstance(note, DeviceUnwell)
    assert "/dev/led" in note.reason


def test_a_directory_keeps_the_names_of_its_nodes() -> None:
    """So that two devices of one resource never want one place; a fixed path is refused then."""
    seen = [device("led0", "leds", minor=0), device("led1", "leds", minor=1)]
    for text, fits in (("/dev/leds/", True), ("/dev/led", False)):
        one = asked("x.local/led", {"subsystem": "leds"}, container_path=node_path_template(text))
        devices = found([one], seen).devices[one.resource]
        request = select(one.resource, devices, devices)
        if fits:
            places = [node.container_path for node in request.default().nodes]
            assert places == ["/dev/leds/led0", "/dev/leds/led1"]
        else:
            with pytest.raises(AllocationClashError, match="/dev/led"):
                request.default()


def test_a_device_without_a_node_needs_something_else_to_give() -> None:
    function = device("0000:00:02.0", "pci")
    bare = asked("x.local/f", {"subsystem": "pci"})
    assert not units(bare, [function])
    told = asked(
        "x.local/f", {"subsystem": "pci"}, envs=((Template("PCI", Use.NAME), Template("{name}")),)
    )
    (info,) = units(told, [function]).values()
    assert (info.health, info.envs) == (Health.HEALTHY, {"PCI": "0000:00:02.0"})
    alone = attrs.evolve(GPU.provision.companions[0], optional=True)
    nothing = attrs.evolve(bare, provision=Provision(companions=(alone,)))
    (info,) = units(nothing, [function]).values()
    assert info.health is Health.UNHEALTHY


@pytest.mark.parametrize(("separator", "joined"), [(",", "card0,card1"), (" ", "card0 card1")])
def test_devices_of_one_container_share_a_variable(separator: str, joined: str) -> None:
    """In the order of their ids, which is what the kubelet asks by; or each has one of its own."""
    cards = [device(name, "drm", minor=number) for number, name in enumerate(["card0", "card1"])]
    resource = asked(
        "x.local/card",
        {"subsystem": "drm"},
        envs=(
            (Template("CARDS", Use.NAME), Template("{name}")),
            (Template("CARD_{name}", Use.NAME), Template("yes")),
        ),
        env_separator=separator,
    )
    devices = found([resource], cards).devices[resource.resource]
    grant = select(resource.resource, devices, devices).default()
    assert grant.envs == {"CARDS": joined, "CARD_card0": "yes", "CARD_card1": "yes"}


def test_a_resource_may_refuse_several_values_of_a_variable() -> None:
    cards = [device(name, "drm", minor=number) for number, name in enumerate(["card0", "card1"])]
    resource = asked(
        "x.local/card",
        {"subsystem": "drm"},
        envs=((Template("CARD", Use.NAME), Template("{name}")),),
        env_separator=None,
    )
    devices = found([resource], cards).devices[resource.resource]
    with pytest.raises(AllocationClashError, match="'CARD' is wanted as 'card0' and as 'card1'"):
        select(resource.resource, devices, devices).default()


# --- numbers -------------------------------------------------------------------------------------


def test_a_shared_device_is_so_many_units_of_one_fate() -> None:
    """Each brings the device, once however many a container has; facts are the device's."""
    three = asked(
        "x.local/kvm",
        {"name": "kvm"},
        count=3,
        envs=((Template("ID", Use.NAME), Template("{id}")),),
    )
    kvm = attrs.evolve(device("kvm", "misc", minor=232), traits=Traits())
    devices = found([three], [kvm]).devices[three.resource]
    assert [key.value for key in devices] == ["kvm::0", "kvm::1", "kvm::2"]
    assert {info.share_of for info in devices.values()} == {"kvm"}
    grant = select(three.resource, devices, devices).default()
    assert ([node.host_path for node in grant.nodes], grant.envs) == (["/dev/kvm"], {"ID": "kvm"})
    gone = attrs.evolve(kvm, node=Node(path="/dev/kvm", number="10:232", present=False))
    ill = found([three], [gone]).devices[three.resource]
    assert {info.health for info in ill.values()} == {Health.UNHEALTHY}


@given(st.permutations(range(5)), st.integers(1, 6))
def test_a_limit_chooses_the_same_whatever_is_met_first(order: list[int], limit: int) -> None:
    few = asked("x.local/led", {"subsystem": "leds"}, limit=limit)
    seen = [device(f"led{number}", "leds", minor=number) for number in order]
    devices = found([few], seen).devices[few.resource]
    assert len(devices) == min(limit, 5)
    assert devices == found([few], sorted(seen, key=lambda each: each.name)).devices[few.resource]


def test_a_limited_resource_keeps_the_devices_that_it_has() -> None:
    """What is plugged in later takes no place before one is free; what is beyond is told."""
    two = asked("x.local/led", {"subsystem": "leds"}, limit=2)
    seen = [device(f"led{number}", "leds", minor=number) for number in (1, 2)]
    before = found([two], seen)
    result = found([two], [device("led0", "leds", minor=0), *seen], before)
    assert result.devices[two.resource].keys() == before.devices[two.resource].keys()
    assert [note.reason for note in result.notes if type(note) is DeviceSkipped] == [
        "the limit of 2 is reached"
    ]
    after = found([two], [device("led0", "leds", minor=0), seen[1]], result)
    assert [paths(info) for info in after.devices[two.resource].values()] == [
        ["/dev/led0"],
        ["/dev/led2"],
    ]


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1), st.integers(1, 4))
def test_a_limit_hides_no_good_device_because_of_a_bad_one(
    looks: list[list[bool]], limit: int
) -> None:
    """At each look as many are Healthy as can be, and what can be used keeps its place."""
    few = asked("x.local/led", {"subsystem": "leds"}, limit=limit)
    result, had = Discovery(), set[str]()
    for look in looks:
        seen = [
            device(f"led{number}", "leds", minor=number, present=there)
            for number, there in enumerate(look)
        ]
        result = found([few], seen, result)
        health = {paths(info)[0]: info.health for info in result.devices[few.resource].values()}
        good = {path for path, each in health.items() if each is Health.HEALTHY}
        well = {f"/dev/led{number}" for number, there in enumerate(look) if there}
        assert len(health) == min(limit, 4)
        assert good <= well
        assert len(good) == min(limit, len(well))
        assert had & well <= good
        had = set(health)


def test_one_look_against_it_costs_no_device_its_place() -> None:
    """A limit goes by what is believed: the place is lost with the look that settles it."""
    one = attrs.evolve(asked("x.local/led", {"subsystem": "leds"}, limit=1), unhealthy_after=2)
    other = device("led1", "leds", minor=1)
    result = found([one], [device("led0", "leds", minor=0), other])
    gone = [device("led0", "leds", minor=0, present=False), other]
    offered: list[tuple[list[str], Health]] = []
    for at in (10.0, 20.0):
        result = found([one], gone, result, at)
        offered += [(paths(each), each.health) for each in result.devices[one.resource].values()]
    assert offered == [(["/dev/led0"], Health.HEALTHY), (["/dev/led1"], Health.HEALTHY)]


def test_what_comes_along_is_told_to_whoever_asks_after_it() -> None:
    book = Rulebook([GPU])
    told = findings(book, [book.judge(each, lacking) for each in (RENDER, CARD0)])
    assert {each.candidate.name: each.outcome for each in told} == {
        "renderD128": Outcome.OFFERED,
        "card0": Outcome.COMPANION,
    }
    assert ResourceName("x.local", "gpu") == told[0].resource


def test_what_lacks_a_part_is_unhealthy_at_once_however_slowly_looks_are_believed() -> None:
    """A container would be given less than it was promised."""
    slow = attrs.evolve(GPU, unhealthy_after=3)
    before = found([slow], [RENDER, CARD0])
    (info,) = found([slow], [RENDER], before).devices[slow.resource].values()
    assert info.health is Health.UNHEALTHY


def test_what_cannot_come_along_takes_nothing_away() -> None:
    """A whole of which an earlier resource has a part stays where it is, and its other parts."""
    hub = attrs.evolve(
        device("1-1", "usb", minor=1), devpath="/devices/usb/1-1", hardware_path="/devices/usb/1-1"
    )
    ports = [
        attrs.evolve(
            device(f"ttyUSB{number}", "tty", minor=number),
            devpath=f"{hub.devpath}/ttyUSB{number}",
            hardware_path=hub.devpath,
        )
        for number in range(3)
    ]
    first = rule("x.local/first", {"name": "ttyUSB0"})
    second = asked(
        "x.local/second",
        {"name": "ttyUSB1"},
        companions=(companion(Relation.SIBLINGS, {"subsystem": "usb"}),),
    )
    third = rule("x.local/third", {"name": "ttyUSB2"})
    result = found([first, second, third], [hub, *ports])
    health = {
        str(name): [info.health for info in devices.values()]
        for name, devices in result.devices.items()
    }
    assert health == {
        "x.local/first": [Health.HEALTHY],
        "x.local/second": [Health.UNHEALTHY],
        "x.local/third": [Health.HEALTHY],
    }
