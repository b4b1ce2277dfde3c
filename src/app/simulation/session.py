"""One sitting: a kubelet that lives, lines that are read, and what happens is told meanwhile."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Final

import attrs

from deviceplugin.app.simulation import commands as do
from deviceplugin.app.simulation.grammar import parse
from deviceplugin.app.simulation.player import CommandFailedError, Player
from deviceplugin.app.simulation.screen import Screen, told
from deviceplugin.app.simulation.words import BadLineError
from deviceplugin.testing.kubelet import FakeKubelet

PROMPT: Final = "kubelet> "
_LOOK: Final = 0.5
"""Seconds after which those who wait look whether it is over."""

Complain = Callable[[str], None]
"""Says on standard error what went wrong."""


@attrs.frozen(kw_only=True)
class Script:
    """Commands from a file, with the numbers of their lines. The first that fails ends it."""

    name: str
    commands: Sequence[tuple[int, do.Command]]

    def play(self, player: Player, complain: Complain) -> int | None:
        """Return the exit code."""
        for number, command in self.commands:
            try:
                player.play(command)
            except CommandFailedError as problem:
                complain(f"{self.name}:{number}: {problem}")
                return 1
            if player.ended:
                break
        return 0


@attrs.frozen(kw_only=True)
class Terminal:
    """Commands as a person types them, or as they come through a pipe."""

    descriptor: int
    is_person: bool

    def play(self, player: Player, complain: Complain) -> int | None:
        """Return the exit code; None if the input has ended and the kubelet is to live on."""
        for line in self._lines():
            try:
                command = parse(line)
                if command is not None:
                    player.play(command)
            except (BadLineError, CommandFailedError) as problem:
                complain(str(problem))
            if player.ended:
                return 0
        return 0 if self.is_person else None

    def _lines(self) -> Iterator[str]:
        """Yield lines. Not by way of `sys.stdin`, whose lock a thread may not hold at the end."""
        waiting = b""
        self._prompt()
        with suppress(OSError):  # standard input may be closed
            while data := os.read(self.descriptor, 4096):
                *lines, waiting = (waiting + data).split(b"\n")
                for line in lines:
                    yield line.decode(errors="replace")
                    self._prompt()
        if waiting:
            yield waiting.decode(errors="replace")

    def _prompt(self) -> None:
        if self.is_person:
            os.write(1, PROMPT.encode())


class Session:
    """Plays commands on a thread, so that a signal can end it whatever they wait for."""

    def __init__(
        self,
        kubelet: FakeKubelet,
        source: Script | Terminal,
        screen: Screen,
        complain: Complain,
    ) -> None:
        """Do nothing yet."""
        self._kubelet = kubelet
        self._source = source
        self._screen = screen
        self._complain = complain
        # Not an Event: a handler that sets it may meet the lock that its thread holds in `wait`.
        self._over: SimpleQueue[int] = SimpleQueue()
        self._dead = threading.Event()

    def end(self) -> None:
        """Let `run` return, from a signal's handler or any thread."""
        self._over.put(0)

    def run(self) -> int:
        """Live until the commands or `end` say so; return the exit code.

        Raises `UnusableDirectoryError` if the kubelet cannot start there.
        """
        teller = threading.Thread(target=self._tell, name="teller")
        with self._kubelet:
            self._screen.line(
                f"Kubernetes {self._kubelet.profile.version} at {self._kubelet.socket}"
            )
            teller.start()
            try:
                threading.Thread(target=self._play, name="player", daemon=True).start()
                return self._ended()
            finally:
                self._kubelet.stop()
                self._dead.set()
                teller.join()

    def _ended(self) -> int:
        """Wait for the end; not for ever at once, see `adapters.system.signals`."""
        while True:
            with suppress(Empty):
                return self._over.get(timeout=_LOOK)

    def _play(self) -> None:
        code: int | None = 1
        try:
            player = Player(self._kubelet, self._screen)
            code = self._source.play(player, self._complain)
        finally:
            if code is not None:
                self._over.put(code)

    def _tell(self) -> None:
        known = 0
        while True:
            dead = self._dead.is_set()
            news = self._kubelet.history.await_more(known, timeout=0.0 if dead else _LOOK)
            known += len(news)
            for record in news:
                line = told(record)
                if line is not None:
                    self._screen.line(line)
            if dead and not news:
                return
