"""The plugin's process, from outside."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final, Self

import attrs

_TUNABLES: Final = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"
"""What the C library keeps for each thread counts as in use, and no `malloc_trim` takes it: some
megabytes that fill up within hours, and would hide a leak as small."""
AT_REST: Final = MappingProxyType({"native": 2})
"""What there may be more of: gRPC adds a thread to its pool when all are busy for a moment, and
keeps it for a while."""
IN_A_ROUND: Final = MappingProxyType({"native": 4, "threads": 2, "descriptors": 4, "tasks": 4})
"""The same right after an accident: a scan waits to be tried again, a call to hang no more. What
each round leaves something of is beyond it within five."""
Truth = Mapping[str, Mapping[str, bool]]
"""By type and id, whether a device is healthy."""


@attrs.frozen(kw_only=True)
class Figures:
    """What the process has of the machine; `native` are threads that are not Python's."""

    kibibytes: int
    threads: int
    native: int
    descriptors: int
    tasks: int

    def excess(self, later: Self, spare: Mapping[str, int]) -> list[str]:
        """Return what there is more of later than is to spare, each with both figures."""
        return [
            f"{name}: {getattr(self, name)} at the start, {getattr(later, name)} now"
            for name in ("threads", "native", "descriptors", "tasks")
            if getattr(later, name) > getattr(self, name) + spare.get(name, 0)
        ]

    @classmethod
    def least(cls, looks: Sequence[Self]) -> Self:
        """Return the least of each."""
        return cls(
            **{
                field.name: min(getattr(each, field.name) for each in looks)
                for field in attrs.fields(cls)
            }
        )


class Subject:
    """A context manager: the plugin runs inside; at the end it must go by itself, with 0."""

    def __init__(self, directory: Path) -> None:
        """Name the directory in which it registers."""
        self._directory: Final = directory

    def __enter__(self) -> Self:
        """Start it."""
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "tests.soak.plugin", str(self._directory)],
            env={**os.environ, "GLIBC_TUNABLES": _TUNABLES},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End it. Raises `subprocess.CalledProcessError` if it did not end well."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        finally:
            self._process.stdout.close()
        if code and error is None:
            raise subprocess.CalledProcessError(code, "tests.soak.plugin")

    def show(self, truth: Truth) -> None:
        """Let the scan find this."""
        self._tell("show", found=truth)

    def fail(self) -> None:
        """Let the scan raise once."""
        self._tell("fail")

    def deafen(self, *, off: bool) -> None:
        """Take inotify away from it, or give it back."""
        self._tell("deafen", off=off)

    def hold(self) -> None:
        """Return when its event loop stands still."""
        self._tell("hold")
        self._answer()

    def release(self) -> None:
        """Let its event loop go on."""
        self._tell("release")

    def measure(self) -> Figures:
        """Ask how big it is, once the C library has given back what it keeps."""
        self._tell("measure")
        return Figures(**self._answer())

    def count(self) -> Figures:
        """Ask the same as it stands: memory is no measure then, all else is."""
        self._tell("count")
        return Figures(**self._answer())

    def _tell(self, do: str, **more: object) -> None:
        assert self._process.stdin is not None
        print(json.dumps({"do": do, **more}), file=self._process.stdin, flush=True)

    def _answer(self) -> Any:  # noqa: ANN401 - whatever it says
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())
