"""Signals that come before there is anybody to act on them.

It is the first that the command line imports, before the half a second that the rest takes: so it
may need nothing but `signal` and `os`.
"""

import os
import signal


class EarlySignals:
    """Holds signals back until the command that is to run has said what becomes of them."""

    def __init__(self, *numbers: signal.Signals) -> None:
        """Take them over at once."""
        self._came: list[int] = []
        self._before = {number: signal.signal(number, self._note) for number in numbers}

    def _note(self, number: int, frame: object) -> None:
        del frame
        self._came.append(number)

    def give_back(self, *numbers: signal.Signals) -> None:
        """Let them do what they did before, all that are still held if none is named.

        Those that came meanwhile do it now.
        """
        for number in numbers or tuple(self._before):
            # None stands for a handler that Python did not set.
            signal.signal(number, self._before.pop(number) or signal.SIG_DFL)
            if number in self._came:
                signal.raise_signal(number)

    def ignore(self, *numbers: signal.Signals) -> None:
        """Let them do nothing, whether they came or will."""
        for number in numbers:
            del self._before[number]
            signal.signal(number, signal.SIG_IGN)

    def exit_on(self, *numbers: signal.Signals) -> None:
        """Let them end the process with 0: now if one came, else as soon as one does.

        For a command that signals end in order, as long as there is nothing to close. Nothing is
        raised, which whatever runs just then might catch or complain of.
        """
        for number in numbers:
            del self._before[number]
            signal.signal(number, _exit)
        if not set(numbers).isdisjoint(self._came):
            _exit()


def _exit(*_: object) -> None:
    os._exit(0)
