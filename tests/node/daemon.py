"""Programs of the node: run in the background, waited for by what they do, heard in files."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

PATIENCE: Final = 30.0
"""Seconds for what takes one on a machine that has nothing else to do."""
_LOOK_AGAIN: Final = 0.02
_TAIL: Final = 30

_Seen = TypeVar("_Seen")


class DaemonDiedError(RuntimeError):
    """It ended by itself; says what it said last."""


class Daemon:
    """A program that is to run until it is told to end; what it says is added to a file."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self.name: Final = Path(command[0]).name
        self._log = log
        with log.open("ab") as file:
            self._begin = file.tell()
            self._process = subprocess.Popen(  # noqa: S603 - the node's own
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def said(self) -> str:
        """What it has said in this life."""
        with self._log.open("rb") as file:
            file.seek(self._begin)
            return file.read().decode(errors="replace")

    @property
    def code(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None while it runs."""
        return self._process.poll()

    def check(self) -> None:
        """Raise `DaemonDiedError` unless it runs."""
        if self.code is not None:
            last = "\n".join(self.said.splitlines()[-_TAIL:])
            raise DaemonDiedError(f"{self.name} has ended with {self.code}:\n{last}")

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send it a signal, unless it has ended, and return its exit code when it has."""
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)


def awaited(
    look: Callable[[], _Seen],
    wanted: Callable[[_Seen], object] = bool,
    *,
    within: float = PATIENCE,
    check: Callable[[], object] = bool,
) -> _Seen:
    """Return what is seen as soon as it is as wanted; `check` may raise before.

    Raises `TimeoutError` with what was seen last.
    """
    end = time.monotonic() + within
    while True:
        seen = look()
        if wanted(seen):
            return seen
        check()
        if time.monotonic() > end:
            raise TimeoutError(f"still {seen} after {within} s")
        time.sleep(_LOOK_AGAIN)
