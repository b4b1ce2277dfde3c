"""The start of a container, when PreStartContainer is called and the kept answer is used."""

import attrs

from deviceplugin.testing.kubelet.admission import Admission
from deviceplugin.testing.kubelet.errors import AllocationError, ContainerStartError
from deviceplugin.testing.kubelet.history import History, PreStartAsked
from deviceplugin.testing.kubelet.manager import DeviceManager
from deviceplugin.testing.kubelet.pods import Container, ContainerGrant, Pod, Want


@attrs.frozen(kw_only=True)
class Starting:
    """Starts containers of admitted pods (GetDeviceRunContainerOptions)."""

    manager: DeviceManager
    history: History
    admission: Admission
    deadline: float

    def start(self, pod: Pod, container: Container) -> ContainerGrant:
        """Return what the container is made with; raises `ContainerStartError`.

        A resource that was unknown when the pod was admitted is allocated now.
        """
        wants = [want for want in self.admission.wants(pod, container) if want.size]
        try:
            for want in wants:
                self._pre_start(want)
            if any(self.manager.allocations.held(want) is None for want in wants):
                self.admission.again(pod, container)
        except AllocationError as problem:
            raise ContainerStartError(str(problem)) from problem
        return self.admission.grant(pod, container)

    def _pre_start(self, want: Want) -> None:
        options = self.manager.options(want.resource)
        if options is None or not options.pre_start:  # after a restart: skipped without a word
            return
        ids = self.manager.allocations.held(want)
        if ids is None:
            raise AllocationError(
                f"no devices found allocated in local cache for pod {want.pod}, "
                f"container {want.container}, resource {want.resource}",
            )
        link = self.manager.link(want.resource)
        self.history.add(
            PreStartAsked(resource=want.resource, container=want.container, ids=tuple(ids)),
        )
        link.pre_start(ids, self.deadline)
