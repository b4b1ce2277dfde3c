"""Commands in processes of their own, watched as a user at a terminal would."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

import attrs
import pytest
from tests.support.nobody import NOBODY

DEVICEPLUGIN: Final = (sys.executable, "-m", "deviceplugin.app")
PATIENCE: Final = 30.0
"""Seconds for what takes a second on a machine that has nothing else to do."""
_PREFIXES: Final = (
    # As the owner of root's files, without root's powers.
    ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}"),
    ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
)


@attrs.frozen
class Ended:
    """How a process ended, and all that it said."""

    code: int
    out: str
    err: str


class Process:
    """A command that runs in `place`; what is left of it at the end is killed.

    It has our environment but for settings of deviceplugin, and `variables`.
    """

    def __init__(
        self, *command: str, place: Path, variables: Mapping[str, str] | None = None
    ) -> None:
        """Start it, in a session of its own."""
        ours = {
            key: text for key, text in os.environ.items() if not key.startswith("DEVICEPLUGIN")
        }
        self._process = subprocess.Popen(  # noqa: S603 - ours
            command,
            cwd=place,
            env={**ours, **(variables or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._news = threading.Condition()
        self._out: list[str] = []
        self._err: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=each, daemon=True)
            for each in ((self._process.stdout, self._out), (self._process.stderr, self._err))
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill it, unless it has ended."""
        self._process.kill()
        self.ended()

    @property
    def pid(self) -> int:
        """Its number, and that of its session."""
        return self._process.pid

    @property
    def err(self) -> str:
        """What it has said so far on standard error."""
        return "".join(self._err)

    @property
    def threads(self) -> int:
        """How many it has."""
        return len(os.listdir(f"/proc/{self.pid}/task"))  # noqa: PTH208 - names are enough

    def await_out(self, text: str) -> None:
        """Return once it has said this on standard output."""
        self._await(text, self._out)

    def await_err(self, text: str) -> None:
        """Return once it has said this on standard error."""
        self._await(text, self._err)

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def ended(self, within: float = PATIENCE) -> Ended:
        """Wait for its end. Raises `subprocess.TimeoutExpired`."""
        code = self._process.wait(within)
        for reader in self._readers:
            reader.join(PATIENCE)
        return Ended(code, "".join(self._out), "".join(self._err))

    def _read(self, stream: IO[str], lines: list[str]) -> None:
        with stream:
            for line in stream:
                with self._news:
                    lines.append(line)
                    self._news.notify_all()

    def _await(self, text: str, lines: list[str]) -> None:
        with self._news:
            if not self._news.wait_for(lambda: text in "".join(lines), PATIENCE):
                raise TimeoutError(f"{text!r} is not in {self._out} or {self._err}")


def ran(*command: str, place: Path, variables: Mapping[str, str] | None = None) -> Ended:
    """Run a command to its end."""
    with Process(*command, place=place, variables=variables) as process:
        return process.ended()


def eventually(check: Callable[[], object]) -> None:
    """Return once the check holds."""
    end = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > end:
            raise TimeoutError(f"still not so: {check}")
        time.sleep(0.005)


def unprivileged() -> tuple[str, ...]:
    """Return what makes a command that it stands before run without root's powers.

    Skips the test where there is no way.
    """
    prefix = _prefix()
    if prefix is None:
        pytest.skip("root here can neither make a user namespace nor run Python as another user")
    return prefix


@cache
def _prefix() -> tuple[str, ...] | None:
    if os.geteuid() != 0:
        return ()
    return next(filter(_works, _PREFIXES), None)


def _works(prefix: tuple[str, ...]) -> bool:
    command = [*prefix, sys.executable, "-c", "import deviceplugin"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - ours
    except OSError:
        return False
