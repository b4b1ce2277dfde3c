"""A kubelet that is gone has left nothing behind in its process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from deviceplugin.testing.kubelet import FakeKubelet, StreamEnded

if TYPE_CHECKING:
    from tests.unit.testing.kubelet.conftest import BarePlugin, Listing

WIDGET = "example.com/widget"
PATIENCE = 20.0


def descriptors() -> int:
    """Return how many files this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counts itself either way


def own_threads() -> set[str]:
    """Return the names of the threads that a fake kubelet has started."""
    return {each.name for each in threading.enumerate() if each.name.startswith("fake-kubelet")}


def abstract_sockets() -> list[str]:
    """Return the inner servers that listen anywhere in this network namespace."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return [line for line in lines if f"@fake-kubelet-{os.getpid()}-" in line]


def test_twenty_lives_leave_no_thread_and_no_descriptor(
    directory: Path,
    plugin: BarePlugin,
    listing: Listing,
) -> None:
    """With a plugin registered and a pod's worth of calls in each of them."""
    kubelet = FakeKubelet(directory)
    plugin.send(*listing("a"))

    def live() -> None:
        plugin.stop()
        with kubelet:
            plugin.serve().register()
            kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        plugin.stop()

    live()
    before = descriptors()
    for _ in range(20):
        live()
    assert own_threads() == set()
    assert abstract_sockets() == []
    assert descriptors() <= before


def test_a_living_one_does_not_grow(
    kubelet: FakeKubelet,
    plugin: BarePlugin,
    listing: Listing,
) -> None:
    """Registering over and over opens no more than it closes."""
    plugin.send(*listing("a"))

    def come_and_go(count: int) -> None:
        plugin.register()
        kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, PATIENCE)
        kubelet.cut_stream(WIDGET)
        kubelet.history.await_count(StreamEnded, count, timeout=PATIENCE)

    for count in range(1, 6):
        come_and_go(count)
    before = descriptors()
    for count in range(6, 26):
        come_and_go(count)
    assert descriptors() <= before + 5
    assert len(own_threads()) <= 10


QUIET = """
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
import grpc
from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as pb
from deviceplugin.adapters.kubelet.wire.deviceplugin_pb2_grpc import RegistrationStub
from deviceplugin.testing.kubelet import FakeKubelet, Hang, Limits, RegisterAsked

hasty = Limits(dial=0.2)
fresh = [("grpc.use_local_subchannel_pool", 1)]
with TemporaryDirectory(prefix="fk-") as path, FakeKubelet(path, limits=hasty) as kubelet:
    for life in (1, 2, 3):
        with grpc.insecure_channel(f"unix:{kubelet.socket}", options=fresh) as channel:
            register = RegistrationStub(channel).Register
            for endpoint in ("missing.sock", ""):
                request = pb.RegisterRequest(
                    version="v1beta1", endpoint=endpoint, resource_name="a.b/c"
                )
                try:
                    register(request, timeout=10)
                except grpc.RpcError as problem:
                    assert problem.code() is grpc.StatusCode.UNKNOWN, problem
            kubelet.faults.on_register(Hang())
            pending = register.future(request, timeout=10)
            kubelet.history.await_count(RegisterAsked, 3 * life, timeout=10)
            kubelet.restart()
            assert pending.exception()
assert not {"pytest", "hypothesis", "deviceplugin.app"} & set(sys.modules)
"""


def test_it_says_nothing_and_needs_no_test_framework() -> None:
    """Whatever goes wrong, gRPC prints no line; and neither pytest nor the app is imported."""
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-W", "error", "-c", QUIET],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
