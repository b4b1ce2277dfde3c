"""The laws of texts with places: what hardware says fills a place, and does nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.candidates import Candidate, Node
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.templates import MAX_FILLED, Own, Template, Use, facts_of
from deviceplugin.domain.errors import InvalidValueError

MODEM = Candidate(
    name="ttyUSB0",
    subsystem="tty",
    devpath="/devices/pci0000:00/ttyUSB0",
    driver="cp210x",
    attributes={"device/vendor": "ACME", "empty": None},
    properties={"ID_MODEL": "GPS"},
    hardware={"usb.serial": "S/1", "pci.id": None},
    node=Node(path="/dev/ttyUSB0", number="188:0"),
    numa_nodes=(0, 1),
    parent="1-2",
)


def filled(text: str, use: Use = Use.VALUE, candidate: Candidate = MODEM) -> str:
    """Return a template with the facts of a device in their places."""
    value_of = facts_of(candidate, device_id="the-id", container_path="/dev/modem")
    return Template(text, use).fill(value_of)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("{id} {name} {node} {container_path}", "the-id ttyUSB0 /dev/ttyUSB0 /dev/modem"),
        ("{subsystem} {driver} {devpath}", "tty cp210x /devices/pci0000:00/ttyUSB0"),
        ("{parent} {numa_node}", "1-2 0,1"),
        ("{attributes.device/vendor}", "ACME"),
        ("{properties.ID_MODEL}", "GPS"),
        ("{usb.serial}", "S/1"),
        ("{attributes.empty|none}", "none"),
        ("{pci.id|}", ""),
        ("{{name}}", "{name}"),
    ],
)
def test_a_place_is_filled_with_the_fact_that_it_names(text: str, expected: str) -> None:
    """A doubled brace is the sign itself; behind a bar stands what else is meant."""
    assert filled(text) == expected


@pytest.mark.parametrize(
    ("text", "use", "said"),
    [
        ("{nam}", Use.VALUE, "no fact 'nam': there are id, name, node"),
        ("{usb.x}", Use.VALUE, "must be one of id, serial, interface"),
        ("{attributes./etc/x}", Use.VALUE, "must be a file below the device"),
        ("{0.__class__}", Use.VALUE, "no fact"),
        ("{name!r}", Use.VALUE, "no fact"),
        ("{", Use.VALUE, "opens or closes no place"),
        ("a}b", Use.VALUE, "write '}}'"),
        ("a\nb", Use.VALUE, "on one line"),
        ("dev/x", Use.PATH, "absolute path"),
        ("{name}", Use.PATH, "absolute path"),
        ("/a/../b", Use.PATH, "without '..'"),
        ("A-B", Use.NAME, "letters, digits"),
        ("1A", Use.NAME, "no digit first"),
        ("x" * 1025, Use.VALUE, "not be longer"),
    ],
)
def test_what_could_never_be_filled_is_refused_at_once(text: str, use: Use, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        Template(text, use)


def test_a_fact_that_the_device_lacks_is_an_error_that_names_the_way_out() -> None:
    with pytest.raises(InvalidValueError, match=r"no pci.id; .* \{pci.id\|none\}"):
        filled("{pci.id}")


def test_what_is_needed_of_a_device_is_known_beforehand() -> None:
    wanted = {Fact(Kind.USB, "serial"), Fact(Kind.ATTRIBUTE, "a/b")}
    assert Template("{name}{usb.serial}{attributes.a/b|x}").facts == wanted


EVIL = st.one_of(
    st.sampled_from(["..", ".", "../../etc", "a\nb", "a\0b", "{id}", "%s", "/", "\u202e", ""]),
    st.text(max_size=50),
)


@given(EVIL)
def test_no_fact_ends_a_line_or_leads_out_of_its_directory(value: str) -> None:
    """Whatever hardware says of itself; and a place in it is no place."""
    candidate = Candidate(name="x", hardware={"usb.serial": value or None})
    text = filled("<{usb.serial|none}>", candidate=candidate)
    assert text.isprintable()
    assert text.startswith("<")
    assert text.endswith(">")
    try:
        path = filled("/run/{usb.serial|none}/x", Use.PATH, candidate)
    except InvalidValueError:
        assert value in {".", ".."}
    else:
        assert path.isprintable()
        assert path.startswith("/run/")
        assert path.endswith("/x")
        assert path.count("/") == 3
    name = filled("{usb.serial|none}_", Use.NAME, candidate)
    assert name.isidentifier()
    assert name.isascii()


def test_a_filled_template_has_a_bound() -> None:
    candidate = Candidate(name="x", hardware={"usb.serial": "y" * (MAX_FILLED - 1)})
    assert len(filled("{usb.serial}z", candidate=candidate)) == MAX_FILLED
    with pytest.raises(InvalidValueError, match="more than 4096"):
        filled("{usb.serial}zz", candidate=candidate)


def test_a_place_knows_its_own_words() -> None:
    """Each own fact can be asked for by its word."""
    assert [filled(f"{{{own.value}}}") for own in Own]
