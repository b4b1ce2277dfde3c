"""The errors are what their docstring draws, and each carries its facts."""

import builtins
import inspect
import re

import pytest

from deviceplugin.domain import errors
from deviceplugin.domain.errors import (
    LONGEST_REASON,
    AllocationClashError,
    AllocationTimeoutError,
    DevicePluginError,
    InvalidDeviceError,
    InvalidResourceNameError,
    KubeletUnreachableError,
    MovedDeviceError,
    ServingError,
    UnhealthyDeviceError,
    UnknownDeviceError,
    reason_of,
)

LINE = re.compile(
    r"(?P<branch>[│├└─ ]*)(?P<name>\w+Error)\s+(\((?P<builtin>\w+)\)\s+)?(?P<does>.*)"
)


def drawn() -> dict[str, tuple[str, ...]]:
    """Return each error of the docstring's tree with its bases: a parent, maybe a builtin."""
    tree: dict[str, tuple[str, ...]] = {}
    path = ["DevicePluginError"]
    for line in (errors.__doc__ or "").splitlines():
        if (match := LINE.fullmatch(line)) is not None:
            assert match["does"], f"{match['name']} is not explained"
            path[len(match["branch"]) // 4 :] = [match["name"]]
            tree[match["name"]] = (path[-2], match["builtin"])[: 2 if match["builtin"] else 1]
    return tree


def raised() -> dict[str, type[DevicePluginError]]:
    """Return the error classes of the module, without the root."""
    members = inspect.getmembers(errors, inspect.isclass)
    return {
        name: kind
        for name, kind in members
        if issubclass(kind, DevicePluginError) and kind is not DevicePluginError
    }


def test_the_tree_in_the_docstring_is_the_real_one() -> None:
    real = {
        name: tuple(base.__name__ for base in kind.__bases__) for name, kind in raised().items()
    }
    assert drawn() == real


def test_each_second_base_is_a_builtin_so_that_callers_can_catch_what_they_know() -> None:
    for kind in raised().values():
        for base in kind.__bases__[1:]:
            assert getattr(builtins, base.__name__) is base


def test_every_error_ends_in_error_and_says_what_it_means() -> None:
    for name, kind in raised().items():
        assert name.endswith("Error")
        assert kind.__doc__


@pytest.mark.parametrize(
    ("error", "facts", "text"),
    [
        (
            InvalidResourceNameError("x", "needs a domain"),
            {"name": "x", "rule": "needs a domain"},
            "resource name 'x': needs a domain",
        ),
        (
            InvalidDeviceError("device id", "", "must not be empty"),
            {"part": "device id", "value": "", "rule": "must not be empty"},
            "device id '': must not be empty",
        ),
        (UnknownDeviceError(["b", "a"]), {"ids": ("a", "b")}, "never advertised: a, b"),
        (
            UnknownDeviceError(["c"], unhealthy=["b", "a"]),
            {"ids": ("c",), "unhealthy": ("a", "b")},
            "never advertised: c; not healthy now: a, b",
        ),
        (
            UnhealthyDeviceError(["b", "a"]),
            {"ids": ("a", "b")},
            "not healthy now: a, b; the list sent to the kubelet says so too",
        ),
        (
            UnhealthyDeviceError(["b", "a"], paths={"b": ["/dev/b0", "/dev/b1"]}),
            {"ids": ("a", "b")},
            "not healthy now: a, b (/dev/b0, /dev/b1); the list sent to the kubelet says so too",
        ),
        (
            UnknownDeviceError(["c"], unhealthy=["a"], paths={"a": ["/dev/a"]}),
            {"ids": ("c",), "unhealthy": ("a",)},
            "never advertised: c; not healthy now: a (/dev/a)",
        ),
        (
            MovedDeviceError({"b": ["/dev/b"], "a": ["/dev/a"]}, {"a": ["/dev/z", "/dev/y"]}),
            {"ids": ("a", "b")},
            (
                "a was given as /dev/a and is /dev/y, /dev/z now; "
                "b was given as /dev/b and is without a node now; "
                "a container keeps what it was given: delete its pod to have it made anew"
            ),
        ),
        (
            AllocationClashError("annotation", "k", ["x", "y"]),
            {"kind": "annotation", "key": "k", "values": ("x", "y")},
            "annotation 'k' is wanted as 'x' and as 'y'; give each device of the resource its own",
        ),
        (
            AllocationTimeoutError("Plugin.allocate", 10.0),
            {"call": "Plugin.allocate", "seconds": 10.0},
            "Plugin.allocate did not answer within 10 s",
        ),
    ],
)
def test_an_error_carries_its_facts_and_says_them(
    error: DevicePluginError, facts: dict[str, object], text: str
) -> None:
    assert {name: getattr(error, name) for name in facts} == facts
    assert str(error) == text


@pytest.mark.parametrize("kind", [KubeletUnreachableError, ServingError])
def test_an_errno_is_kept_beside_the_text_not_in_it(
    kind: type[KubeletUnreachableError | ServingError],
) -> None:
    error = kind(13, "/plugins: permission denied")
    assert (error.errno, str(error)) == (13, "/plugins: permission denied")
    assert str(kind("without a number")) == "without a number"


class UnspeakableError(Exception):
    """An error whose text cannot be had."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (errors.ScanError("no /sys"), "no /sys"),
        (ValueError("bad"), "ValueError: bad"),
        (ValueError(), "ValueError"),
        (ValueError("bad \udcff"), "ValueError: bad \\udcff"),
        (UnspeakableError(), "UnspeakableError: (its text cannot be had: RuntimeError)"),
    ],
)
def test_a_reason_can_be_told_of_any_error(error: Exception, reason: str) -> None:
    """Whatever an author's code raises; our own errors speak for themselves."""
    assert reason_of(error) == reason


def test_a_reason_is_short_enough_for_a_status() -> None:
    """A client that cannot take the status would not learn that the call failed."""
    assert len(reason_of(ValueError("x" * 10**6))) == LONGEST_REASON
