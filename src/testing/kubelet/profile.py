"""What differs between kubelets, as facts with names."""

from enum import Enum
from typing import ClassVar, Self

import attrs


class Era(Enum):
    """How the kubelet tells the endpoints of a resource apart (kubernetes#135437)."""

    BY_NAME = "A"
    """By the resource alone: the last to register takes the place of all before it."""
    BY_SOCKET = "B"
    """By resource and socket path: several endpoints live side by side."""


@attrs.frozen(kw_only=True)
class Profile:
    """One Kubernetes minor. A new one is a value here, never an `if` elsewhere."""

    V1_28: ClassVar[Self]
    V1_34: ClassVar[Self]
    V1_36: ClassVar[Self]
    V1_37: ClassVar[Self]

    version: str
    era: Era
    register_bounds_calls: bool
    """From 1.35: when Register's client gives up, dialling and GetDevicePluginOptions end too."""
    removes_plain_files: bool = False
    """1.28: start-up cleaning takes all but folders and the checkpoint, not sockets alone."""
    reuses_sidecar_devices: bool = False
    """1.28: devices of a restartable init container go to the app container as well."""
    passes_cdi_devices: bool = True
    """From 1.29: before, a feature gate keeps the names of CDI devices from the container."""
    panics_on_vanished_device: bool = True
    """From 1.34: a held device that is no longer listed is a nil pointer to topology hints."""
    hints_idle_nodes: bool = False
    """Before 1.36: topology hints combine nodes without devices, too."""
    retries_failed_plugins: bool = True
    """From 1.36: a plugin of plugins_registry that could not be connected is tried again."""
    answers_pod_by_name: bool = True
    """From 1.34: pod-resources answers Get; before, a feature gate keeps it shut."""
    shows_sidecars: bool = True
    """From 1.29: pod-resources shows what restartable init containers hold."""

    def __str__(self) -> str:
        """Return the minor, such as 1.37: short enough for the name of a test."""
        return self.version

    @classmethod
    def named(cls, version: str) -> Self:
        """Return the profile of a minor such as "1.37"; raises `LookupError`."""
        every = (cls.V1_28, cls.V1_34, cls.V1_36, cls.V1_37)
        known = {profile.version: profile for profile in every}
        if version not in known:
            message = f"no profile of Kubernetes {version!r}; known: {', '.join(known)}"
            raise LookupError(message)
        return known[version]


Profile.V1_28 = Profile(
    version="1.28",
    era=Era.BY_NAME,
    register_bounds_calls=False,
    removes_plain_files=True,
    reuses_sidecar_devices=True,
    passes_cdi_devices=False,
    panics_on_vanished_device=False,
    hints_idle_nodes=True,
    retries_failed_plugins=False,
    answers_pod_by_name=False,
    shows_sidecars=False,
)
Profile.V1_34 = Profile(
    version="1.34",
    era=Era.BY_NAME,
    register_bounds_calls=False,
    hints_idle_nodes=True,
    retries_failed_plugins=False,
)
Profile.V1_36 = Profile(version="1.36", era=Era.BY_NAME, register_bounds_calls=True)
Profile.V1_37 = Profile(version="1.37", era=Era.BY_SOCKET, register_bounds_calls=True)
