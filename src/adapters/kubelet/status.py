"""Errors of the domain as gRPC status codes: the only place that knows both."""

from collections.abc import Mapping
from typing import Final

import grpc

from deviceplugin.domain.errors import (
    AllocationClashError,
    AllocationError,
    AllocationTimeoutError,
    DevicePluginError,
    HoldersUnknownError,
    InvalidValueError,
    NotOfferedError,
    ProbeError,
    RegistrationError,
    ScanError,
    ServingError,
    StoppedError,
    UnhealthyDeviceError,
    UnknownDeviceError,
    reason_of,
)

STATUS: Final[Mapping[type[DevicePluginError], grpc.StatusCode]] = {
    UnknownDeviceError: grpc.StatusCode.NOT_FOUND,
    UnhealthyDeviceError: grpc.StatusCode.FAILED_PRECONDITION,
    AllocationClashError: grpc.StatusCode.FAILED_PRECONDITION,
    AllocationTimeoutError: grpc.StatusCode.DEADLINE_EXCEEDED,
    AllocationError: grpc.StatusCode.FAILED_PRECONDITION,
    InvalidValueError: grpc.StatusCode.INVALID_ARGUMENT,
    NotOfferedError: grpc.StatusCode.UNIMPLEMENTED,
    RegistrationError: grpc.StatusCode.UNAVAILABLE,
    ServingError: grpc.StatusCode.UNAVAILABLE,
    HoldersUnknownError: grpc.StatusCode.UNAVAILABLE,
    ProbeError: grpc.StatusCode.UNAVAILABLE,
    ScanError: grpc.StatusCode.UNAVAILABLE,
    StoppedError: grpc.StatusCode.UNAVAILABLE,
}
"""The code of each error; a subclass that is not here has the code of its nearest base."""


def status_of(error: Exception) -> tuple[grpc.StatusCode, str]:
    """Return code and text for `error`; the text ends up in the pod's status, for people."""
    for kind in type(error).__mro__:
        if kind in STATUS:
            return STATUS[kind], reason_of(error)
    return grpc.StatusCode.UNKNOWN, reason_of(error)
