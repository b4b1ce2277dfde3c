"""The laws of masks."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviceplugin.domain.recording.entries import Entry, File, Link, Recording
from deviceplugin.domain.recording.masking import masked
from deviceplugin.domain.recording.masks import Masks
from deviceplugin.domain.recording.secrets import FILES, identifies

USB = "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-1"


def after(entries: dict[str, Entry], *more: str) -> dict[str, Entry]:
    """Return entries as they are masked, directories left out."""
    recording, _ = masked(Recording(entries), more)
    return {path: each for path, each in recording.entries.items() if path in each_of(recording)}


def each_of(recording: Recording) -> set[str]:
    """Return the paths of files and links."""
    return {path for path, each in recording.entries.items() if isinstance(each, File | Link)}


def test_a_serial_number_is_masked_wherever_it_stands() -> None:
    """In its file, in names of udev, in links, and in the middle of another file."""
    entries: dict[str, Entry] = {
        f"{USB}/serial": File(b"A50285BI\n"),
        f"{USB}/other": File(b"x A50285BI y\n"),
        "/dev/serial/by-id/usb-FTDI_A50285BI-if00-port0": Link("../../ttyUSB0"),
        "/dev/other": Link("serial/by-id/usb-FTDI_A50285BI-if00-port0"),
    }
    assert after(entries) == {
        f"{USB}/serial": File(b"MASKED1\n"),
        f"{USB}/other": File(b"x MASKED1 y\n"),
        "/dev/serial/by-id/usb-FTDI_MASKED1-if00-port0": Link("../../ttyUSB0"),
        "/dev/other": Link("serial/by-id/usb-FTDI_MASKED1-if00-port0"),
    }


def test_a_serial_number_that_is_no_text_is_none_masked() -> None:
    """That it cannot be decoded is a fault to be found again in the recording."""
    (file,) = after({f"{USB}/serial": File(b"ab12cd\xff\xfe\n")}).values()
    assert isinstance(file, File)
    assert b"ab12cd" not in file.data
    with pytest.raises(UnicodeDecodeError):
        file.data.decode()


def test_a_serial_number_that_only_a_name_tells_is_masked() -> None:
    """As those of disks, which their own files do not have as text."""
    entries: dict[str, Entry] = {
        "/dev/disk/by-id/ata-Some_Disk_S2ABNX0J12-part1": Link("../../sda1"),
        "/dev/disk/by-uuid/12AB-34CD": Link("../../sda1"),
    }
    assert set(after(entries)) == {
        "/dev/disk/by-id/ata-Some_Disk_MASKED1-part1",
        "/dev/disk/by-uuid/0000-0002",
    }


@pytest.mark.parametrize(
    ("secret", "mask"),
    [
        ("52:54:00:12:34:56", "02:00:00:00:00:01"),
        ("52:54:00:AB:CD:EF", "02:00:00:00:00:01"),
        ("248a:0703:00b2:a1f4", "0000:0000:0000:0001"),
        ("80:00:00:48:fe:80:00:00:00:00:00:00", "00:00:00:00:00:00:00:00:00:00:00:01"),
        ("3e6be9de-8139-4a4a-9106-a43f08d823a6", "00000000-0000-0000-0000-000000000001"),
        ("naa.5000c500a1b2c3d4", "naa.0000000000000001"),
        ("eui.0025388b01e1a2b3", "eui.0000000000000001"),
        ("28-0000065b1c2d", "28-020000000001"),
    ],
)
def test_an_address_is_masked_by_one_of_its_form_wherever_it_stands(
    secret: str, mask: str
) -> None:
    """Whatever the file is called; in names of directories as well."""
    entries: dict[str, Entry] = {
        f"/sys/devices/x/battery-{secret}/anything": File(f"A={secret}\n".encode())
    }
    assert after(entries) == {
        f"/sys/devices/x/battery-{mask}/anything": File(f"A={mask}\n".encode())
    }


def test_an_address_in_the_name_of_a_network_card_is_masked() -> None:
    """And it is the same one, in whatever way it is written."""
    entries: dict[str, Entry] = {
        "/sys/class/net/enx525400abcdef": Link("../../devices/x/net/enx525400abcdef"),
        "/sys/devices/x/net/enx525400abcdef/address": File(b"52:54:00:ab:cd:ef\n"),
        "/sys/devices/x/net/enx525400abcdef/upper": File(b"52:54:00:AB:CD:EF\n"),
    }
    assert after(entries) == {
        "/sys/class/net/enx020000000001": Link("../../devices/x/net/enx020000000001"),
        "/sys/devices/x/net/enx020000000001/address": File(b"02:00:00:00:00:01\n"),
        "/sys/devices/x/net/enx020000000001/upper": File(b"02:00:00:00:00:01\n"),
    }


@pytest.mark.parametrize(
    ("name", "masked_name"),
    [
        ("scsi-35000c500a1b2c3d4", "scsi-30000000000000001"),
        ("dm-uuid-mpath-35000c500a1b2c3d4", "dm-uuid-mpath-30000000000000001"),
        ("virtio-a1b2c3d4e5f6", "virtio-020000000001"),
        ("virtio-7-part1", "virtio-MASKED1-part1"),
        ("lvm-pv-uuid-AbCdEf-1234-gHiJ-kLmN-oPqR-sTuV-WxYz99", "lvm-pv-uuid-MASKED1"),
        ("md-uuid-1a2b3c4d:5e6f7a8b:9c0d1e2f:3a4b5c6d", f"md-uuid-{'00000000:' * 3}00000001"),
        ("md-name-roof:0", "md-name-MASKED1:0"),
        ("nvme-Maker_970_S466NX0K123_1", "nvme-Maker_970_MASKED2_MASKED1"),
        ("usb-Maker_Stick_4C53X001-0:0-part1", "usb-Maker_Stick_MASKED1-0:0-part1"),
        ("usb-1a86_USB_Serial-if00-port0", "usb-1a86_USB_Serial-if00-port0"),
        ("google-persistent-disk-0", "google-persistent-disk-0"),
    ],
)
def test_a_number_in_the_name_of_a_link_is_masked(name: str, masked_name: str) -> None:
    """By the grammar of udev's names, though no file of the device has it; models stay."""
    entries: dict[str, Entry] = {
        f"/dev/disk/by-id/{name}": Link("../../sda"),
        "/dev/mine": Link(f"disk/by-id/{name}"),
    }
    assert after(entries) == {
        f"/dev/disk/by-id/{masked_name}": Link("../../sda"),
        "/dev/mine": Link(f"disk/by-id/{masked_name}"),
    }


