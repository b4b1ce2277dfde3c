"""The plugin as an operator runs it: a process of its own, ended by a signal."""

import signal
from pathlib import Path

from tests.support.process import DEVICEPLUGIN, Process


class Operator:
    """Starts and stops plugins; each that is stopped must end in order."""

    def __init__(self, place: Path, logs: Path) -> None:
        """Run them in this directory, and keep what they say in that one."""
        self._place = place
        self._logs = logs
        self._running: list[Process] = []

    def start(self, *flags: str) -> Process:
        """Run `deviceplugin run`; does not wait for anything."""
        process = Process(*DEVICEPLUGIN, "run", *flags, place=self._place)
        self._running.append(process)
        return process

    def stop(self, process: Process) -> None:
        """End it as a node does that drains; it must not have ended by itself before."""
        self._running.remove(process)
        with process:
            ended_before = process.is_over
            process.send(signal.SIGTERM)
            ended = process.ended()
        (self._logs / f"plugin-{process.pid}.log").write_text(ended.err)
        assert not ended_before, ended
        assert (ended.code, ended.out) == (0, ""), ended.err
        assert "Traceback" not in ended.err, ended.err

    def stop_all(self) -> None:
        """End each that still runs."""
        while self._running:
            self.stop(self._running[-1])
