"""A part of the examples of one property, in a process of its own."""

import os
import re
import subprocess
import sys
from typing import Final

import attrs

SECONDS_EACH: Final = 2.0
"""What an example may take on average, beside `SECONDS_ANYWAY`; else something hangs."""
SECONDS_ANYWAY: Final = 300.0

_SEEN: Final = re.compile(r"(\d+) passing")
_EXHAUSTED: Final = "nothing left to do"


@attrs.frozen(kw_only=True)
class Shard:
    """So many examples of a property, from a seed: the same seed makes the same ones."""

    subject: str
    test: str
    examples: int
    seed: int

    @property
    def command(self) -> list[str]:
        """What runs it."""
        plain = ["-q", "-p", "no:cacheprovider", "--hypothesis-show-statistics"]
        return [
            *(sys.executable, "-m", "pytest", *plain),
            *(f"--hypothesis-seed={self.seed}", self.test),
        ]

    def run(self) -> "Outcome":
        """Run it to its end, or to the end of its time."""
        profile = {"HYPOTHESIS_PROFILE": "fuzz", "FUZZ_EXAMPLES": str(self.examples)}
        seconds = SECONDS_ANYWAY + SECONDS_EACH * self.examples
        try:
            ended = subprocess.run(  # noqa: S603 - our own tests
                self.command,
                env={**os.environ, **profile},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            said = error.output.decode(errors="replace") if error.output else ""
            return Outcome(shard=self, seen=0, fault=f"{said}\nIt did not end in {seconds:g} s.")
        seen = sum(map(int, _SEEN.findall(ended.stdout)))
        is_good = ended.returncode == 0 and (seen >= self.examples or _EXHAUSTED in ended.stdout)
        return Outcome(shard=self, seen=seen, fault="" if is_good else ended.stdout)


@attrs.frozen(kw_only=True)
class Outcome:
    """How many examples a shard really ran, and what it said if it failed."""

    shard: Shard
    seen: int
    fault: str