def test_a_number_is_masked_in_the_middle_of_another_text() -> None:
    """In whatever case, with whatever between its digits, and however it is written."""
    wwid = "nvme.144d-" + b"S466NX0K123456".hex() + "-4d-00000001"
    entries: dict[str, Entry] = {
        "/sys/devices/x/serial": File(b"S466NX0K123456      \n"),
        "/sys/devices/x/subsysnqn": File(
            b"nqn.2014.08.org.nvmexpress:144d144dS466NX0K123456      Samsung SSD\n"
        ),
        "/sys/devices/x/firmware": File(b"xs466nx0k123456y\n"),
        "/sys/devices/x/path": File(wwid.partition("-4d")[0].encode()),
        "/sys/devices/y/address": File(b"3c:ec:ef:11:22:33\n"),
        "/sys/devices/y/phys_port_id": File(b"3cecef112233\n"),
        "/sys/devices/y/wlx3cecef112233": File(b"a3CECEF-112233b\n"),
        "/sys/devices/28-00000a1b2c3d/uevent": File(b"W1_SLAVE_ID=00000000000000000A1B2C3D\n"),
    }
    result = after(entries)
    said = "".join(
        f"{path} {each.data.decode()}" for path, each in result.items() if isinstance(each, File)
    ).lower()
    for secret in ("s466nx0k123456", b"S466NX0K123456".hex(), "cecef", "a1b2c3d"):
        assert secret not in said
    assert "/sys/devices/y/wlx020000000003" in result
    assert result["/sys/devices/y/phys_port_id"] == File(b"020000000003\n")
    assert "samsung ssd" in said


def test_a_serial_number_that_is_a_word_of_the_tree_is_masked_only_where_it_stands_alone() -> None:
    """The tree stays one."""
    entries: dict[str, Entry] = {f"{USB}/serial": File(b"Devices\n")}
    assert after(entries) == {f"{USB}/serial": File(b"MASKED1\n")}


