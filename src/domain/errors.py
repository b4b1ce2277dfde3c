"""Every error of the package, drawn as a tree.

DevicePluginError
├── InvalidValueError            (ValueError)        the input breaks a rule: mend it
│   ├── InvalidResourceNameError                     the kubelet would refuse the resource's name
│   └── InvalidDeviceError                           a part of a device is wrong
├── AllocationError                                  this request cannot be granted
│   ├── UnknownDeviceError       (LookupError)       an id that was never advertised
│   ├── UnhealthyDeviceError                         an id that cannot be used now
│   ├── MovedDeviceError                             it is elsewhere than the container has it
│   ├── AllocationClashError     (ValueError)        two devices want one place in the container
│   └── AllocationTimeoutError   (TimeoutError)      the plugin's own code exceeded its bound
├── NotOfferedError                                  a call that the options do not offer
├── RegistrationError                                Register did not succeed
│   ├── KubeletUnreachableError  (ConnectionError)   nothing was sent: that server may try again
│   │   └── KubeletForbiddenError                    the system does not let us: mend permissions
│   ├── RegistrationRefusedError                     it said no: try again with a new server
│   ├── RegistrationUnclearError (TimeoutError)      maybe it worked: never try that socket twice
│   └── SocketLostError          (FileNotFoundError) our socket is gone: nothing was sent
├── ServingError                 (OSError)           the plugin directory or socket cannot be used
│   └── ServingForbiddenError                        the system does not let us: mend permissions
├── HoldersUnknownError                              nobody could say who holds what: keep all
├── ProbeError                                       a probe could not be asked: take it for ill
├── ScanError                                        one look at the hardware failed: keep the last
└── StoppedError                 (RuntimeError)      the plugin has ended: stop scanning

The domain owns this tree so that a caller can act without knowing which technology failed; gRPC
status codes are known to the kubelet adapter alone.
"""

from collections.abc import Iterable, Mapping

LONGEST_REASON = 4096
"""Characters of a reason: gRPC clients take no status above some 8 KiB."""


