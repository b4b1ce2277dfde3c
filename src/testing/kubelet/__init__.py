"""A kubelet to test against: real gRPC on real sockets, with the quirks of the real one.

For a plugin in any language; it needs no cluster, no root and no event loop::

    with FakeKubelet(directory) as kubelet:
        ...                                                   # start the plugin on `directory`
        kubelet.await_resource("example.com/widget", lambda seen: seen.allocatable == 3)
        verdict = kubelet.admit(Pod.asking("p", {"example.com/widget": 2}))
        kubelet.restart()
"""

from deviceplugin.testing.kubelet.asking import Held, ask_pod_resources
from deviceplugin.testing.kubelet.errors import (
    AllocationError,
    ContainerStartError,
    FakeKubeletError,
    KubeletDownError,
    KubeletPanicError,
    KubeletRunningError,
    UnusableDirectoryError,
)
from deviceplugin.testing.kubelet.faults import (
    DropEarly,
    DropLate,
    Faults,
    Hang,
    Late,
    ListOrder,
    Refuse,
    Step,
)
from deviceplugin.testing.kubelet.history import (
    AllocateAsked,
    CheckpointWritten,
    Deregistered,
    History,
    InfoAsked,
    ListReceived,
    OptionsRead,
    PreferenceAsked,
    PreStartAsked,
    Record,
    Refused,
    RegisterAsked,
    Registered,
    Started,
    StatusSent,
    Stopped,
    StreamEnded,
    StreamOpened,
    Unserved,
)
from deviceplugin.testing.kubelet.kubelet import FakeKubelet
from deviceplugin.testing.kubelet.limits import REAL_LIMITS, Limits
from deviceplugin.testing.kubelet.manager import ResourceView
from deviceplugin.testing.kubelet.numa import Numa, NumaPolicy
from deviceplugin.testing.kubelet.pods import (
    Container,
    ContainerGrant,
    Pod,
    PodAdmitted,
    PodRejected,
    Verdict,
)
from deviceplugin.testing.kubelet.profile import Era, Profile
from deviceplugin.testing.kubelet.table import Quantity
from deviceplugin.testing.kubelet.values import Answer, Device, DeviceSpec, Mount, Options

__all__ = [
    "REAL_LIMITS",
    "AllocateAsked",
    "AllocationError",
    "Answer",
    "CheckpointWritten",
    "Container",
    "ContainerGrant",
    "ContainerStartError",
    "Deregistered",
    "Device",
    "DeviceSpec",
    "DropEarly",
    "DropLate",
    "Era",
    "FakeKubelet",
    "FakeKubeletError",
    "Faults",
    "Hang",
    "Held",
    "History",
    "InfoAsked",
    "KubeletDownError",
    "KubeletPanicError",
    "KubeletRunningError",
    "Late",
    "Limits",
    "ListOrder",
    "ListReceived",
    "Mount",
    "Numa",
    "NumaPolicy",
    "Options",
    "OptionsRead",
    "Pod",
    "PodAdmitted",
    "PodRejected",
    "PreStartAsked",
    "PreferenceAsked",
    "Profile",
    "Quantity",
    "Record",
    "Refuse",
    "Refused",
    "RegisterAsked",
    "Registered",
    "ResourceView",
    "Started",
    "StatusSent",
    "Step",
    "Stopped",
    "StreamEnded",
    "StreamOpened",
    "Unserved",
    "UnusableDirectoryError",
    "Verdict",
    "ask_pod_resources",
]
