"""Automata that read a value once, whatever they look for.

Built of parts from the end to the beginning; a state goes on by one character, or freely.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

from deviceplugin.domain.errors import InvalidValueError

MAX_STATES: Final = 1000
"""Largest automaton: `{m,n}` makes as many copies of what it follows."""
MAX_BUILDS: Final = 50 * MAX_STATES
"""Most parts that are built: what is empty makes no states, however often it is repeated."""
_MAX_STEPS_KNOWN: Final = 4096
"""Steps of the automaton that are remembered at most."""

Test = Callable[[str], bool]
"""Says whether one character will do."""


@attrs.define
class _State:
    """A place in the automaton: goes on by a character that will do, or, without one, freely."""

    test: Test | None
    onward: tuple[int, ...]


@attrs.frozen
class Part:
    """A piece of an expression: `build(states, after)` adds it and returns where it begins."""

    build: Callable[["States", int], int]


class States(list[_State]):
    """States in the making."""

    _builds = 0

    def note_build(self) -> None:
        """Count one more part that is built. Raises `InvalidValueError` if they are too many."""
        self._builds += 1
        if self._builds > MAX_BUILDS:
            raise _too_large()

    def put(self, test: Test | None, *onward: int) -> int:
        """Add a state and return its number."""
        if len(self) >= MAX_STATES:
            raise _too_large()
        self.append(_State(test, onward))
        return len(self) - 1


def _too_large() -> InvalidValueError:
    return InvalidValueError("it is too large: repeat less")


def one(test: Test) -> Part:
    """Return a part that is one character."""
    return Part(lambda states, after: states.put(test, after))


def sequence(parts: Sequence[Part]) -> Part:
    """Return one part after the other."""

    def build(states: States, after: int) -> int:
        states.note_build()
        for part in reversed(parts):
            after = part.build(states, after)
        return after

    return Part(build)


def either(parts: Sequence[Part]) -> Part:
    """Return a choice of parts."""

    def build(states: States, after: int) -> int:
        return states.put(None, *(part.build(states, after) for part in parts))

    return Part(build)


def _any_number(part: Part) -> Part:
    def build(states: States, after: int) -> int:
        loop = states.put(None)
        states[loop].onward = (part.build(states, loop), after)
        return loop

    return Part(build)


def repeated(part: Part, low: int, high: int | None) -> Part:
    """Return the part `low` to `high` times; None: without end."""

    def build(states: States, after: int) -> int:
        here = after if high is not None else _any_number(part).build(states, after)
        for _ in range((high or low) - low):
            states.note_build()
            here = states.put(None, part.build(states, here), after)
        for _ in range(low):
            states.note_build()
            here = part.build(states, here)
        return here

    return Part(build)


@attrs.frozen
class Automaton:
    """Goes through a value once. What steps lead to is remembered, so most are one look-up."""

    states: Sequence[_State]
    start: frozenset[int]
    final: int
    _known: dict[tuple[frozenset[int], str], frozenset[int]] = attrs.field(
        factory=dict[tuple[frozenset[int], str], frozenset[int]], eq=False
    )

    def accepts(self, value: str) -> bool:
        """Say whether the whole value leads to the end."""
        here = self.start
        for letter in value:
            there = self._known.get((here, letter))
            if there is None:
                there = self._step(here, letter)
                if len(self._known) >= _MAX_STEPS_KNOWN:
                    self._known.clear()
                self._known[here, letter] = there
            here = there
            if not here:
                return False
        return self.final in here

    def _step(self, here: frozenset[int], letter: str) -> frozenset[int]:
        passed = (self.states[number] for number in here)
        return _reached(
            self.states, (each.onward[0] for each in passed if each.test and each.test(letter))
        )


def _reached(states: Sequence[_State], begin: Iterable[int]) -> frozenset[int]:
    """Return every state that can be reached from these without a further character."""
    found: set[int] = set()
    ahead = list(begin)
    while ahead:
        number = ahead.pop()
        if number not in found:
            found.add(number)
            if states[number].test is None:
                ahead.extend(states[number].onward)
    return frozenset(found)


def automaton(part: Part) -> Automaton:
    """Return the automaton of a part. Raises `InvalidValueError` if it would be too large."""
    states = States()
    final = states.put(None)
    start = part.build(states, final)
    return Automaton(states, _reached(states, [start]), final)
