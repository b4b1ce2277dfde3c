"""The laws of texts that are refused since they fit nothing: only what surely does not."""

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deviceplugin.domain.discovery.conditions import pattern
from deviceplugin.domain.discovery.facts import Fact, Kind
from deviceplugin.domain.discovery.globs import Glob
from deviceplugin.domain.discovery.unmatchable import unmatchable
from deviceplugin.domain.errors import InvalidValueError

NAMES: Final = (Kind.NAME, Kind.SUBSYSTEM, Kind.DRIVER)
PIECES: Final = [*"a/!?*[]-.", "sys", "dev"]
TEXTS: Final = st.lists(st.sampled_from(PIECES), min_size=1).map("".join)
FILES: Final = TEXTS.map(lambda text: text.replace("/", "!"))
PLACES: Final = FILES.filter(lambda first: first != "sys").flatmap(
    lambda first: TEXTS.map(lambda rest: f"/{first}/{rest}")
)


@given(TEXTS, FILES)
@example("[!/]*", "cciss!c0d0")
@example("[/a]b", "ab")
@example("x[a/]", "xa")
def test_no_name_fits_what_is_refused_as_one(text: str, name: str) -> None:
    """Whatever is in a name but a '/', of which sysfs makes a '!'."""
    for kind in NAMES:
        if unmatchable(kind, text):
            assert not Glob(text).fits(name)


@given(TEXTS, PLACES)
@example("*/usb1/*", "/devices/usb1/x")
@example("[!a]devices/x", "/devices/x")
@example("?devices/x", "/devices/x")
@example("/sys*", "/system/x")
def test_no_path_below_sys_fits_what_is_refused_as_one(text: str, path: str) -> None:
    if unmatchable(Kind.DEVPATH, text):
        assert not Glob(text).fits(path)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "kvm",
            "cciss!c0d0",
            "0000:3b:00.0",
            "1-1.4:1.0",
            "sda1",
            "Fixed MDIO bus.0",
            "a|b",
            "[/]",
        )
    ],
)
def test_each_name_that_sysfs_can_have_may_be_asked_for(name: str) -> None:
    """With blanks and signs, too."""
    for kind in NAMES:
        assert pattern(Fact(kind), name).text == name


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (Kind.NAME, "/dev/ttyS0", "no name has a '/', so it matches nothing: for a path below"),
        (Kind.NAME, "/dev/tty[A-Z]*", "for a path below /dev, it is 'node'"),
        (Kind.NAME, "/sys/class/tty/ttyS0", "it is 'devpath', without /sys"),
        (Kind.NAME, "tty/ttyS0", "leave the path out, as in 'ttyS0'"),
        (Kind.SUBSYSTEM, "/sys/class/tty", "no subsystem has a '/', so it matches nothing: leave"),
        (
            Kind.SUBSYSTEM,
            "tty/",
            "subsystem 'tty/': no subsystem has a '/', so it matches nothing",
        ),
        (Kind.DRIVER, "/sys/bus/pci/drivers/vfio-pci", "leave the path out, as in 'vfio-pci'"),
        (Kind.DEVPATH, "pci*", "begin it with '/' or '*', as in '*/pci*': it is a whole path"),
        (Kind.DEVPATH, "/sys/devices/*", "leave out /sys, as in '/devices/*'"),
    ],
)
def test_what_fits_nothing_is_told_with_what_to_write(kind: Kind, text: str, said: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        pattern(Fact(kind), text)
    assert str(caught.value).startswith(f"{kind.value} {text!r}: ")
    assert said in str(caught.value)
