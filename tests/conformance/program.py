"""A running device plane: the Go program, its lines, and its end."""

import json
import subprocess
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final, TypeAlias

from deviceplugin.testing.kubelet import KubeletDownError, KubeletPanicError

PATIENCE: Final = 20.0
"""Seconds for an end that takes milliseconds."""
Event: TypeAlias = Mapping[str, Any]
"""A line of the kubelet's log: its text under `event`, and what belongs to it."""


class CommandError(ValueError):
    """The kubelet answered with an error."""


class Program:
    """One life of a real kubelet's device plane."""

    def __init__(self, binary: Path, hear: Callable[[Event], None]) -> None:
        """Run it; each event is told to `hear` before any answer that follows it."""
        self._stderr = TemporaryFile()  # noqa: SIM115 - closed with the process
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [binary],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
        )
        self._hear = hear
        self._ids = count(1)
        self._lock = threading.Lock()
        self._pending: dict[int, Future[Any]] = {}
        self._end: Exception | None = None
        self._reader: Final = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, do: str, **more: object) -> Any:  # noqa: ANN401 - whatever JSON can say
        """Send a command and return its answer, however long that takes.

        Raises `CommandError` for the kubelet's, and if it dies before it answers
        `KubeletPanicError` or `KubeletDownError`.
        """
        answer: Future[Any] = Future()
        with self._lock:
            if self._end is not None:
                raise self._end
            number = next(self._ids)
            self._pending[number] = answer
            self._send({"id": number, "do": do, **more})
        return answer.result()

    def _send(self, command: Mapping[str, object]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # the reader knows, and fails what is pending

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if "event" in said:
                self._hear(said)
            else:
                self._answer(said)
        self._process.wait()
        self._fail(self._why())

    def _answer(self, said: Mapping[str, Any]) -> None:
        with self._lock:
            answer = self._pending.pop(said["id"])
        if "error" in said:
            answer.set_exception(CommandError(said["error"]))
        else:
            answer.set_result(said.get("ok"))

    def _why(self) -> Exception:
        self._stderr.seek(0)
        text = self._stderr.read().decode(errors="replace")
        if "panic: " in text:
            return KubeletPanicError(text[text.index("panic: ") :][:2000])
        return KubeletDownError(f"the kubelet is dead: {text[-500:]}")

    def _fail(self, end: Exception) -> None:
        with self._lock:
            self._end = end
            pending, self._pending = self._pending, {}
        for answer in pending.values():
            answer.set_exception(end)

    def signal(self, number: int) -> None:
        """Send it a signal that does not end it."""
        self._process.send_signal(number)

    def terminate(self) -> None:
        """End it with SIGTERM, or with SIGKILL if it does not obey, and wait."""
        self._process.terminate()
        self._reader.join(PATIENCE)
        self.kill()

    def kill(self) -> None:
        """End it with SIGKILL, and wait."""
        self._process.kill()
        self._bury()

    def _bury(self) -> None:
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._stderr.close()
