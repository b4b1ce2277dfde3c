"""Devices that vanish and come back, held or not."""

import socket
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import grpc
import pytest
from tests.conformance.bare import BarePlugin, devices
from tests.node.accelerators import RESOURCE, Accelerators
from tests.node.daemon import awaited
from tests.node.node import PLUGINS, Node
from tests.node.plugin import Operator

from deviceplugin.adapters.kubelet.wire import deviceplugin_pb2 as wire

WIDGET: Final = "control.example.com/widget"
RESTARTS: Final = 3
TRIES: Final = 10
LOOKED: Final = "Regenerating TopologyHints for resource already allocated to pod"
"""What the kubelet says when it looks at devices that a pod has had before.

It does not if the plugin is late: then the pods that run are admitted before it comes.
"""
RESCAN: Final = "--rescan-seconds=0.1"


def test_allocatable_follows_what_vanishes_and_comes_back(
    node: Node, operator: Operator, accelerators: Accelerators
) -> None:
    """Held by a pod or not; the pod runs on, and nobody else gets what it holds."""
    names = {"accel0", "accel1"}
    accelerators.appear(*names)
    operator.start(f"--sys-root={accelerators.sys_root}", RESCAN)
    ids = node.await_allocatable(RESOURCE, 2)
    node.run("holding", {RESOURCE: 1}, "ls /dev/accel; echo done")
    (held, _) = node.heard("holding", "done")
    before, holders = node.running("holding"), node.holders(RESOURCE)
    for name in (held, *(names - {held})):
        accelerators.vanish(name)
        node.await_allocatable(RESOURCE, 1)
        accelerators.appear(name)
        assert node.await_allocatable(RESOURCE, 2) == ids
    assert node.running("holding") == before
    assert node.holders(RESOURCE) == holders


@pytest.mark.parametrize("kubelet_is_there", [True, False], ids=["alone", "with-the-kubelet"])
def test_a_held_device_that_vanished_harms_no_kubelet(
    node: Node, operator: Operator, accelerators: Accelerators, *, kubelet_is_there: bool
) -> None:
    """Though it has a NUMA node, and plugin and kubelet start anew, again and again.

    The plugin that starts alone has a kubelet that it can ask; the other one has only the file.
    Each names the device with its node, so the kubelet keeps the pod.
    """
    names = {"accel0", "accel1"}
    accelerators.appear(*names)
    flags = (f"--sys-root={accelerators.sys_root}", RESCAN)
    plugin = operator.start(*flags)
    node.await_allocatable(RESOURCE, 2)
    assert set(node.allocatable(RESOURCE).values()) == {(0,)}
    node.run("holding", {RESOURCE: 1}, "ls /dev/accel; echo done")
    (name, _) = node.heard("holding", "done")
    held = node.holders(RESOURCE)["holding"]
    accelerators.vanish(name)
    looks = 0
    for count in range(1, TRIES + 1):
        operator.stop(plugin)
        if kubelet_is_there:
            plugin = operator.start(*flags)
            plugin.await_err("resource_registered")
            node.kill()
        else:
            node.kill()
            plugin = operator.start(*flags)
            plugin.await_err("inventory_changed")
        node.start()
        node.await_kubelet()
        assert held.isdisjoint(node.await_allocatable(RESOURCE, 1))
        node.running("holding")
        assert set(node.holders(RESOURCE).values()) == {held}
        looks += LOOKED in node.kubelet.said
        if count >= RESTARTS and looks:
            break
    assert looks
    accelerators.appear(name)
    assert held < node.await_allocatable(RESOURCE, 2)


def test_a_held_device_that_is_dropped_kills_the_kubelet(node: Node) -> None:
    """The control: what a plugin does that lists only what is there, after both start anew.

    Without the plugin, the kubelet lives.
    """
    held, other = held_and_other(node)
    for _ in range(TRIES):
        node.kill()
        node.start()
        with registered(node, *devices(other, nodes=[0])):
            awaited(lambda: node.kubelet.code is not None or is_judged(node))
        if node.kubelet.code is not None:
            break
    assert node.kubelet.code == 2
    assert "invalid memory address or nil pointer dereference" in node.kubelet.said
    assert "generateDeviceTopologyHints" in node.kubelet.said
    node.start()
    node.await_kubelet()
    node.running("holding")
    assert node.holders(WIDGET) == {"holding": {held}}


@pytest.mark.parametrize(("nodes", "phase"), [([0], "Running"), (None, "Failed")])
def test_the_numa_node_of_a_held_device_keeps_its_pod(
    node: Node, nodes: list[int] | None, phase: str
) -> None:
    """A kubelet that starts anew refuses the running pod if the node is not listed any more.

    So it does under a strict policy, whatever the health of the device.
    """
    held, other = held_and_other(node)
    listed = [*devices(other, nodes=[0]), *devices(held, health="Unhealthy", nodes=nodes)]
    pod = node.running("holding")
    for _ in range(TRIES):
        node.kill()
        node.start()
        with registered(node, *listed):
            pod = node.judged("holding")
        if LOOKED in node.kubelet.said:
            break
    assert LOOKED in node.kubelet.said
    assert pod.phase == phase
    assert (pod.reason == "TopologyAffinityError") == (phase == "Failed")


def held_and_other(node: Node) -> tuple[str, str]:
    """Let a pod have one of two devices on NUMA node 0; return its id, and the other one's."""
    with registered(node, *devices("x y", nodes=[0])):
        ids = node.await_allocatable(WIDGET, 2)
        node.run("holding", {WIDGET: 1})
        node.running("holding")
    (held,) = node.holders(WIDGET)["holding"]
    (other,) = ids - {held}
    return held, other


def is_judged(node: Node) -> bool:
    pod = node.pod("holding")
    return pod is not None and pod.judged


@contextmanager
def registered(node: Node, *listed: wire.Device) -> Generator[None]:
    """Run a plugin that lists just this to the next kubelet, as soon as that is there."""
    awaited(lambda: accepts(PLUGINS / "kubelet.sock"), check=node.check)
    plugin = BarePlugin(PLUGINS, "control.sock", WIDGET)
    plugin.send(*listed)
    plugin.serve()
    try:
        with suppress(grpc.RpcError):  # the kubelet may die of it
            plugin.register()
        yield
    finally:
        plugin.stop()


def accepts(path: Path) -> bool:
    """Return whether somebody listens there."""
    with socket.socket(socket.AF_UNIX) as caller:
        return caller.connect_ex(str(path)) == 0
