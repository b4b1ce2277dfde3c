"""Commands that look at the hardware and touch nothing: what would be offered, and why."""

import json

import attrs
import click

from deviceplugin.adapters.logs import LoggingJournal
from deviceplugin.app.commands.options import configurable, configured, rooted
from deviceplugin.app.console import console, devices_table
from deviceplugin.app.inspector import Inspector
from deviceplugin.app.report import report
from deviceplugin.domain.events import Event
from deviceplugin.domain.ports.driven.journal import Journal


@attrs.frozen
class _Heard(Journal):
    """Keeps what happened, and logs it."""

    log: Journal = attrs.field(factory=LoggingJournal)
    events: list[Event] = attrs.field(factory=list[Event])

    def record(self, event: Event) -> None:
        """Keep and log it."""
        self.events.append(event)
        self.log.record(event)


@click.command()
@configurable
@rooted
@click.option("--json", "as_json", is_flag=True, help="Print a document for programs")
def scan(config: str | None, root: str | None, *, as_json: bool, **flags: str | None) -> None:
    """Show what would be advertised; touch nothing.

    Exit codes: 0 done, 1 the hardware could not be looked at, 2 what was given cannot be used.
    """
    heard = _Heard()
    configuration = configured(config, flags, root)
    inspector = Inspector(configuration=configuration, root=root, journal=heard)
    resources = inspector.look().resources
    if as_json:
        click.echo(json.dumps(report(resources, heard.events), indent=2))
    else:
        console().print(devices_table(resources))
