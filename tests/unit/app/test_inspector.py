"""The laws of looking at a machine for a person."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.machines import on_disk

from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.inspector import Inspector
from deviceplugin.app.settings import load
from deviceplugin.domain.discovery.inquiry import Finding, Outcome
from deviceplugin.domain.discovery.rulebook import OnConflict
from deviceplugin.testing.sysfs import FakeSysfs

RULES = """
  - preset: vfio
  - name: gpu
    match: [{subsystem: drm, name: "renderD*"}]
    with:
      - siblings: {subsystem: drm, name: "card*"}
      - {node: /dev/shared, optional: true}
      - {device: {subsystem: misc, name: "m[ab]"}, optional: true}
  - {name: both, match: [{subsystem: tty}], limit: 1}
  - {name: disputed, match: [{name: ttyUSB1}, {name: card0}]}
  - {name: usb, match: [{subsystem: tty, node: "/dev/tty*"}, {subsystem: usb}], group_by: hardware}
"""


@pytest.fixture(params=OnConflict)
def inspector(request: pytest.FixtureRequest, tmp_path: Path) -> Inspector:
    """Return what looks at a machine whose devices come along, share nodes and are disputed."""
    on_conflict: OnConflict = request.param
    sysfs = FakeSysfs(tmp_path / "machine")
    function = sysfs.pci("0000:3b:00.0", driver="vfio-pci")
    sysfs.iommu_group(7, function)
    sysfs.child("7", subsystem="vfio", number=(511, 7), node="vfio/7")
    sysfs.misc("vfio", 196, node="vfio/vfio")
    sysfs.misc("shared", 1)
    sysfs.misc("ma", 2)
    for number in (0, 1):
        card = sysfs.pci(f"0000:0{number + 3}:00.0")
        sysfs.child(f"renderD{number}", subsystem="drm", below=card, number=(226, 128 + number))
        sysfs.child(f"card{number}", subsystem="drm", below=card, number=(226, number))
        sysfs.serial_port(f"ttyUSB{number}", serial=f"A{number}", minor=number)
    root = on_disk(sysfs)
    config = tmp_path / "plugin.yaml"
    config.write_text(f"version: 1\non_conflict: {on_conflict.value}\nresources:{RULES}")
    roots = {name: f"{root}/{name[:-5]}" for name in ("sys_root", "dev_root", "proc_root")}
    return Inspector(
        configuration=load(str(config), {}, roots), root=str(root), journal=MemoryJournal()
    )


def told(found: Sequence[Finding], place: str) -> list[tuple[str, Outcome, str, str]]:
    """Return what is said of the device at a place, by each resource."""
    return [
        (each.resource.name, each.outcome, str(each), each.lead)
        for each in found
        if each.candidate.identity == place
    ]


def test_a_device_is_told_the_same_by_its_resources_and_by_its_paths(inspector: Inspector) -> None:
    """Whoever has it: that somebody asks after it makes it nobody's."""
    of_all = inspector.findings()
    places = {
        each.candidate.identity: each.candidate.node.path
        for each in of_all.all
        if each.candidate.node
    }
    assert len(places) > 10
    for place, node in places.items():
        for path in (node, f"/sys{place}"):
            of_one = inspector.findings_of(path)
            assert told(of_one.all, place) == told(of_all.all, place)
            assert (of_one.ids, of_one.dispute) == (of_all.ids, of_all.dispute)


def test_what_is_told_to_be_given_out_is_what_a_look_offers(inspector: Inspector) -> None:
    """Whether a device in dispute goes to the first, or to nobody."""
    found = inspector.findings()
    given = {
        (each.resource.name, each.candidate.node.path)
        for each in found.all
        if each.candidate.node and each.outcome in {Outcome.OFFERED, Outcome.COMPANION}
    }
    tree = inspector.scanner().scan().freeze(inspector.configuration.settings.domain)
    assert given == {
        (resource.name, node.host_path)
        for resource, devices in tree.resources.items()
        for info in devices.values()
        for node in info.nodes
    }
