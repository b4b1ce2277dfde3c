"""The laws of ids: they follow from the hardware, and stay."""

from collections.abc import Iterable, Sequence
from itertools import permutations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.devices import MAX_ID, DeviceId
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.discovery.identity import Identities, Known, identify
from deviceplugin.domain.discovery.traits import Traits, stem
from deviceplugin.domain.sharing import device_behind

NOBODY = Identities()


def tty(name: str, place: str = "", **traits: str) -> Candidate:
    """Return a port of an adapter with these traits."""
    return Candidate(name=name, devpath=f"/{place or name}", traits=Traits(part="tty", **traits))


def ids(candidates: Iterable[Candidate], before: Identities = NOBODY) -> dict[str, str]:
    """Return the id of each candidate, by its place."""
    given = identify(map(Known.of, candidates), before).given
    return {known.place: str(key) for key, known in given.items()}


def after(*scans: Sequence[Candidate]) -> Identities:
    """Return the ids known after scans that found these."""
    known = NOBODY
    for candidates in scans:
        known = identify(map(Known.of, candidates), known)
    return known


@pytest.mark.parametrize(
    ("traits", "expected"),
    [
        (Traits(serial="S", unique="U", port="P", address="A", part="tty"), "S-tty"),
        (Traits(unique="U", port="P", address="A", part="tty"), "U-tty"),
        (Traits(port="P", address="A", part="tty"), "P-tty"),
        (Traits(address="A", part="tty"), "A-tty"),
        (Traits(address="A"), "A"),
        (Traits(part="tty"), "ttyUSB0"),
        (Traits(), "ttyUSB0"),
        (Traits(serial="/"), "_-8a5edab28263"),
    ],
)
def test_an_id_is_made_of_the_most_telling_trait(traits: Traits, expected: str) -> None:
    """Serial number, WWN or UUID, USB port, PCI address, name; and the part of the hardware."""
    candidate = Candidate(name="ttyUSB0", devpath="/x", traits=traits)
    assert list(ids([candidate]).values()) == [expected]


def test_equal_serial_numbers_stay_two_devices() -> None:
    """Both say where they are plugged in, so that it does not matter which was met first."""
    both = [tty("a", serial="S", port="1"), tty("b", serial="S", port="2")]
    for order in permutations(both):
        assert ids(order) == {"/a": "S-1-tty", "/b": "S-2-tty"}


def test_parts_of_one_kind_are_told_apart_by_their_slots() -> None:
    """Not by their names, which are other ones tomorrow; who is alone needs none."""
    both = [tty("x", serial="S", slot="0:0:0"), tty("y", serial="S", slot="0:0:1")]
    for order in permutations(both):
        assert ids(order) == {"/x": "S-0:0:0-tty", "/y": "S-0:0:1-tty"}
    assert ids(both[:1]) == {"/x": "S-tty"}


def test_devices_of_which_nothing_differs_but_the_place_stay_apart() -> None:
    both = [tty("x", place="one/x"), tty("x", place="two/x")]
    found = ids(both)
    assert len(set(found.values())) == 2
    assert all(key.startswith("x-") for key in found.values())
    assert ids(reversed(both)) == found


def test_an_id_once_given_stays_when_a_twin_is_plugged_in() -> None:
    """A container may hold the first one: it must not turn into another device."""
    first, twin = tty("a", serial="S", port="1"), tty("b", serial="S", port="2")
    known = after([first])
    assert ids([first, twin], known) == {"/a": "S-tty", "/b": "S-2-tty"}
    known = after([first], [first, twin], [twin])
    assert ids([twin], known) == {"/b": "S-2-tty"}
    assert ids([twin, first], known) == {"/a": "S-tty", "/b": "S-2-tty"}


def test_a_device_has_its_id_again_in_another_port() -> None:
    """By its serial number, whatever name and place it has there."""
    known = after([tty("a", serial="S", port="1")], [])
    assert ids([tty("b", serial="S", port="7")], known) == {"/b": "S-tty"}


def test_a_twin_has_its_id_again_under_another_name() -> None:
    """In its own port."""
    twins = [tty("a", serial="S", port="1"), tty("b", serial="S", port="2")]
    known = after(twins, twins[:1])
    assert ids([twins[0], tty("c", serial="S", port="2")], known)["/c"] == "S-2-tty"
    assert ids([tty("d", serial="S", port="2")], known) == {"/d": "S-2-tty"}


def test_parts_that_only_their_names_tell_apart_keep_their_order() -> None:
    """The kernel counts the parts of a piece of hardware in one order, from wherever it begins."""
    known = after([tty("event5", serial="S"), tty("event10", serial="S")], [])
    again = [tty("event12", serial="S"), tty("event7", serial="S")]
    assert ids(again, known) == {"/event7": "S-event5", "/event12": "S-event10"}


