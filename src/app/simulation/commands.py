"""What can be said to a simulated kubelet, as values."""

from typing import TypeAlias

import attrs


@attrs.frozen
class Start:
    """Start."""


@attrs.frozen
class Stop:
    """Die as on SIGTERM."""


@attrs.frozen
class Crash:
    """Die as on SIGKILL."""


@attrs.frozen
class Restart:
    """Die and start again after so many seconds."""

    gap: float = 0.0


@attrs.frozen
class Cut:
    """Break the streams of a resource."""

    resource: str


@attrs.frozen(kw_only=True)
class Spoil:
    """Let something befall the next Registers, of one resource or of any."""

    how: str
    """`reject`, `hang`, `drop` (in place of the answer), or `late` (the answer)."""
    times: int = 1
    resource: str | None = None
    reason: str = ""
    seconds: float = 0.0


@attrs.frozen(kw_only=True)
class Delay:
    """At each start from now on, wait before kubelet.sock is there, and before it listens."""

    bind: float = 0.0
    listen: float = 0.0


@attrs.frozen
class DeleteDirectory:
    """Delete the plugin directory with all that is in it."""


@attrs.frozen
class MakeDirectory:
    """Make the plugin directory."""


@attrs.frozen
class LinkDirectory:
    """Move the plugin directory aside and put a link to it in its place."""


@attrs.frozen(kw_only=True)
class Allocate:
    """Admit a pod that asks for devices, by an init container first if it is to have one."""

    wants: dict[str, int]
    init: int | None = None
    """How many of each resource an init container asks for; None without such a container."""
    pod: str | None = None
    namespace: str = "default"


@attrs.frozen
class Again:
    """Admit a pod again that runs already, as after a restart of the kubelet."""

    pod: str


@attrs.frozen
class Prefer:
    """Ask which free devices the plugin would rather give."""

    resource: str
    size: int


@attrs.frozen
class PreStart:
    """Start a container of a pod."""

    pod: str
    container: str = "main"


@attrs.frozen
class Remove:
    """End a pod."""

    pod: str


@attrs.frozen
class PodResources:
    """Ask who holds what."""


@attrs.frozen
class Show:
    """Show what the node has of each resource."""


@attrs.frozen(kw_only=True)
class Wait:
    """Go on when a resource has such a number of something."""

    resource: str
    what: str
    count: int
    within: float = 10.0


@attrs.frozen
class Sleep:
    """Do nothing for so many seconds."""

    seconds: float


@attrs.frozen
class Fails:
    """Do something that must fail."""

    command: "Command"


@attrs.frozen
class Help:
    """Show the commands."""


@attrs.frozen
class Quit:
    """End."""


Command: TypeAlias = (
    Start
    | Stop
    | Crash
    | Restart
    | Cut
    | Spoil
    | Delay
    | DeleteDirectory
    | MakeDirectory
    | LinkDirectory
    | Allocate
    | Again
    | Prefer
    | PreStart
    | Remove
    | PodResources
    | Show
    | Wait
    | Sleep
    | Fails
    | Help
    | Quit
)
"""Any of them."""
