"""The laws of reading what the kernel announces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.adapters.uevent.message import LONGEST, Uevent, parse

ADD = (
    b"add@/devices/pci0/usb1/1-1\0ACTION=add\0DEVPATH=/devices/pci0/usb1/1-1\0"
    b"SUBSYSTEM=usb\0MAJOR=189\0MINOR=1\0DEVNAME=bus/usb/001/002\0SEQNUM=4711\0"
)
MOVE = (
    b"move@/devices/virtual/net/new\0ACTION=move\0DEVPATH=/devices/virtual/net/new\0"
    b"DEVPATH_OLD=/devices/virtual/net/old\0SUBSYSTEM=net\0SEQNUM=1\0"
)


def test_an_announcement_names_the_device_and_its_subsystem() -> None:
    assert parse(ADD) == Uevent("/devices/pci0/usb1/1-1", "usb")


def test_a_move_names_the_old_place_as_well() -> None:
    assert parse(MOVE) == Uevent("/devices/virtual/net/new", "net", "/devices/virtual/net/old")


def test_a_path_need_not_be_text() -> None:
    told = parse(b"add@/devices/\xff\0ACTION=add\0DEVPATH=/devices/\xff\0")
    assert told == Uevent("/devices/\udcff")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"libudev\0\xfe\xed\xca\xfe" + ADD,
        b"add@",
        b"@/devices/x\0ACTION=\0DEVPATH=/devices/x\0",
        b"add@/devices/x\0",
        b"add@/devices/x\0ACTION=add\0",
        b"add@/devices/x\0ACTION=add\0DEVPATH=/devices/y\0",
        b"add@/devices/x\0ACTION=remove\0DEVPATH=/devices/x\0",
        b"add@devices/x\0ACTION=add\0DEVPATH=devices/x\0",
        b"add /devices/x\0ACTION=add\0DEVPATH=/devices/x\0",
        ADD + b"X=" + b"x" * LONGEST,
    ],
)
def test_what_is_no_announcement_of_the_kernel_is_none(data: bytes) -> None:
    """Such as udev's own messages, and what was cut."""
    assert parse(data) is None


@given(st.one_of(st.binary(max_size=200), st.binary(max_size=20).map(lambda data: ADD + data)))
def test_no_message_breaks_the_reading(data: bytes) -> None:
    told = parse(data)
    assert told is None or told.devpath.startswith("/")


@given(st.integers(min_value=0, max_value=len(ADD)))
def test_a_message_that_was_cut_is_none_or_tells_the_truth(length: int) -> None:
    told = parse(ADD[:length])
    assert told is None or told.devpath == "/devices/pci0/usb1/1-1"
