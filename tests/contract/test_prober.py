"""Whoever asks probes obeys the laws of `Prober`."""

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from deviceplugin.adapters.memory.prober import MemoryProber
from deviceplugin.adapters.system import SystemProber, ThreadWorker
from deviceplugin.domain.discovery.health import Outcome, Probe
from deviceplugin.domain.errors import ProbeError
from deviceplugin.testing.contracts.law import eventually, law, soon
from deviceplugin.testing.contracts.prober import ProberContract, ProberWorld


class _MemoryWorld:
    def __init__(self) -> None:
        self.prober = MemoryProber()

    def well(self) -> Probe:
        return Probe(command=("/well",))

    def ill(self, reason: str) -> Probe:
        path = f"/ill/{reason}"
        self.prober.answers[path] = Outcome(healthy=False, reason=reason)
        return Probe(command=(path,))

    def impossible(self) -> Probe:
        self.prober.answers["/impossible"] = ProbeError("no such thing")
        return Probe(command=("/impossible",))

    def endless(self, timeout: float) -> Probe:
        self.prober.answers["/endless"] = None
        if timeout > 1:
            self.prober.held = asyncio.Event()
        return Probe(command=("/endless",), timeout=timeout)

    def under_way(self) -> int:
        return self.prober.under_way


class TestMemoryProber(ProberContract):
    """Without a system."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[ProberWorld]:
        yield _MemoryWorld()


class _SystemWorld:
    """Commands of a directory, each of which leaves a mark with the id of its process."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.prober = SystemProber(ThreadWorker())

    def command(self, script: str, timeout: float = 10.0) -> Probe:
        mark = self.directory / "pids"
        return Probe(command=("/bin/sh", "-c", f"echo $$ >> {mark}; {script}"), timeout=timeout)

    def well(self) -> Probe:
        return self.command("exit 0")

    def ill(self, reason: str) -> Probe:
        return self.command(f"echo '{reason}'; exit 3")

    def impossible(self) -> Probe:
        return Probe(command=(f"{self.directory}/missing",))

    def endless(self, timeout: float) -> Probe:
        return self.command("sleep 1000 & sleep 1000", timeout)

    def under_way(self) -> int:
        mark = self.directory / "pids"
        pids = mark.read_text().split() if mark.exists() else []
        return sum(_group_lives(int(pid)) for pid in pids)


def _group_lives(group: int) -> bool:
    for process in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, found = process.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(found) == group and state not in {"Z", "X"}:
            return True
    return False


class TestCommands(ProberContract):
    """As processes."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[ProberWorld]:
        with TemporaryDirectory() as directory:
            yield _SystemWorld(Path(directory))


class _FileWorld(_SystemWorld):
    """Files; one that never answers is on a file system that hangs, as the worker sees it."""

    def _file(self, text: str) -> Probe:
        file = self.directory / f"file{len(list(self.directory.iterdir()))}"
        file.write_text(text)
        return Probe(file=str(file))

    def well(self) -> Probe:
        return self._file(" Healthy\n")

    def ill(self, reason: str) -> Probe:
        return self._file(f"{reason}\n")

    def impossible(self) -> Probe:
        return Probe(file=f"{self.directory}/missing")


class TestFiles(ProberContract):
    """As files; only commands can be endless."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[ProberWorld]:
        with TemporaryDirectory() as directory:
            yield _FileWorld(Path(directory))


class TestSystemProber:
    """What only processes and files can meet."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[_SystemWorld]:
        with TemporaryDirectory() as directory:
            yield _SystemWorld(Path(directory))

    @law
    async def test_what_a_command_leaves_behind_is_killed_with_it(
        self, world: _SystemWorld
    ) -> None:
        """And not waited for, though it holds the output open."""
        assert (await soon(world.prober.probe(world.command("sleep 1000 & exit 0")))).healthy
        await eventually(lambda: world.under_way() == 0)

    @law
    async def test_a_command_may_say_any_amount_of_anything(self, world: _SystemWorld) -> None:
        """Its beginning is told; it neither waits for us nor fills the memory."""
        probe = world.command("head -c 10000000 /dev/zero; printf '\\377\\033'; exit 1")
        outcome = await soon(world.prober.probe(probe))
        assert not outcome.healthy
        assert len(outcome.reason) < 20_000
        assert outcome.reason.isprintable()

    @law
    async def test_no_shell_sees_the_words(self, world: _SystemWorld) -> None:
        """A device may be called anything."""
        probe = Probe(command=("/bin/echo", "$(touch {name})", ";", "{name}")).about(
            {"name": f"{world.directory}/made; touch {world.directory}/made"}
        )
        assert (await soon(world.prober.probe(probe))).healthy
        assert not (world.directory / "made").exists()

    @law
    async def test_a_command_that_a_signal_ended_has_not_answered(
        self, world: _SystemWorld
    ) -> None:
        with pytest.raises(ProbeError, match="signal 11"):
            await soon(world.prober.probe(world.command("kill -SEGV $$")))

    @law
    async def test_no_file_is_waited_for(self, world: _SystemWorld) -> None:
        """Not a pipe that nobody writes to, nor a directory, nor a huge one."""
        os.mkfifo(world.directory / "pipe")
        (world.directory / "huge").write_text("healthy" + "x" * 1_000_000)
        for name in ("pipe", "huge"):
            probe = Probe(file=f"{world.directory}/{name}")
            assert not (await soon(world.prober.probe(probe))).healthy
        with pytest.raises(ProbeError, match="directory"):
            await soon(world.prober.probe(Probe(file=str(world.directory))))

    @law
    async def test_nothing_stays_open(self, world: _SystemWorld) -> None:
        await soon(world.prober.probe(world.well()))
        before = _descriptors()
        for probe in (world.well(), world.ill("x"), world.endless(0.2), world.impossible()):
            try:
                await soon(world.prober.probe(probe))
            except ProbeError:
                continue
        await eventually(lambda: _descriptors() <= before)


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))