def test_a_serial_number_that_cannot_be_read_for_once_changes_nothing() -> None:
    """The same place, and nothing that says otherwise."""
    known = after([tty("a", serial="S", port="1")])
    assert ids([tty("a", port="1")], known) == {"/a": "S-tty"}
    later = after([tty("a", port="1")])
    assert ids([tty("a", serial="S", port="1")], later) == {"/a": "1-tty"}


def test_another_device_in_the_same_place_is_another() -> None:
    """Since something that both of them say is not the same."""
    known = after([tty("a", serial="S", port="1")])
    assert ids([tty("a", serial="T", port="1")], known) == {"/a": "T-tty"}
    mute = after([tty("a", port="1", model="10c4:ea60")])
    assert ids([tty("a", serial="T", port="1", model="0403:6001")], mute) == {"/a": "T-tty"}


@pytest.mark.parametrize(
    "text", ["a b", "a/b", "a\nb", "\udcff", "\u00e9", "'", "$(x)", "x" * 500]
)
def test_an_id_can_be_written_anywhere(text: str) -> None:
    """Without quotes; and two texts that would be alike then are not."""
    texts = [text, text.replace(text[0], "_", 1), "_"]
    found = [*ids([tty(str(n), serial=each) for n, each in enumerate(texts)]).values()]
    assert len(set(found)) == 3
    for key in found:
        assert key.isascii()
        assert key.isprintable()
        assert not set(key) & set(" /'\"$()")
        assert len(key) <= MAX_ID


@given(st.text("A:0_", min_size=1, max_size=70))
def test_no_device_is_called_as_a_share_of_another_one(serial: str) -> None:
    (found,) = ids([attrs.evolve(tty("a"), traits=Traits(serial=serial))]).values()
    assert device_behind(DeviceId(found)) is None


def test_long_serial_numbers_stay_apart() -> None:
    """Shortened, with a hash that is the same tomorrow."""
    both = ids([tty("a", serial="x" * 126 + "1"), tty("b", serial="x" * 126 + "2")])
    assert len({*both.values()}) == 2
    assert both["/a"] == ids([tty("a", serial="x" * 126 + "1")])["/a"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ttyUSB0", "ttyUSB"),
        ("renderD128", "renderD"),
        ("i2c-1", "i2c"),
        ("pcmC0D1p", "pcmCD1p"),
        ("spidev0.1", "spidev.1"),
        ("nvme0n1", "nvmen1"),
        ("kvm", "kvm"),
        ("12", ""),
    ],
)
def test_a_stem_has_no_number_by_which_the_kernel_counts(name: str, expected: str) -> None:
    assert stem(name) == expected


serials = st.sampled_from(["", "S", "T", "0001"])
machines = st.lists(
    st.builds(
        Traits,
        serial=serials,
        unique=st.sampled_from(["", "U", "V"]),
        slot=st.sampled_from(["", "0:0:1", "Keys"]),
        part=st.sampled_from(["if00-tty", "if01-tty", "", "hidraw"]),
    ),
    max_size=8,
)


def plugged(machine: Sequence[Traits], names: Sequence[int]) -> list[Candidate]:
    """Return devices in ports of their own, with names that count in some order."""
    return [
        Candidate(
            name=f"tty{names[port]}",
            devpath=f"/port{port}/tty{names[port]}",
            traits=attrs.evolve(traits, port=f"p{port}"),
        )
        for port, traits in enumerate(machine)
    ]


def by_port(found: dict[str, str]) -> dict[str, str]:
    return {place.split("/")[1]: key for place, key in found.items()}


@given(machines, st.data())
def test_ids_do_not_depend_on_order_or_numbers(machine: list[Traits], data: st.DataObject) -> None:
    """Whatever the order of enumeration, and whatever numbers the kernel gives."""
    numbers = st.permutations(range(len(machine)))
    first = plugged(machine, data.draw(numbers))
    second = plugged(machine, data.draw(numbers))
    expected = by_port(ids(first))
    assert len({*expected.values()}) == len(machine)
    assert by_port(ids(data.draw(st.permutations(second)))) == expected


@given(machines, st.data())
def test_ids_of_parts_do_not_depend_on_order_or_numbers(
    machine: list[Traits], data: st.DataObject
) -> None:
    """Where each device has three parts of one kind, which their slots tell apart."""
    slots = ("0:0:0", "0:0:1", "Keys")
    parts = range(len(machine) * len(slots))

    def whole() -> list[Candidate]:
        names = data.draw(st.permutations(parts))
        return [
            attrs.evolve(
                each,
                name=f"sd{names[port * len(slots) + unit]}",
                devpath=f"/port{port}.{unit}/sd{names[port * len(slots) + unit]}",
                traits=attrs.evolve(each.traits, slot=slot),
            )
            for port, each in enumerate(plugged(machine, range(len(machine))))
            for unit, slot in enumerate(slots)
        ]

    expected = by_port(ids(whole()))
    assert len({*expected.values()}) == len(parts)
    assert by_port(ids(data.draw(st.permutations(whole())))) == expected


