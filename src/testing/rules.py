"""Rules in one line, for tests."""

from collections.abc import Mapping

from deviceplugin.domain.discovery.candidates import Fact, Kind
from deviceplugin.domain.discovery.matching import Alternative, ResourceRule, demand
from deviceplugin.domain.resources import ResourceName

Conditions = Mapping[str, str | Mapping[str, str]]


def rule(resource: str, *match: Conditions, advertise_empty: bool = True) -> ResourceRule:
    """Return the rule that a configuration would write with the same words.

    `rule("example.com/modem", {"subsystem": "tty", "attributes": {"device/serial": "A*"}})`
    """
    return ResourceRule(
        resource=ResourceName.parse(resource),
        match=tuple(map(alternative, match)),
        advertise_empty=advertise_empty,
    )


def alternative(conditions: Conditions) -> Alternative:
    """Return the alternative that these conditions make."""
    return Alternative(
        tuple(
            demand(Fact(Kind(key), attribute), wanted)
            for key, value in conditions.items()
            for attribute, wanted in (
                value.items() if isinstance(value, Mapping) else [("", value)]
            )
        )
    )
