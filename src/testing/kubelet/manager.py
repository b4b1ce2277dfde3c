"""What one life of the kubelet knows of plugins and devices: its device manager.

All methods take the lock themselves and give it back before they return; none waits or calls a
plugin.
"""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress

import attrs

from deviceplugin.testing.kubelet.allocations import Allocations
from deviceplugin.testing.kubelet.checkpoint import Checkpoint, CheckpointFile
from deviceplugin.testing.kubelet.directory import CHECKPOINT
from deviceplugin.testing.kubelet.errors import AllocationError
from deviceplugin.testing.kubelet.history import CheckpointWritten, History
from deviceplugin.testing.kubelet.limits import Limits
from deviceplugin.testing.kubelet.link import Link
from deviceplugin.testing.kubelet.profile import Era, Profile
from deviceplugin.testing.kubelet.roster import ByName, BySocket, Endpoint, Member, Roster
from deviceplugin.testing.kubelet.table import Quantity, Snapshot
from deviceplugin.testing.kubelet.values import Device, Options
from deviceplugin.testing.kubelet.watch import Watch


@attrs.frozen(kw_only=True)
class ResourceView:
    """What the kubelet knows of a resource at one moment.

    An unknown resource (`known` is False) is one that the node does not advertise: nothing was
    ever listed. `endpoint` and `options` are those of the endpoint that is asked.
    """

    name: str
    known: bool = False
    capacity: int = 0
    allocatable: int = 0
    devices: Mapping[str, Device] = attrs.field(factory=dict[str, Device])
    allocated: frozenset[str] = frozenset()
    endpoint: str | None = None
    options: Options | None = None
    stopped: bool = False
    streams: int = 0


