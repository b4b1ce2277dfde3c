"""The law of masked recordings: nothing of whose machine it was, and as much of what it is."""

import os
import string
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from tests.support.machines import on_disk

from deviceplugin.app.inspector import CONFIGURATION, Inspector
from deviceplugin.app.recorder import Recorder
from deviceplugin.app.settings import load
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.testing.sysfs import FakeDevice, FakeSysfs


@attrs.frozen
class Secrets:
    """What a machine has of each sort."""

    serial: str = "A50285BI"
    short: str = "GPS1"
    disk: str = "S466NX0K123456"
    scsi: str = "WD-WCC4E1234567"
    virtio: str = "7f3a9c51e2"
    wwn: str = "5000c500a1b2c3d4"
    switch: str = "3cecef112200"
    mac: str = "3cecef112233"
    one_wire: str = "a1b2c3d4e5"
    uuid: str = "1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d"
    volume: str = "AbCdEf1234gHiJkLmNoPqRsTuVWxYz99"
    machine: str = "roof17"

    @property
    def volume_groups(self) -> str:
        """The way of LVM to write one."""
        return _grouped(self.volume, 6, 4, 4, 4, 4, 4, 6)


def _grouped(text: str, *lengths: int, by: str = "-") -> str:
    at = [sum(lengths[:number]) for number in range(len(lengths))]
    return by.join(text[begin : begin + length] for begin, length in zip(at, lengths, strict=True))


def rules(secrets: Secrets) -> str:
    """Return a configuration that asks for each secret by what holds it."""
    return f"""\
version: 1
domain: example.com
resources:  # {secrets.short} is on the roof, {secrets.serial} in the cellar
  - name: short
    match:
      - {{subsystem: tty, usb: {{serial: {{in: ["{secrets.short}", none]}}}}}}
      - node: /dev/serial/by-id/usb-Maker_Modem_{secrets.short}-if00-port0
  - name: long
    match:
      - subsystem: tty
        usb: {{serial: {secrets.serial}}}
        node: "/dev/serial/by-id/*_{secrets.serial.lower()}-*"
  - name: sensor
    match: [{{subsystem: w1, name: "28-*", properties: {{W1_SLAVE_ID: "*"}}}}]
  - name: card
    match:
      - subsystem: net
        attributes:
          address: "{_grouped(secrets.mac, 2, 2, 2, 2, 2, 2, by=":")}"
          phys_switch_id: "{secrets.switch}"
    env: {{IF: "{{name}} not wlx{secrets.mac}"}}
  - name: drive
    match: [{{subsystem: block, attributes: {{device/subsysnqn: "nqn.*"}}}}]
  - name: disk
    match: [{{node: /dev/disk/by-id/scsi-3{secrets.wwn}}}]
"""


def machine(place: Path, secrets: Secrets) -> Path:
    """Return a machine on disk with each of them wherever Linux and udev have it."""
    sysfs = FakeSysfs(place / "machine")
    sysfs.serial_port("ttyUSB0", serial=secrets.short)
    hub = sysfs.usb_hub(7, below=sysfs.pci("0000:09:00.0"))
    port = sysfs.usb_interface(sysfs.usb("7-1", below=hub, serial=secrets.serial), driver="cp210x")
    sysfs.usb_tty("ttyUSB1", below=port, minor=1)
    sensor = sysfs.bus_device(f"28-00{secrets.one_wire}", bus="w1", number=(10, 77))
    _add(sysfs, sensor, f"W1_SLAVE_ID=00000000000000{secrets.one_wire.upper()}\n")
    mac = _grouped(secrets.mac, 2, 2, 2, 2, 2, 2, by=":")
    card = sysfs.child(
        f"wlx{secrets.mac}",
        subsystem="net",
        below=sysfs.pci("0000:0a:00.0"),
        attributes={"address": mac, "phys_switch_id": secrets.switch},
    )
    _add(sysfs, card, f"INTERFACE=wlx{secrets.mac}\n")
    nqn = f"nqn.2014.08.org.nvmexpress:144d144d{secrets.disk:20}Samsung SSD 970"
    control = sysfs.child(
        "nvme0",
        subsystem="nvme",
        below=sysfs.pci("0000:0b:00.0"),
        number=(240, 0),
        attributes={"serial": f"{secrets.disk:20}", "subsysnqn": nqn},
    )
    number = NodeNumber("block", 259, 0)
    drive = FakeDevice(path=f"{control.path}/nvme0n1", subsystem="block", number=number)
    sysfs.add(attrs.evolve(drive, node="nvme0n1"), {"wwid": f"eui.{secrets.wwn[::-1]}"})
    sysfs.link(f"{drive.path}/device", control.path)
    scsi = sysfs.bus_device("0:0:0:0", bus="scsi", below=sysfs.pci("0000:0c:00.0"))
    sysfs.disk("sda", below=scsi)
    live = on_disk(sysfs)
    for name in links(secrets):
        link = live / "dev" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        node = "ttyUSB0" if secrets.short in name else "ttyUSB1" if "serial/" in name else "sda"
        link.symlink_to(f"../../{'nvme0n1' if 'nvme' in name else node}")
    return live


