"""The command that keeps what a scan reads."""

from collections import Counter

import click

from deviceplugin.app.commands.options import configurable, configured, rooted
from deviceplugin.app.inspector import Inspector
from deviceplugin.app.recorder import Recorder
from deviceplugin.domain.ports.driven.device_nodes import NodeNumber
from deviceplugin.domain.recording.entries import Entry, File, Link


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--mask", is_flag=True, help="Make up serial numbers, UUIDs, WWNs and MAC addresses")
@configurable
@rooted
def record(
    directory: str, config: str | None, root: str | None, *, mask: bool, **flags: str | None
) -> None:
    """Store what a scan reads of this machine in DIR, to be looked at elsewhere.

    DIR must be empty, or not there yet; nothing is written anywhere else. `scan` and `explain`
    with --root DIR then say what they say here, on any machine: attach it to a report of a fault.

    With --mask, equal numbers stay equal and distinct ones distinct, wherever they occur. Look it
    through all the same before you give it away.

    Exit codes: 0 done, 1 the hardware could not be looked at or DIR not be written, 2 what was
    given cannot be used.
    """
    configuration = configured(config, flags, root)
    recording = Recorder(Inspector(configuration=configuration, root=root)).record(
        directory, mask=mask
    )
    kinds = Counter(map(_kind, recording.entries.values()))
    counts = ", ".join(f"{kinds[kind]} {kind}" for kind in ("files", "links", "device nodes"))
    click.echo(f"{directory}: {counts}{', masked' if mask else ''}")
    click.echo(f"To look at it: deviceplugin scan --root {directory}")


def _kind(entry: Entry) -> str:
    match entry:
        case File():
            return "files"
        case Link():
            return "links"
        case NodeNumber():
            return "device nodes"
        case _:
            return "directories"
