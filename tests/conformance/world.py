"""A kubelet of one kind and the plugins around it."""

import shutil
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import attrs
from tests.conformance.bare import WIDGET, BarePlugin, devices
from tests.conformance.kubelets import Kubelet
from tests.conformance.real import KUBELET_DIRECTORY, RealKubelet
from tests.support.daemons import Daemons

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire
from deviceplugin.testing.kubelet import FakeKubelet, Limits, Numa, Profile, ResourceView

_Result = TypeVar("_Result")


@attrs.frozen
class Kind:
    """A profile, of the fake or of the real kubelet that a binary is."""

    profile: Profile
    binary: Path | None = None

    @property
    def name(self) -> str:
        """Its name in reports."""
        return f"fake-{self.profile.version}" if self.binary is None else self.binary.name


class World:
    """An empty device plugin directory, and what is put there."""

    def __init__(self, kind: Kind, ending: ExitStack) -> None:
        """Prepare the directory; nothing runs yet. All ends with `ending`."""
        self.profile = kind.profile
        self.real = kind.binary is not None
        self._binary = kind.binary
        self._ending = ending
        self._pool = Daemons()
        if self.real:
            _empty(KUBELET_DIRECTORY)
            self.root = KUBELET_DIRECTORY
        else:
            self.root = Path(ending.enter_context(TemporaryDirectory(prefix="dp-")))
        self.directory = self.root / "device-plugins"
        self.directory.mkdir()

    def kubelet(self, *, numa: Numa | None = None, start: bool = True) -> Kubelet:
        """Return a kubelet, which runs unless `start` is false."""
        numa = numa or Numa()
        kubelet: Kubelet
        if self._binary is not None:
            kubelet = RealKubelet(self._binary, numa=numa)
        else:
            limits = Limits(dial=1.0)
            kubelet = FakeKubelet(self.directory, profile=self.profile, numa=numa, limits=limits)
        self._ending.callback(kubelet.stop)
        if start:
            kubelet.start()
        return kubelet

    def plugin(self, endpoint: str = "bare.sock", resource: str = WIDGET) -> BarePlugin:
        """Return a plugin that serves."""
        plugin = BarePlugin(self.directory, endpoint, resource)
        self._ending.callback(plugin.stop)
        plugin.serve()
        return plugin

    def hold(self, plugin: BarePlugin) -> threading.Event:
        """Let Allocate hang until the event is set; at the end of the test it is."""
        gate, grant = self.gate(), plugin.on_allocate

        def wait(ids: Sequence[str]) -> wire.AllocateResponse:
            gate.wait()
            return grant(ids)

        plugin.on_allocate = wait
        return gate

    def gate(self) -> threading.Event:
        """Return an event that is set at the end of the test, if not before."""
        gate = threading.Event()
        self._ending.callback(gate.set)
        return gate

    def aside(self, work: Callable[[], _Result]) -> Future[_Result]:
        """Do something that may hang, and look at the rest meanwhile."""
        return self._pool.submit(work)

    def listed(self, kubelet: Kubelet, plugin: BarePlugin, ids: str) -> None:
        """Let a plugin register and list these devices; return when the kubelet has them."""
        streams = len(plugin.calls("ListAndWatch"))
        plugin.send(*devices(ids))
        plugin.register()
        plugin.await_calls("ListAndWatch", streams + 1)
        healthy = set(ids.split())
        kubelet.await_resource(plugin.resource, lambda seen: healthy_ids(seen) == healthy)


def healthy_ids(seen: ResourceView) -> set[str]:
    """Return the ids of the devices that a pod may get. Others cannot be seen from outside."""
    return {id_ for id_, device in seen.devices.items() if device.healthy and seen.allocatable}


def _empty(directory: Path) -> None:
    for entry in directory.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
