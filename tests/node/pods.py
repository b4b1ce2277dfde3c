"""Pods as the kubelet takes them from a folder, and as it shows them."""

import json
from collections.abc import Mapping
from typing import Any, Final

import attrs
from tests.node.images import POD

CONTAINER: Final = "main"
NAMESPACE: Final = "default"
_FOR_LONG: Final = "exec sleep 1000000"


def manifest(name: str, limits: Mapping[str, int], script: str) -> str:
    """Return the manifest of a pod that runs a script and then sleeps.

    It has the node's network, so there is nothing to set up for one.
    """
    container = {
        "name": CONTAINER,
        "image": POD,
        "imagePullPolicy": "Never",
        "command": ["sh", "-c", f"{script}\n{_FOR_LONG}"],
        "resources": {"limits": {resource: str(count) for resource, count in limits.items()}},
    }
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "hostNetwork": True,
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 0,
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "containers": [container],
            },
        }
    )


@attrs.frozen(kw_only=True)
class PodView:
    """A pod as the kubelet shows it.

    `containers` are the ids of those that run: an id is of one start of one container.
    """

    name: str
    phase: str
    reason: str
    message: str
    containers: tuple[str, ...]

    @property
    def runs(self) -> bool:
        """Whether it has been admitted, and its container started."""
        return self.phase == "Running" and bool(self.containers)

    @property
    def judged(self) -> bool:
        """Whether this life of the kubelet has admitted or refused it."""
        return self.runs or self.phase == "Failed"


def pod_view(shown: Mapping[str, Any]) -> PodView:
    """Read a pod of the kubelet's answer."""
    status = shown["status"]
    return PodView(
        name=shown["metadata"]["name"],
        phase=status.get("phase", ""),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        containers=tuple(
            each["containerID"]
            for each in status.get("containerStatuses", ())
            if "running" in each["state"]
        ),
    )
