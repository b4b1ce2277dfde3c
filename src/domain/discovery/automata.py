"""Automata that read a value once, whatever they look for.

Built of parts from the end to the beginning; a state goes on by one character, or freely.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import attrs

from deviceplugin.domain.errors import InvalidValueError

MAX_STATES: Final = 1000
"""Largest automaton: `{m,n}` makes as many copies of what it follows."""
_ROOM: Final = 256
_ROOM_EACH: Final = 32
"""Numbers of states in the steps that are remembered: any automaton's, and more for each state."""

Test = Callable[[str], bool]
"""Says whether one character will do."""


@attrs.define
class _State:
    """A place in the automaton: goes on by a character that will do, or, without one, freely."""

    test: Test | None
    onward: tuple[int, ...]


States = list[_State]
"""States in the making."""


@attrs.frozen
class Part:
    """A piece of an expression: `build(states, after)` adds it and returns where it begins.

    `size` is how many states that adds, known without adding any. One of none fits the empty text
    alone. Raises `InvalidValueError` if they are too many.
    """

    size: int
    build: Callable[[States, int], int]

    def __attrs_post_init__(self) -> None:
        """Refuse what is too large before anything of it is built."""
        if self.size >= MAX_STATES:
            raise InvalidValueError("it is too large: repeat less")


EMPTY: Final = Part(0, lambda _, after: after)
"""Nothing, however often it is repeated."""


def _put(states: States, test: Test | None, *onward: int) -> int:
    """Add a state and return its number."""
    states.append(_State(test, onward))
    return len(states) - 1


def one(test: Test) -> Part:
    """Return a part that is one character."""
    return Part(1, lambda states, after: _put(states, test, after))


def sequence(parts: Sequence[Part]) -> Part:
    """Return one part after the other."""
    some = [part for part in parts if part.size]
    if len(some) <= 1:
        return some[0] if some else EMPTY

    def build(states: States, after: int) -> int:
        for part in reversed(some):
            after = part.build(states, after)
        return after

    return Part(sum(part.size for part in some), build)


def either(parts: Sequence[Part]) -> Part:
    """Return a choice of parts."""
    if not any(part.size for part in parts):
        return EMPTY

    def build(states: States, after: int) -> int:
        return _put(states, None, *(part.build(states, after) for part in parts))

    return Part(1 + sum(part.size for part in parts), build)


def _any_number(part: Part) -> Part:
    def build(states: States, after: int) -> int:
        loop = _put(states, None)
        states[loop].onward = (part.build(states, loop), after)
        return loop

    return Part(1 + part.size, build)


def repeated(part: Part, low: int, high: int | None) -> Part:
    """Return the part `low` to `high` times; None: without end."""
    if not part.size or high == 0:
        return EMPTY
    more = _any_number(part) if high is None else _at_most(part, high - low)
    return sequence([_times(part, low), more])


def _times(part: Part, times: int) -> Part:
    def build(states: States, after: int) -> int:
        for _ in range(times):
            after = part.build(states, after)
        return after

    return part if times == 1 else Part(times * part.size, build)


def _at_most(part: Part, times: int) -> Part:
    def build(states: States, after: int) -> int:
        here = after
        for _ in range(times):
            here = _put(states, None, part.build(states, here), after)
        return here

    return Part(times * (part.size + 1), build)


@attrs.define
class _Steps:
    """Where each state leads by each letter, as far as it was seen and there is room."""

    room: int
    known: dict[tuple[frozenset[int], str], frozenset[int]] = attrs.field(
        factory=dict[tuple[frozenset[int], str], frozenset[int]], init=False
    )
    _held: int = attrs.field(default=0, init=False)

    def keep(self, here: frozenset[int], letter: str, there: frozenset[int]) -> None:
        """Remember where it leads; of what was known before, all is let go if it is too much."""
        self._held += 1 + len(there)
        if self._held > self.room:
            self.known.clear()
            self._held = 1 + len(there)
        self.known[here, letter] = there


def _steps(automaton: "Automaton") -> _Steps:
    return _Steps(_ROOM + _ROOM_EACH * len(automaton.states))


@attrs.frozen
class Automaton:
    """Goes through a value once. What steps lead to is remembered, so most are one look-up."""

    states: Sequence[_State]
    start: frozenset[int]
    final: int
    _steps: _Steps = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_steps, takes_self=True)
    )

    def accepts(self, value: str) -> bool:
        """Say whether the whole value leads to the end."""
        here, known = self.start, self._steps.known
        for letter in value:
            there = known.get((here, letter))
            if there is None:
                there = self._step(here, letter)
                self._steps.keep(here, letter, there)
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
    """Return the automaton of a part: it has one state more."""
    states: States = []
    final = _put(states, None)
    start = part.build(states, final)
    return Automaton(states, _reached(states, [start]), final)
