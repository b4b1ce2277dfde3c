"""Commands that look at the hardware and touch nothing: what would be offered, and why."""

import json

import attrs
import click

from deviceplugin.adapters.logs import LoggingJournal
from deviceplugin.app.commands.options import configurable, configured, probing, rooted
from deviceplugin.app.console import console, devices_table, show
from deviceplugin.app.explanation import Line, of_device, of_resource
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
@probing
@click.option("--json", "as_json", is_flag=True, help="Print a document for programs")
def scan(
    config: str | None, root: str | None, *, probe: bool, as_json: bool, **flags: str | None
) -> None:
    """Show what would be advertised; touch nothing.

    Exit codes: 0 done, 1 the hardware could not be looked at, 2 what was given cannot be used.
    """
    heard = _Heard()
    configuration = configured(config, flags, root)
    inspector = Inspector(configuration=configuration, root=root, probe=probe, journal=heard)
    resources = inspector.look().resources
    unasked = sum(len(found) for name, found in resources.items() if inspector.not_asked(name))
    if unasked:
        text = f"probes of {unasked} devices were not asked, and count as well: --probe asks them"
        click.echo(text, err=True)
    if as_json:
        click.echo(json.dumps(report(resources, heard.events), indent=2))
    else:
        console().print(devices_table(resources))


@click.command()
@click.argument("subject", metavar="RESOURCE|PATH")
@click.option("--all", "every", is_flag=True, help="Name each device that was ruled out")
@configurable
@rooted
@probing
def explain(
    subject: str,
    config: str | None,
    root: str | None,
    *,
    every: bool,
    probe: bool,
    **flags: str | None,
) -> None:
    """Say why a resource has its devices and no others, or who has a device and why.

    RESOURCE is a name as in the configuration, or a full one such as example.com/kvm; PATH a
    device node such as /dev/ttyUSB0, or a device's directory below /sys. Of each device that was
    looked at it tells the first condition that ruled it out, and the value that was seen.

    Exit codes: 0 done, 1 the hardware could not be looked at, 2 there is no such resource or
    device, or what was given cannot be used.
    """
    inspector = Inspector(configuration=configured(config, flags, root), root=root, probe=probe)
    if subject.startswith("/"):
        found = inspector.findings_of(subject)
        told = found.all
        show(of_device(told, found.ids))
    else:
        rule = inspector.rule(subject)
        found = inspector.findings()
        told = tuple(each for each in found.all if each.resource == rule.resource)
        show(of_resource(rule, found.all, found.ids, every=every))
    if found.dispute:
        of = "" if any(each.is_disputed for each in told) else "other devices are "
        show([Line(f"{of}not offered: {found.dispute}", "bad")])
