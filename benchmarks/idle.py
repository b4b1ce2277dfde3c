"""What a plugin at rest wakes up for.

A thread that goes to sleep has woken up before: the kernel counts that for each, and it is read
some times a second. What the threads do together is one wake-up; how often they went to sleep in
it, as for the interpreter's lock, is told beside. Threads of gRPC's have names of their own, all
others have the process's.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.hotplug import running
from benchmarks.results import Result
from benchmarks.subject import Kind, subject

if TYPE_CHECKING:
    from subprocess import Popen

_SAMPLE_SECONDS = 0.2


def idle(seconds: float = 60.0) -> list[Result]:
    """Wake-ups in ten seconds, and how often threads slept, beside a bare server at rest."""
    with running() as plugin, subject("bare", 1, Kind(), "once") as bare:
        time.sleep(5)
        ours, bares = _Sleeps(plugin.process), _Sleeps(bare.process)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(_SAMPLE_SECONDS)
            ours.sample()
            bares.sample()
    tens = seconds / 10
    return [
        Result(
            name="at rest for 10 s: wake-ups of our own threads",
            unit="",
            bare=bares.wakes / tens,
            ours=ours.wakes / tens,
            bound=1.0,
            of="ours",
        ),
        Result(
            name="at rest for 10 s: how often our own threads slept",
            unit="",
            bare=bares.own / tens,
            ours=ours.own / tens,
            bound=None,
            of="ours",
        ),
        Result(
            name="at rest for 10 s: how often all threads slept, gRPC's too",
            unit="",
            bare=bares.every / tens,
            ours=ours.every / tens,
            bound=None,
        ),
    ]


class _Sleeps:
    """How often the threads of a process have gone to sleep since this was made.

    A wake-up is a run of samples in each of which some thread of the process's own name has.
    """

    def __init__(self, process: "Popen[bytes]") -> None:
        self._tasks = Path(f"/proc/{process.pid}/task")
        self._main = str(process.pid)
        self._last = self._read()
        self._busy = False
        self.wakes = self.own = self.every = 0

    def sample(self) -> None:
        """Read the counters. What a thread did between its last sample and its end is missed."""
        now = self._read()
        name, _ = now[self._main]
        own = 0
        for thread, (called, sleeps) in now.items():
            new = sleeps - self._last.get(thread, (called, 0))[1]
            self.every += new
            own += new if called == name else 0
        self.own += own
        self.wakes += bool(own) and not self._busy
        self._busy, self._last = bool(own), now

    def _read(self) -> dict[str, tuple[str, int]]:
        found: dict[str, tuple[str, int]] = {}
        for status in self._tasks.glob("*/status"):
            try:
                text = status.read_text(encoding="ascii")
            except OSError:
                continue  # it has ended meanwhile
            fields = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
            found[status.parent.name] = (fields["Name"], int(fields["voluntary_ctxt_switches"]))
        return found
