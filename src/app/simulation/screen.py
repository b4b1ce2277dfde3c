"""What a simulated kubelet shows: lines and tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import attrs

from deviceplugin.testing.kubelet import Answer, CheckpointWritten, PodAdmitted, Record


class Screen(Protocol):
    """Where it is shown. May be called from several threads."""

    def line(self, text: str) -> None:
        """Show a line."""
        ...

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Show a table."""
        ...


def told(record: Record) -> str | None:
    """Return a line about something that happened; None if it is of no interest."""
    if isinstance(record, CheckpointWritten):
        return None
    parts = [
        f"{name}={_text(value)}"
        for name, value in attrs.asdict(record, recurse=False).items()
        if name != "at"
    ]
    return " ".join([f"* {type(record).__name__}", *parts])


def _text(value: object) -> str:
    if isinstance(value, frozenset | tuple):
        return ",".join(sorted(map(str, value)))  # pyright: ignore[reportUnknownArgumentType]
    return str(value)


def grants(verdict: PodAdmitted) -> Iterator[Sequence[str]]:
    """Yield (container, what, in the container, from the host) of all that a pod was given."""
    for name, grant in verdict.containers.items():
        for resource, ids in grant.ids.items():
            yield name, resource, ", ".join(sorted(ids)), ""
        for what, inside, outside in parts(grant.answer):
            yield name, what, inside, outside


def parts(answer: Answer) -> Iterator[tuple[str, str, str]]:
    """Yield (what, in the container, from the host) for each thing that a container gets."""
    for node in answer.devices:
        yield "device", f"{node.container_path} ({node.permissions})", node.host_path
    for mount in answer.mounts:
        mode = "read-only" if mount.read_only else "writable"
        yield "mount", f"{mount.container_path} ({mode})", mount.host_path
    for kind, values in (("environment", answer.envs), ("annotation", answer.annotations)):
        for key, value in values.items():
            yield kind, f"{key}={value}", ""
    for name in answer.cdi_devices:
        yield "CDI device", name, ""
