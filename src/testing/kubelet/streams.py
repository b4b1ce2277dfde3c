"""The streams of lists: a thread for each, and what their end does to the books."""

import threading
from collections.abc import Sequence
from contextlib import suppress

from deviceplugin.testing.kubelet.errors import AllocationError, StreamBrokenError
from deviceplugin.testing.kubelet.history import History, ListReceived, StreamEnded, StreamOpened
from deviceplugin.testing.kubelet.link import Link
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.values import Device
from deviceplugin.testing.kubelet.watch import Watch


class Streams:
    """Reads every ListAndWatch of one kubelet life. A stream that ended is never opened again."""

    def __init__(self, watch: Watch, manager: DeviceManager, history: History) -> None:
        """Read nothing yet."""
        self._watch = watch
        self._manager = manager
        self._history = history
        self._over = threading.Event()
        self._threads: set[threading.Thread] = set()

    def open(self, link: Link, *, pause: float = 0.0) -> threading.Event:
        """Call ListAndWatch from a thread of its own, after a pause.

        Returns an event that is set when the first list is there, or the stream is over.
        """
        begun = threading.Event()
        thread = threading.Thread(
            target=self._run,
            args=(link, begun, pause),
            name=f"fake-kubelet-stream-{link.endpoint}",
            daemon=True,
        )
        with self._watch.reading():
            if not self._over.is_set():
                self._threads.add(thread)
                thread.start()
        return begun

    def _run(self, link: Link, begun: threading.Event, pause: float) -> None:
        self._over.wait(pause)
        with self._watch.changing():
            self._manager.open_stream(link)
            self._history.add(StreamOpened(resource=link.resource, endpoint=link.endpoint))
        reason = self._read(link, begun)
        self._finish(link, reason)
        begun.set()

    def _read(self, link: Link, begun: threading.Event) -> str:
        try:
            for devices, size in link.lists():
                self._receive(link, devices, size)
                begun.set()
        except StreamBrokenError as problem:
            return str(problem)
        return "EOF"

    def _receive(self, link: Link, devices: Sequence[Device], size: int) -> None:
        record = ListReceived(
            resource=link.resource,
            endpoint=link.endpoint,
            devices=len(devices),
            size=size,
        )
        with self._watch.changing():
            if self._over.is_set():
                return
            self._manager.receive(link.resource, devices)
            self._history.add(record)
        with suppress(AllocationError):  # the kubelet logs it and goes on
            self._manager.write_checkpoint()

    def _finish(self, link: Link, reason: str) -> None:
        record = StreamEnded(resource=link.resource, endpoint=link.endpoint, reason=reason)
        with self._watch.changing():
            self._threads.discard(threading.current_thread())
            self._history.add(record)
            if self._over.is_set():
                return
            self._manager.end_stream(link)
            victim = self._manager.disconnect(link)
        if victim is not None:
            victim.close()

    def stop(self) -> None:
        """Let what still arrives change nothing, and open no further stream."""
        with self._watch.reading():
            self._over.set()

    def join(self) -> None:
        """Wait for the end of all streams; their connections must be closed already."""
        with self._watch.reading():
            threads = tuple(self._threads)
        for thread in threads:
            thread.join()
