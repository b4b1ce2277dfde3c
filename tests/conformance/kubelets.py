"""What a behaviour sees of a kubelet, be it the fake one or the real one."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from deviceplugin.testing.kubelet import (
    ContainerGrant,
    History,
    Pod,
    Quantity,
    ResourceView,
    Verdict,
)


class Kubelet(Protocol):
    """The part of `FakeKubelet` that can be had from outside of a real one.

    What a real one does not tell: the ids of devices that are not healthy, which endpoint is
    asked and its options, and before `start_container` what the plugin's answers were.
    """

    @property
    def directory(self) -> Path:
        """The device plugin directory."""
        ...

    @property
    def history(self) -> History:
        """What has happened, as far as it can be seen."""
        ...

    def start(self) -> None:
        """Return when plugins can register."""
        ...

    def stop(self) -> None:
        """Die as on SIGTERM."""
        ...

    def crash(self) -> None:
        """Die as on SIGKILL."""
        ...

    def restart(self, gap: float = 0.0) -> None:
        """Die and start again."""
        ...

    def resource(self, name: str) -> ResourceView:
        """Return what is known of a resource."""
        ...

    def await_resource(
        self,
        name: str,
        wanted: Callable[[ResourceView], bool],
        timeout: float = 5.0,
    ) -> ResourceView:
        """Wait until a resource looks as wanted."""
        ...

    def node_status(self) -> Mapping[str, Quantity]:
        """Return what the node shows."""
        ...

    def admit(self, pod: Pod) -> Verdict:
        """Admit a pod."""
        ...

    def start_container(self, pod: Pod, container: str) -> ContainerGrant:
        """Start a container of an admitted pod."""
        ...

    def remove(self, pod: Pod) -> None:
        """End a pod."""
        ...

    def cut_stream(self, resource: str) -> None:
        """Break the streams of a resource; the kubelet lives on."""
        ...