def test_keys_of_a_uevent_file_are_masked() -> None:
    """In quotes or not, and nothing else of it."""
    text = b'PRODUCT=3/46d/c52b/111\nUNIQ="a1-b2"\nHID_UNIQ=77\nDEVNAME=input/event3\n'
    assert after({"/sys/devices/x/uevent": File(text)}) == {
        "/sys/devices/x/uevent": File(
            b'PRODUCT=3/46d/c52b/111\nUNIQ="MASKED1"\nHID_UNIQ=MASKED2\nDEVNAME=input/event3\n'
        )
    }


def test_a_short_number_is_masked_only_where_its_place_says_what_it_is() -> None:
    """1 is a serial number in one file and an index in the next."""
    entries: dict[str, Entry] = {
        f"{USB}/serial": File(b"1\n"),
        f"{USB}/index": File(b"1\n"),
        "/dev/serial/by-id/usb-X_1-if00": Link("../../ttyUSB1"),
    }
    assert after(entries) == {
        f"{USB}/serial": File(b"MASKED1\n"),
        f"{USB}/index": File(b"1\n"),
        "/dev/serial/by-id/usb-X_MASKED1-if00": Link("../../ttyUSB1"),
    }


@pytest.mark.parametrize(
    "text", ["0000:00:14.0", "vhci_hcd.0", "0000000000", "None", "To be filled by O.E.M.", ""]
)
def test_what_tells_no_machine_from_another_stays(text: str) -> None:
    """A root hub has its controller's name for a serial number: that is a place in the tree."""
    path = f"/sys/devices/platform/{text or 'x'}/usb1/serial"
    assert after({path: File(f"{text}\n".encode())}) == {path: File(f"{text}\n".encode())}


def test_what_is_known_from_elsewhere_is_masked_too() -> None:
    entries: dict[str, Entry] = {"/sys/devices/x/label": File(b"unit SN-4711X\n")}
    assert after(entries, "SN-4711X") == {"/sys/devices/x/label": File(b"unit MASKED1\n")}


def test_bytes_that_are_no_text_are_kept_as_they_are() -> None:
    """But for the secrets in them."""
    entries: dict[str, Entry] = {
        f"{USB}/serial": File("Zoë-4711".encode()),
        f"{USB}/raw": File(b"\xff\x00" + "Zoë-4711".encode() + b"\xfe"),
        f"{USB}/Zoë-4711": File(b""),
    }
    assert after(entries) == {
        f"{USB}/serial": File(b"MASKED1"),
        f"{USB}/raw": File(b"\xff\x00MASKED1\xfe"),
        f"{USB}/MASKED1": File(b""),
    }


WORDS = FILES | {"devices"}
SECRETS = st.lists(
    st.text(string.ascii_letters + string.digits + "-_ ", min_size=6, max_size=20)
    .map(str.strip)
    .filter(lambda text: len(text) >= 6 and text.lower() not in WORDS and identifies(text)),
    unique=True,
    min_size=1,
    max_size=8,
)


@given(SECRETS)
def test_equal_stay_equal_and_distinct_stay_distinct(secrets: list[str]) -> None:
    """Whatever the numbers are; and a mask is none of those that it stands for."""
    masks = Masks.of(secrets)
    seen = {secret: masks.whole(secret) for secret in secrets}
    assert len(set(seen.values())) == len(seen)
    assert all(mask != secret for secret, mask in seen.items())
    assert all(masks.whole(secret) == mask for secret, mask in seen.items())


@given(SECRETS)
def test_no_secret_is_left(secrets: list[str]) -> None:
    """Not in a file's text, not in a name, however many there are."""
    entries: dict[str, Entry] = {
        f"/sys/devices/d{number}/serial": File(f"{secret}\n".encode())
        for number, secret in enumerate(secrets)
    }
    entries["/sys/devices/list"] = File("\n".join(secrets).encode())
    result = after(entries)
    lines = [
        line
        for each in result.values()
        if isinstance(each, File)
        for line in each.data.decode().splitlines()
    ]
    assert len(lines) == 2 * len(secrets)
    assert not {*secrets} & {line for line in lines if not re.fullmatch(r"MASKED\d+|0*\d+", line)}