class DeviceManager:
    """The books: devices, endpoints, allocations and the checkpoint that outlives them."""

    def __init__(
        self,
        watch: Watch,
        profile: Profile,
        limits: Limits,
        history: History,
        file: CheckpointFile,
    ) -> None:
        """Begin with what the checkpoint remembers: names and holdings, no devices."""
        self._watch = watch
        self._limits = limits
        self._history = history
        self._file = file
        self._closed = False
        remembered = file.read()
        self._roster: Roster[Link] = ByName() if profile.era is Era.BY_NAME else BySocket()
        self._table = {name: Snapshot() for name in remembered.registered}
        for name in remembered.registered:
            self._roster.remember(name, time.monotonic())
        self.allocations = Allocations(watch, remembered.holdings)
        self._streaming: set[Link] = set()

    # --- plugins come and go ---

    def enrol(self, link: Link) -> None:
        """Enter a client before it is dialled."""
        with self._watch.changing():
            self._roster.enrol(link)

    def withdraw(self, link: Link) -> None:
        """Strike out a client that could not be connected."""
        with self._watch.changing():
            self._roster.withdraw(link)

    def connect(self, link: Link, options: Options) -> None:
        """Make a client's endpoint the one to ask; raises `RefusedError`."""
        with self._watch.changing():
            self._roster.connect(link, options)

    def open_stream(self, link: Link) -> None:
        """Count the stream of a client."""
        with self._watch.changing():
            self._streaming.add(link)

    def end_stream(self, link: Link) -> None:
        """Count the stream of a client no more."""
        with self._watch.changing():
            self._streaming.discard(link)

    def disconnect(self, member: Member) -> Link | None:
        """Stop the endpoint that has the key of `member`, for it is at its end.

        Its devices may become unhealthy. Returns the client to close now, if there is one.
        """
        with self._watch.changing():
            victim = self._roster.ended(member)
            if victim is None:
                return None
            lost = self._roster.disconnect(victim, time.monotonic())
            if lost and victim.resource in self._table:
                self._table[victim.resource] = self._table[victim.resource].failed()
            return victim

    def streaming(self, resource: str) -> tuple[Link, ...]:
        """Return the clients of a resource whose streams are open."""
        with self._watch.reading():
            return tuple(link for link in self._streaming if link.resource == resource)

    def options(self, resource: str) -> Options | None:
        """Return the options of a resource's endpoint; None if it is only remembered.

        Raises `AllocationError` if there is no endpoint at all.
        """
        with self._watch.reading():
            return self._endpoint(resource).options

    def link(self, resource: str) -> Link:
        """Return the client to call about a resource; raises `AllocationError` if it stopped."""
        with self._watch.reading():
            endpoint = self._endpoint(resource)
            if endpoint.client is None or endpoint.stopped_at is not None:
                raise AllocationError(f"endpoint of {resource} has been stopped")
            return endpoint.client

    def _endpoint(self, resource: str) -> Endpoint[Link]:
        endpoint = self._roster.primary(resource)
        if endpoint is None:
            raise AllocationError(f"unknown Device Plugin {resource}")
        return endpoint

    # --- devices ---

    def receive(self, resource: str, devices: Iterable[Device]) -> None:
        """Take a list as the whole truth; the caller writes the checkpoint."""
        snapshot = Snapshot.of(devices)
        with self._watch.changing():
            self._table[resource] = snapshot

    def snapshot(self, resource: str) -> Snapshot | None:
        """Return the devices of a resource; None if it is not known."""
        with self._watch.reading():
            return self._table.get(resource)

    def is_ours(self, resource: str) -> bool:
        """Tell whether the device manager answers for a resource: it was listed, or is held."""
        return self.snapshot(resource) is not None or self.allocations.knows(resource)

    @property
    def names(self) -> frozenset[str]:
        """The resources that were listed, or are remembered."""
        with self._watch.reading():
            return frozenset(self._table)

    def view(self, resource: str) -> ResourceView:
        """Return all there is to know of a resource."""
        with self._watch.reading():
            snapshot = self._table.get(resource)
            devices = snapshot or Snapshot()
            endpoint = self._roster.primary(resource) or Endpoint[Link]()
            return ResourceView(
                name=resource,
                known=snapshot is not None,
                capacity=devices.quantity.capacity,
                allocatable=devices.quantity.allocatable,
                devices=devices.devices,
                allocated=self.allocations.marked(resource),
                endpoint=None if endpoint.client is None else endpoint.client.endpoint,
                options=endpoint.options,
                stopped=endpoint.stopped_at is not None,
                streams=len(self.streaming(resource)),
            )

    def write_checkpoint(self) -> None:
        """Write down what is held and known now, one writer after the other.

        Raises `AllocationError` if the file cannot be written: that fails a pod, not a list.
        """
        with self._file.turn:
            if self._closed:
                return
            with self._watch.reading():
                checkpoint = Checkpoint(
                    holdings=self.allocations.all,
                    registered={name: known.healthy for name, known in self._table.items()},
                )
            try:
                self._file.write(checkpoint)
            except OSError as problem:
                message = f'failed to write checkpoint file "{CHECKPOINT}": {problem}'
                raise AllocationError(message) from problem
            self._history.add(CheckpointWritten())

    def close(self) -> None:
        """Write no checkpoint any more: the file belongs to the next kubelet."""
        with self._file.turn:
            self._closed = True

    def node_status(self) -> dict[str, Quantity]:
        """Return capacity and allocatable by resource, as the kubelet tells the API server.

        This is when a resource whose endpoint has been gone for the grace time is dropped
        (GetCapacity).
        """
        with self._watch.changing():
            expired = [name for name in self._table if self._expired(name)]
            for name in expired:
                del self._table[name]
                self._roster.forget(name)
            status = {name: known.quantity for name, known in self._table.items()}
        if expired:
            with suppress(AllocationError):
                self.write_checkpoint()
        return status

    def _expired(self, resource: str) -> bool:
        endpoint = self._roster.primary(resource)
        if endpoint is None:
            return True
        if endpoint.stopped_at is None:
            return False
        return time.monotonic() - endpoint.stopped_at > self._limits.stop_grace