def reason_of(error: BaseException) -> str:
    """Return what to tell of an error: never raises, and any message can carry it."""
    try:
        text = str(error)
    except Exception as worse:  # noqa: BLE001 - an author's __str__ may raise anything
        text = f"(its text cannot be had: {type(worse).__name__})"
    if not isinstance(error, DevicePluginError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text.encode("utf-8", "backslashreplace").decode()[:LONGEST_REASON]


class DevicePluginError(Exception):
    """The root: whatever this package raises on purpose is one of these."""


class InvalidValueError(DevicePluginError, ValueError):
    """A value breaks a rule of the kubelet or of this package; the message names the rule."""


class InvalidResourceNameError(InvalidValueError):
    """A resource name that the kubelet would refuse.

    Carries the `name` as given and the `rule` it breaks.
    """

    def __init__(self, name: str, rule: str) -> None:
        """Remember the name and the broken rule."""
        super().__init__(f"resource name {name!r}: {rule}")
        self.name = name
        self.rule = rule


class InvalidDeviceError(InvalidValueError):
    """A part of a device that no container could be given.

    Carries the `part` (such as "device id"), its `value` and the `rule` it breaks.
    """

    def __init__(self, part: str, value: object, rule: str) -> None:
        """Remember the part, its value and the broken rule."""
        super().__init__(f"{part} {value!r}: {rule}")
        self.part = part
        self.value = value
        self.rule = rule


class AllocationError(DevicePluginError):
    """A request for devices that cannot be granted; nothing was given in part."""


class UnknownDeviceError(AllocationError, LookupError):
    """The kubelet asked for ids that were never advertised, and maybe for `unhealthy` ones too.

    `paths` has the host paths of device nodes of the latter, as far as they are known.
    """

    def __init__(
        self,
        ids: Iterable[str],
        *,
        unhealthy: Iterable[str] = (),
        paths: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """Remember the unknown and the unhealthy ids, sorted."""
        self.ids = tuple(sorted(ids))
        self.unhealthy = tuple(sorted(unhealthy))
        ill = _with_paths(self.unhealthy, paths or {})
        too = f"; not healthy now: {ill}" if ill else ""
        super().__init__(f"never advertised: {', '.join(self.ids)}{too}")


class UnhealthyDeviceError(AllocationError):
    """The kubelet asked for ids that are Unhealthy or have vanished.

    `paths` has the host paths of their device nodes, as far as they are known.
    """

    def __init__(
        self, ids: Iterable[str], *, paths: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        """Remember the unhealthy ids, sorted."""
        self.ids = tuple(sorted(ids))
        super().__init__(
            f"not healthy now: {_with_paths(self.ids, paths or {})}; "
            "the list sent to the kubelet says so too"
        )


class MovedDeviceError(AllocationError):
    """A container is to start with device nodes that are no longer those of its devices.

    What it was given is kept for as long as its pod lives, and may be another device by now.
    """

    def __init__(
        self, given: Mapping[str, Iterable[str]], now: Mapping[str, Iterable[str]]
    ) -> None:
        """Remember the ids, sorted; the host paths are what was given and what is there now."""
        self.ids = tuple(sorted(given))
        moves = [
            f"{key} was given as {_listed(given[key])} and is {_listed(now.get(key, ()))} now"
            for key in self.ids
        ]
        super().__init__(
            f"{'; '.join(moves)}; a container keeps what it was given: delete its pod to have it "
            "made anew"
        )


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(sorted(paths)) or "without a node"


def _with_paths(ids: Iterable[str], paths: Mapping[str, Iterable[str]]) -> str:
    shown = {key: ", ".join(paths.get(key, ())) for key in ids}
    return ", ".join(f"{key} ({each})" if each else key for key, each in shown.items())


class AllocationClashError(AllocationError, ValueError):
    """Two devices of one request want the same place in the container for different things."""

    def __init__(self, kind: str, key: str, values: Iterable[str]) -> None:
        """Remember what clashed: kind (such as "environment variable"), key and both values."""
        self.kind = kind
        self.key = key
        self.values = tuple(values)
        super().__init__(
            f"{kind} {key!r} is wanted as {' and as '.join(map(repr, self.values))}; "
            "give each device of the resource its own"
        )


class AllocationTimeoutError(AllocationError, TimeoutError):
    """Code of the plugin's author did not answer within the handler's own bound."""

    def __init__(self, call: str, seconds: float) -> None:
        """Remember which call was cut off and after how long."""
        super().__init__(f"{call} did not answer within {seconds:g} s")
        self.call = call
        self.seconds = seconds


class NotOfferedError(DevicePluginError):
    """A call that GetDevicePluginOptions does not offer."""


class RegistrationError(DevicePluginError):
    """Register did not succeed; the leaf says whether it may have had an effect."""


class KubeletUnreachableError(RegistrationError, ConnectionError):
    """No connection to kubelet.sock: nothing was sent, so the same server may register later."""

    def __str__(self) -> str:
        """Return the message without the number, which `errno` holds."""
        return self.strerror or super().__str__()


class KubeletForbiddenError(KubeletUnreachableError):
    """The system refuses us the connection; the message says which, why, and the way out."""


class RegistrationRefusedError(RegistrationError):
    """The kubelet answered with an error; its text is the message."""


class RegistrationUnclearError(RegistrationError, TimeoutError):
    """Register was sent and no answer came.

    The kubelet may go on and register us all the same (1.28 and 1.34 do), so the same socket is
    never registered again.
    """


class SocketLostError(RegistrationError, FileNotFoundError):
    """Our socket is gone or is no longer ours, seen right before Register: nothing was sent."""

    def __str__(self) -> str:
        """Return the message without the number, which `errno` holds."""
        return self.strerror or super().__str__()


class ServingError(DevicePluginError, OSError):
    """The plugin directory or a socket in it cannot be used; the message says which and why."""

    def __str__(self) -> str:
        """Return the message without the number, which `errno` holds."""
        return self.strerror or super().__str__()


class HoldersUnknownError(DevicePluginError):
    """A source could not say which devices containers hold. Whatever may be held is kept."""


class ServingForbiddenError(ServingError):
    """The system refuses us the directory or the socket; the message says how to get it."""


class ProbeError(DevicePluginError):
    """A probe could not be asked, or gave no answer in time; nothing is known of the device."""


class ScanError(DevicePluginError):
    """One look at the hardware failed as a whole. The last good one stays in force."""


class StoppedError(DevicePluginError, RuntimeError):
    """The plugin has ended; a scanner that meets this returns."""
