"""Commands about configurations: is one valid, and which are shipped."""

import json
from collections.abc import Iterator
from difflib import get_close_matches

import attrs
import click

from deviceplugin.app.presets import offered, presets, summary
from deviceplugin.app.settings import Configuration, Settings, load
from deviceplugin.app.settings.schema import schema
from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.conditions import FactCondition
from deviceplugin.domain.discovery.facts import Kind
from deviceplugin.domain.discovery.regexes import Regex
from deviceplugin.domain.discovery.unmatchable import seems_regex
from deviceplugin.domain.errors import InvalidValueError


@click.command()
@click.argument("file")
def validate(file: str) -> None:
    """Check a configuration, and say what it comes to.

    Neither the environment nor this machine matters. All faults are told at once on standard
    error, each as FILE:LINE:COLUMN: what is wrong and what to do. A FILE of - is standard input.

    Exit codes: 0 it is valid, 2 it is not, or cannot be read.
    """
    for line in _findings(load("/dev/stdin" if file == "-" else file, {}, {})):
        click.echo(line)


@click.command("schema")
def print_schema() -> None:
    """Print the JSON Schema of configurations, for editors that complete and check them.

    A file names it in a line of its own: # yaml-language-server: $schema=FILE

    Exit code: 0.
    """
    click.echo(json.dumps(schema(), indent=2))


@click.command("presets")
@click.argument("name", required=False)
def list_presets(name: str | None) -> None:
    """List the shipped configurations, or print the YAML of one.

    Those marked so are offered only if a file names them, as in: resources: [{preset: nvme}]

    Exit codes: 0 done, 2 there is none of that NAME.
    """
    shipped = presets()
    if name is None:
        width = max(map(len, shipped))
        unasked = offered()
        for each, text in shipped.items():
            note = "" if each in unasked else " (if named)"
            click.echo(f"{each:<{width}}  {summary(text)}{note}")
        return
    if name not in shipped:
        near = get_close_matches(name, shipped, 1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise InvalidValueError(f"no preset {name!r}: {meant}`deviceplugin presets` lists them")
    click.echo(shipped[name], nl=False)


def _findings(configuration: Configuration) -> Iterator[str]:
    rules = configuration.rules
    count = "1 resource" if len(rules) == 1 else f"{len(rules)} resources"
    yield f"{configuration.source}: valid, {count}"
    for rule in rules:
        for alternative in rule.match:
            yield f"resource {rule.resource}: {alternative}"
            for text, instead in _regexes(alternative):
                yield (
                    f"resource {rule.resource}: {text!r} is looked for letter by letter, but for "
                    f"*, ? and [...]: {instead}"
                )
        if rule.gives_one_path:
            path = rule.provision.container_path
            yield (
                f"resource {rule.resource}: a container can have one of its devices, since each "
                f"is at {path} there: for more, end it with '/', or put a fact into it"
            )
    for field in attrs.fields(Settings):
        value = getattr(configuration.settings, field.name)
        if value != field.default:
            yield (
                f"setting {field.name}: {value:g}"
                if isinstance(value, float)
                else f"setting {field.name}: {value}"
            )


def _regexes(alternative: Alternative) -> Iterator[tuple[str, str]]:
    """Yield what may be meant as regular expressions, each with what to write then."""
    for each in alternative.conditions:
        if isinstance(each, FactCondition):
            for one in each.wanted.patterns or ():
                if not isinstance(one, Regex) and seems_regex(each.fact.kind, one.text):
                    regex = f"write {{regex: {one.text!r}}}, or a list"
                    yield one.text, "write a list" if each.fact.kind is Kind.NODE else regex
