"""Whether a device that is there can be used: what is looked at, and how soon that is believed."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

import attrs

from deviceplugin.domain.devices import Health
from deviceplugin.domain.discovery.candidates import Candidate
from deviceplugin.domain.errors import InvalidValueError

PLACEHOLDERS: Final = ("id", "name", "node", "devpath")
"""What a probe can be told of its device: `{node}` stands for its path below /dev, and so on."""
APART: Final = 1.0
"""Seconds from a look that counts to the next that does: a burst of changes is no confirmation."""

_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
SHORTEST, LONGEST = 0.1, 86_400.0


def probe_seconds(seconds: float) -> float:
    """Return a time that a probe can be given. Raises `InvalidValueError`."""
    if not SHORTEST <= seconds <= LONGEST:
        raise InvalidValueError(
            f"probe: {seconds:g} must be {SHORTEST:g} to {LONGEST:.0f} seconds"
        )
    return seconds


@attrs.frozen(kw_only=True)
class Probe:
    """A question about one device that something outside of sysfs answers.

    Either a `command`, run without a shell, that ends with 0 if the device is well; or a `file`,
    whose text is "healthy" then. It is asked every `interval` seconds, and has `timeout` to
    answer. Raises `InvalidValueError`.
    """

    command: tuple[str, ...] = ()
    file: str = ""
    interval: float = 10.0
    timeout: float = 5.0
    _is_told: bool = attrs.field(default=False, alias="is_told", eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        """Refuse what cannot be asked."""
        if bool(self.command) == bool(self.file):
            raise InvalidValueError("probe: needs either 'command' or 'file'")
        if not (self.file or self.command[0]).startswith("/"):
            raise InvalidValueError("probe: must be an absolute path")
        for text in (*self.command, self.file):
            if "\0" in text:
                raise InvalidValueError("probe: must not contain NUL")
            # What a device is called may have braces of its own.
            for name in () if self._is_told else _PLACEHOLDER.findall(text):
                if name not in PLACEHOLDERS:
                    allowed = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
                    raise InvalidValueError(f"probe: {{{name}}} must be one of {allowed}")
        for seconds in (self.interval, self.timeout):
            probe_seconds(seconds)

    def about(self, facts: Mapping[str, str]) -> "Probe":
        """Return the same question about one device. No value leads a file's path elsewhere."""

        def fill(text: str, *, path: bool) -> str:
            def value(found: re.Match[str]) -> str:
                fact = facts.get(found[1], "")
                return fact.replace("/", "-") if path else fact

            return _PLACEHOLDER.sub(value, text)

        return attrs.evolve(
            self,
            command=tuple(fill(each, path=False).replace("\0", "") for each in self.command),
            file=fill(self.file, path=True).replace("\0", ""),
            is_told=True,
        )


@attrs.frozen(kw_only=True)
class Outcome:
    """What a probe answered: `ran` is false if it could not be asked at all."""

    healthy: bool
    reason: str = ""
    ran: bool = True


NOT_YET: Final = Outcome(healthy=False, reason="its probe has not answered yet")


@attrs.frozen
class Steady:
    """What is believed of a device's health; `against` looks, up to `at`, say otherwise."""

    health: Health
    against: int = 0
    at: float = 0.0

    def observe(
        self, seen: Health, at: float, *, unhealthy_after: int = 1, healthy_after: int = 1
    ) -> "Steady":
        """Return what is believed after one more look, `at` seconds by some clock.

        It takes as many looks in a row as the rule says, each `APART` from the last that counted.
        """
        if seen is self.health:
            return STEADY[seen]
        if self.against and at - self.at < APART:
            return self
        needed = unhealthy_after if seen is Health.UNHEALTHY else healthy_after
        if self.against + 1 >= needed:
            return STEADY[seen]
        return Steady(self.health, self.against + 1, at)


STEADY: Final[Mapping[Health, Steady]] = MappingProxyType({each: Steady(each) for each in Health})
"""What is believed where no look says otherwise."""


def ailments(
    candidate: Candidate, unmet: Collection[object], outcome: Outcome | None
) -> tuple[str, ...]:
    """Return why a device cannot be used now; nothing if it can.

    `unmet` are conditions of its rule that do not hold; `outcome` is that of its probe, if any.
    """
    node = candidate.node
    if outcome is None and not unmet and (node is None or node.present):
        return ()
    found: list[str] = []
    if node is not None and not node.present:
        found.append(f"its device node {node.path} is not there")
    found += [f"healthy_when: {each}" for each in unmet]
    if outcome is not None and not outcome.healthy:
        found.append(f"probe: {outcome.reason}" if outcome.ran else f"no probe: {outcome.reason}")
    return tuple(found)
