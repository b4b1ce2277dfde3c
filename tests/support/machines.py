"""Fake machines as directories, which the command line can be pointed at without root."""

import json
from collections.abc import Mapping
from pathlib import Path

from deviceplugin.adapters.recorded.tree import MARK
from deviceplugin.testing.sysfs import FakeSysfs


def on_disk(sysfs: FakeSysfs, uses: Mapping[str, object] | None = None) -> Path:
    """Put a file in the place of each device node; return the directory of sys and dev.

    `uses` is what the host says that it uses, as a recording has it.
    """
    place = sysfs.root.parent
    for device in sysfs:
        if device.number:
            number = device.number
            file = place / "dev" / device.node
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{number.kind} {number.major}:{number.minor}\n")
    (place / MARK).write_text(json.dumps({"version": 1, "failures": {}, "uses": uses or {}}))
    return place
