"""Every error of the domain has a gRPC status, and its text reaches the pod."""

import inspect

import grpc
import pytest

from deviceplugin.adapters.kubelet.status import STATUS, status_of
from deviceplugin.domain import errors
from deviceplugin.domain.errors import (
    AllocationClashError,
    AllocationError,
    AllocationTimeoutError,
    DevicePluginError,
    InvalidDeviceError,
    KubeletUnreachableError,
    NotOfferedError,
    SocketLostError,
    UnhealthyDeviceError,
    UnknownDeviceError,
)

KINDS: list[type[DevicePluginError]] = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, DevicePluginError) and kind is not DevicePluginError
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_status(kind: type[DevicePluginError]) -> None:
    assert any(base in STATUS for base in kind.__mro__)


def test_no_status_is_for_an_error_that_is_no_more() -> None:
    assert set(STATUS) <= set(KINDS)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UnknownDeviceError(["a"]), grpc.StatusCode.NOT_FOUND),
        (UnhealthyDeviceError(["a"]), grpc.StatusCode.FAILED_PRECONDITION),
        (AllocationClashError("annotation", "k", "xy"), grpc.StatusCode.FAILED_PRECONDITION),
        (AllocationTimeoutError("allocate", 10.0), grpc.StatusCode.DEADLINE_EXCEEDED),
        (AllocationError("not today"), grpc.StatusCode.FAILED_PRECONDITION),
        (NotOfferedError("no policy"), grpc.StatusCode.UNIMPLEMENTED),
    ],
)
def test_a_kubelet_gets_the_code_that_fits_and_the_text(
    error: DevicePluginError, code: grpc.StatusCode
) -> None:
    assert status_of(error) == (code, str(error))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidDeviceError("id", "", "x"), grpc.StatusCode.INVALID_ARGUMENT),
        (KubeletUnreachableError("x"), grpc.StatusCode.UNAVAILABLE),
        (SocketLostError("x"), grpc.StatusCode.UNAVAILABLE),
    ],
)
def test_an_error_without_a_code_of_its_own_has_its_nearest_bases(
    error: DevicePluginError, code: grpc.StatusCode
) -> None:
    assert type(error) not in STATUS
    assert status_of(error)[0] is code


def test_a_foreign_error_is_unknown_and_is_named() -> None:
    """An author's code may raise anything, and the pod's status is all that a person sees."""
    assert status_of(RuntimeError("on fire")) == (
        grpc.StatusCode.UNKNOWN,
        "RuntimeError: on fire",
    )
