"""What can go wrong with the fake kubelet.

FakeKubeletError
├── KubeletDownError (ConnectionError)    it is stopped, or was while it worked for you
├── KubeletRunningError (RuntimeError)    it was started twice
├── UnusableDirectoryError (OSError)       it cannot have its plugin directory, or socket, there
├── KubeletPanicError (RuntimeError)      the real one would have crashed; so has this one
├── ContainerStartError (RuntimeError)    the container is not created; the kubelet would retry
├── RefusedError (ValueError)             Register fails with this text
├── UnwelcomeError (ConnectionError)      a socket of plugins_registry fails with this text
├── AllocationError (ValueError)          the pod fails with this text
├── UnalignedError (ValueError)           the pod fails, its devices do not fit together
└── StreamBrokenError (ConnectionError)   ListAndWatch ended with this text
"""


class FakeKubeletError(Exception):
    """Root of all errors of the fake kubelet."""


class KubeletDownError(FakeKubeletError, ConnectionError):
    """The kubelet is not running, or died during the call, whose outcome is then unknown."""


class KubeletRunningError(FakeKubeletError, RuntimeError):
    """The kubelet is running already. Stop it first."""


class UnusableDirectoryError(FakeKubeletError, OSError):
    """The plugin directory cannot be made, or no socket in it: give another, as the text says."""


class KubeletPanicError(FakeKubeletError, RuntimeError):
    """The real kubelet dereferences nil here and dies; the fake one is stopped now."""


class ContainerStartError(FakeKubeletError, RuntimeError):
    """The container could not be created. Not final: call again, as the kubelet does."""


class RefusedError(FakeKubeletError, ValueError):
    """Register fails; the text reaches the plugin with the code UNKNOWN."""


class UnwelcomeError(FakeKubeletError, ConnectionError):
    """A socket in plugins_registry is not, or not usably, that of a plugin; the text says why."""


class AllocationError(FakeKubeletError, ValueError):
    """A container cannot have its devices; the text goes into the pod's status."""


class StreamBrokenError(FakeKubeletError, ConnectionError):
    """A stream of lists ended with an error; the text says which."""


class UnalignedError(FakeKubeletError, ValueError):
    """A container's devices cannot be had in the way that the topology policy wants."""

    def __init__(self) -> None:
        """Say what the kubelet says."""
        super().__init__("Resources cannot be allocated with Topology locality")