@given(machines, st.lists(st.sets(st.integers(0, 7)), max_size=6), st.data())
def test_ids_stay_through_any_coming_and_going(
    machine: list[Traits], present: list[set[int]], data: st.DataObject
) -> None:
    """A device that stays in its port has one id for ever; no two have one at a time."""
    known = NOBODY
    had: dict[str, str] = {}
    for here in present:
        everything = plugged(machine, data.draw(st.permutations(range(len(machine)))))
        found = [each for port, each in enumerate(everything) if port in here]
        known = identify(map(Known.of, found), known)
        now = by_port({each.place: str(key) for key, each in known.given.items()})
        assert len({*now.values()}) == len(found)
        stayed = now.keys() & had.keys()
        assert {port: now[port] for port in stayed} == {port: had[port] for port in stayed}
        had = now


def after_each(places: Iterable[str], before: Identities) -> Identities:
    """Return what is known after devices came and went, one after the other."""
    known = before
    for place in places:
        known = identify([Known.of(tty(place))], known)
    return identify([], known)


def test_of_what_is_gone_only_the_newest_are_remembered() -> None:
    """Those that were seen last: one that came back counts from when it went again."""
    known = after_each("abcda", Identities(most=3))
    assert [known.gone[key].name for key in known.gone] == ["c", "d", "a"]
    assert [*after_each("e", known).gone.values()] == [Known.of(tty(each)) for each in "dae"]


def test_what_is_there_is_known_whatever_their_number() -> None:
    """Nothing is forgotten but what is gone."""
    twins = [tty("a", serial="S", port="1"), tty("b", serial="S", port="2")]
    known = identify(map(Known.of, twins[:1]), Identities(most=0))
    known = identify(map(Known.of, twins), known)
    assert ids(twins, known) == {"/a": "S-tty", "/b": "S-2-tty"}
    assert known.gone == {}


def test_of_the_ids_that_a_device_had_the_newest_counts() -> None:
    """As when it is there again by an id that a container holds: no other one is its own."""
    here, key = Known.of(tty("a")), DeviceId("b")
    known = identify([here], after_each("a", NOBODY), settled={key: here})
    assert (known.given, known.gone) == ({key: here}, {})
    assert identify([here], known).given == {key: here}


def test_what_is_held_is_remembered_however_long_it_is_gone() -> None:
    """And does not count among the others."""
    parts = [Known.of(tty(name, serial="S")) for name in ("event5", "event10")]
    first = identify(parts, Identities(most=2))
    held = set(first.given)
    known = identify([], first, held=held)
    for name in "abcd":
        known = identify([Known.of(tty(name))], known, held=held)
    known = identify([], known, held=held)
    assert [each.name for each in known.gone.values()] == ["event10", "event5", "c", "d"]
    again = [tty("event12", serial="S"), tty("event7", serial="S")]
    assert ids(again, known) == {"/event7": "S-event5", "/event12": "S-event10"}
    free = identify([], known)
    assert [each.name for each in free.gone.values()] == ["c", "d"]
    assert ids(again, free) == {"/event7": "S-event7", "/event12": "S-event12"}


places = st.tuples(
    st.integers(0, 9),
    st.sampled_from(["", "S", "0001"]),
    st.sampled_from(["p1", "p2", ""]),
    st.sampled_from("ab"),
)
machines_in_time = st.lists(
    st.tuples(st.lists(places, max_size=5, unique_by=lambda each: each[0]), st.integers(0, 3)),
    max_size=12,
)


@given(machines_in_time, st.integers(0, 3))
def test_whatever_is_forgotten_no_two_devices_have_one_id(
    moments: list[tuple[list[tuple[int, str, str, str]], int]], most: int
) -> None:
    """Nor one device two; what stays keeps its id, and what is remembered stays in its bounds."""
    known = Identities(most=most)
    held: set[DeviceId] = set()
    for present, wanted in moments:
        here = [
            Known(Traits(serial=serial, port=port, part="tty"), f"{name}{number}", f"/{number}")
            for number, serial, port, name in present
        ]
        before, known = known, identify(here, known, held=held)
        assert sorted(map(str, known.given.values())) == sorted(map(str, here))
        stayed = {each: key for key, each in before.given.items() if each in here}
        assert stayed.items() <= {each: key for key, each in known.given.items()}.items()
        assert not known.gone.keys() & known.given.keys()
        everything = [*known.gone.values(), *known.given.values()]
        assert len(set(everything)) == len(everything)
        assert len(known.gone.keys() - held) <= most
        gone_with_hold = held & {*before.given, *before.gone} - known.given.keys()
        renamed = set(known.given.values())
        assert {
            key
            for key in gone_with_hold
            if (before.given.get(key) or before.gone[key]) not in renamed
        } <= known.gone.keys()
        held = {*sorted(known.given)[:wanted], *(held & {*known.given, *known.gone})}


def test_what_has_neither_name_nor_traits_is_known_by_its_place() -> None:
    """Such as a group that is named by nothing but a slash."""
    (key,) = ids([Candidate(name="", devpath="/x", traits=Traits())]).values()
    assert key
