"""Probes as processes and files of this system."""

import asyncio
import os
import signal
from contextlib import suppress
from typing import Final

from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.errors import ProbeError
from deviceplugin.domain.ports.driven.prober import Prober
from deviceplugin.domain.ports.driven.worker import Worker

LONGEST: Final = 4096
"""Bytes of an answer that are looked at; what a command says beyond that is thrown away."""
_DYING: Final = 2.0
"""Seconds that a killed process has to be gone: one in the middle of a system call may not be."""
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class SystemProber(Prober):
    """Runs commands in a process group of their own, without a shell and without input.

    Whatever a command has started ends with it. One that cannot be killed is not started a second
    time beside itself. Files are read by `worker`, since a file system can hang.
    """

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._stuck: dict[Probe, asyncio.subprocess.Process] = {}

    async def probe(self, probe: Probe) -> Outcome:
        """Return what the command or the file says."""
        try:
            async with asyncio.timeout(probe.timeout):
                if probe.file:
                    return _said(probe.file, await self._worker.run(lambda: _read(probe.file)))
                return await self._run(probe)
        except TimeoutError as error:
            raise ProbeError(f"no answer within {probe.timeout:g} s") from error
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise ProbeError(f"{probe.file or probe.command[0]}: {reason}") from error

    async def _run(self, probe: Probe) -> Outcome:
        earlier = self._stuck.get(probe)
        if earlier is not None and earlier.returncode is None:
            raise ProbeError("an earlier run of it hangs and cannot be killed")
        self._stuck.pop(probe, None)
        reading, writing = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(reading, False)
        output = _Output(reading)
        try:
            try:
                process = await self._started(probe, writing)
            finally:
                os.close(writing)
            try:
                code = await process.wait()
            finally:
                await self._ended(probe, process)
            return _ended_with(code, output.text())
        finally:
            output.close()

    async def _started(self, probe: Probe, output: int) -> asyncio.subprocess.Process:
        """Start it whole: cancelled in the middle, asyncio would leave its group behind."""
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *probe.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            with suppress(OSError, ValueError):
                await self._ended(probe, await starting)
            raise

    async def _ended(self, probe: Probe, process: asyncio.subprocess.Process) -> None:
        """Kill the whole group, and wait until its first process is gone."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.returncode is None:
            waiting = asyncio.ensure_future(process.wait())
            await asyncio.wait({waiting}, timeout=_DYING)
            if not waiting.done():
                waiting.cancel()
                self._stuck[probe] = process


class _Output:
    """What a command says: its beginning is kept, so that it never waits for us."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._data = b""
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._take)

    def text(self) -> str:
        """Return the beginning as one line that can be shown."""
        self._take()
        text = " ".join(self._data.decode(errors="replace").split())
        return text if text.isprintable() else ascii(text)[1:-1]

    def close(self) -> None:
        """Stop listening."""
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)

    def _take(self) -> None:
        for _ in range(16):
            try:
                data = os.read(self._descriptor, LONGEST)
            except BlockingIOError:
                return
            if not data:
                self._loop.remove_reader(self._descriptor)
                return
            self._data = (self._data + data)[:LONGEST]


def _ended_with(code: int, output: str) -> Outcome:
    if code == 0:
        return Outcome(healthy=True)
    said = f": {output}" if output else ""
    if code < 0:
        raise ProbeError(f"the command was killed by signal {-code}{said}")
    return Outcome(healthy=False, reason=f"the command ended with {code}{said}")


def _read(path: str) -> str:
    handle = os.open(path, _FLAGS)
    try:
        return os.read(handle, LONGEST).decode(errors="replace").strip()
    finally:
        os.close(handle)


def _said(path: str, text: str) -> Outcome:
    if text.lower() == "healthy":
        return Outcome(healthy=True)
    return Outcome(healthy=False, reason=f"{path} says {text[:200]!r}")
