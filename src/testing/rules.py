"""Rules in one line, for tests."""

from collections.abc import Iterator, Mapping, Sequence

from deviceplugin.domain.discovery.alternatives import Alternative
from deviceplugin.domain.discovery.conditions import Condition, FactCondition, demand
from deviceplugin.domain.discovery.expectations import Expectation
from deviceplugin.domain.discovery.facts import HARDWARE, Fact, Kind
from deviceplugin.domain.discovery.matching import ResourceRule
from deviceplugin.domain.discovery.parents import ParentCondition
from deviceplugin.domain.resources import ResourceName

Wanted = str | Expectation
Conditions = Mapping[str, "Wanted | Mapping[str, Wanted] | Sequence[Conditions]"]
"""What a configuration says of one alternative; a text is a glob, `parents` a list of these."""


def rule(
    resource: str,
    *match: Conditions,
    exclude: Sequence[Conditions] = (),
    exclude_in_use: bool = False,
    advertise_empty: bool = True,
) -> ResourceRule:
    """Return the rule that a configuration would write with the same words.

    `rule("example.com/modem", {"subsystem": "tty", "attributes": {"device/serial": "A*"}})`
    """
    return ResourceRule(
        resource=ResourceName.parse(resource),
        match=tuple(map(alternative, match)),
        exclude=tuple(map(alternative, exclude)),
        exclude_in_use=exclude_in_use,
        advertise_empty=advertise_empty,
    )


def alternative(conditions: Conditions) -> Alternative:
    """Return the alternative that these conditions make."""
    return Alternative(
        tuple(each for key, value in conditions.items() for each in _conditions(Kind(key), value))
    )


def _conditions(
    kind: Kind, value: "Wanted | Mapping[str, Wanted] | Sequence[Conditions]"
) -> Iterator[Condition]:
    if isinstance(value, Mapping):
        yield from (_condition(Fact(kind, key), wanted) for key, wanted in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from (ParentCondition(alternative(each)) for each in value)
    else:
        yield _condition(Fact(kind, HARDWARE.get(kind, ("",))[0]), value)


def _condition(fact: Fact, wanted: Wanted) -> FactCondition:
    return demand(fact, wanted) if isinstance(wanted, str) else FactCondition(fact, wanted)
