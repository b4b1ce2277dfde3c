"""The laws of what is the host's own."""

import pytest

from deviceplugin.domain.discovery.occupancy import taken_places, uses_of

DISK = "/devices/pci/0000:00:1f.2/host0/target/0:0:0:0/block/sda"
NVME = "/devices/pci/0000:01:00.0/nvme/nvme0"
TAKEN = taken_places(
    [
        (f"{DISK}/sda2", "mounted at /"),
        ("/devices/pci/0000:02:00.0/net/eth0", "x"),
        (f"{NVME}/nvme0n1/nvme0n1p2", "mounted at /data"),
    ]
)


@pytest.mark.parametrize(
    ("place", "subsystem", "uses"),
    [
        (f"{DISK}/sda2", "block", ("mounted at /",)),
        (DISK, "block", ("mounted at /",)),
        (f"{DISK}/sda1", "block", ()),
        ("/devices/pci/0000:00:1f.2", "pci", ("mounted at /",)),
        ("/devices/pci/0000:00:1f.2/host0/target/0:0:1:0/block/sdb", "block", ()),
        (
            "/devices/pci/0000:00:1f.2/host0/target/0:0:0:0/scsi_generic/sg0",
            "scsi_generic",
            ("mounted at /",),
        ),
        ("/devices/pci/0000:00:1f.2/host0/target/0:0:1:0/scsi_generic/sg1", "scsi_generic", ()),
        ("/devices/pci/0000:00:1f.2/host0/target/0:0:0:0/bsg/0:0:0:0", "bsg", ("mounted at /",)),
        ("/devices/virtual/bsg/odd", "bsg", ()),
        (f"{NVME}/ng0n1", "nvme-generic", ("mounted at /data",)),
        (f"{NVME}/ng0n2", "nvme-generic", ()),
        (f"{NVME}/odd", "nvme-generic", ()),
        (NVME, "nvme", ("mounted at /data",)),
        ("/devices/pci/0000:02:00.0", "pci", ("x",)),
        ("/devices/pci/0000:02:00.1", "pci", ()),
        ("/devices/virtual/misc/kvm", "misc", ()),
    ],
)
def test_what_is_used_is_the_device_and_all_that_it_is_part_of(
    place: str, subsystem: str, uses: tuple[str, ...]
) -> None:
    """Not what is beside it: another partition, disk or port. A side door is no way in."""
    assert uses_of(place, subsystem, None, TAKEN) == uses


@pytest.mark.parametrize(
    ("text", "uses"),
    [("0", ()), (None, ()), ("", ()), ("x", ()), ("4", ("has 4 virtual functions",))],
)
def test_a_function_whose_virtual_functions_are_there_is_used(
    text: str | None, uses: tuple[str, ...]
) -> None:
    """Taking it away would take them away."""
    assert uses_of("/devices/pci/0000:05:00.0", "pci", text, {}) == uses


def test_all_uses_are_told() -> None:
    assert uses_of("/devices/pci/0000:02:00.0", "net", "2", TAKEN) == (
        "x",
        "has 2 virtual functions",
    )