def links(secrets: Secrets) -> Iterator[str]:
    """Yield the names of udev's links."""
    yield f"serial/by-id/usb-Maker_Modem_{secrets.short}-if00-port0"
    yield f"serial/by-id/usb-Maker_Modem_{secrets.serial.lower()}-if00-port0"
    for name in (
        f"nvme-Samsung_SSD_970_{secrets.disk}",
        f"nvme-Samsung_SSD_970_{secrets.disk}_1",
        f"nvme-eui.{secrets.wwn[::-1]}",
        f"scsi-3{secrets.wwn}",
        f"wwn-0x{secrets.wwn}-part1",
        f"dm-uuid-mpath-3{secrets.wwn}",
        f"scsi-SATA_WDC_WD10EZEX_{secrets.scsi}",
        f"ata-WDC_WD10EZEX_{secrets.scsi}-part1",
        f"virtio-{secrets.virtio}",
        f"lvm-pv-uuid-{secrets.volume_groups}",
        f"dm-uuid-LVM-{secrets.volume[::-1]}{secrets.volume}",
        f"md-uuid-{_grouped(secrets.uuid, 8, 8, 8, 8, by=':')}",
        f"md-name-{secrets.machine}:0",
    ):
        yield f"disk/by-id/{name}"


def _add(sysfs: FakeSysfs, device: FakeDevice, text: str) -> None:
    place = sysfs.at(device.path) / "uevent"
    place.write_text(place.read_text() + text)


def offered(root: Path, file: Path) -> dict[str, int]:
    """Return how many devices of each resource are found."""
    given = load(str(file), {}, {"sys_root": f"{root}/sys", "dev_root": f"{root}/dev"})
    tree = Inspector(configuration=given, root=str(root)).look()
    return {name.name: len(devices) for name, devices in tree.resources.items()}


def told(path: Path) -> Iterator[str]:
    """Yield all names, texts of files and targets of links below a path."""
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            each = Path(folder, name)
            yield name
            if each.is_symlink():
                yield os.readlink(each)  # noqa: PTH115 - text
            elif each.is_file():
                yield each.read_text()


def left(secrets: Secrets, path: Path) -> list[tuple[str, str]]:
    """Return what is left of secrets, whatever case and separators it is written with."""
    texts = [text.lower() for text in told(path)]
    texts += ["".join(each for each in text if each not in ":-") for text in texts]
    wanted = [str(each).lower() for each in attrs.astuple(secrets)]
    return [(one, text) for one in wanted for text in texts if one in text]


def _of(alphabet: str, least: int, most: int) -> st.SearchStrategy[str]:
    # A number of one digit only is filler, and one in which few differ is like an index.
    texts = st.text(alphabet, min_size=least, max_size=most)
    return texts.filter(lambda text: len({*text}) >= min(least, 6) // 2 + 1)


_HEX = "0123456789abcdef"
_SOME = st.builds(
    Secrets,
    serial=_of(string.ascii_uppercase, 5, 9).map(lambda text: f"{text}4X7"),
    short=_of("GHJKQXYZ", 2, 3).map(lambda text: f"{text}7"),
    disk=_of(string.ascii_uppercase + string.digits, 10, 18).map(lambda text: f"S4{text}"),
    scsi=_of(string.digits, 7, 9).map(lambda text: f"WD-WCC4E{text}"),
    virtio=_of(_HEX, 8, 18).map(lambda text: f"7f{text}"),
    wwn=_of(_HEX, 11, 11).map(lambda text: f"5000c{text}"),
    switch=_of(_HEX, 10, 10).map(lambda text: f"3c{text}"),
    mac=_of(_HEX, 10, 10).map(lambda text: f"3e{text}"),
    one_wire=_of(_HEX, 9, 9).map(lambda text: f"f{text}"),
    uuid=_of(_HEX, 32, 32),
    volume=_of(string.ascii_letters + string.digits, 31, 31).map(lambda text: f"{text}7"),
    machine=_of("qxyz", 4, 6).map(lambda text: f"{text}17"),
)


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(_SOME)
@example(Secrets())
def test_what_is_masked_at_one_place_is_masked_at_all(secrets: Secrets) -> None:
    """And as many devices are found of each resource as there were."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        live, file = machine(place, secrets), place / "plugin.yaml"
        file.write_text(rules(secrets))
        given = load(str(file), {}, {"sys_root": f"{live}/sys", "dev_root": f"{live}/dev"})
        Recorder(Inspector(configuration=given, root=str(live))).record(
            str(place / "copy"), mask=True
        )
        assert not left(secrets, place / "copy")
        expected = offered(live, file)
        assert expected == dict.fromkeys(expected, 1)
        assert offered(place / "copy", place / "copy" / CONFIGURATION) == expected
