"""An error of an author's code says where it began, in a line that is the author's to mend."""

import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from deviceplugin.app.use_cases.author_place import located_reason
from deviceplugin.domain.devices import DeviceId
from deviceplugin.domain.errors import LONGEST_REASON


def loaded(text: str, file: Path | str, **given: object) -> Callable[[], object]:
    """Return `scan` of a program, as if it had been read from a file."""
    names: dict[str, Any] = dict(given)
    exec(compile(text, str(file), "exec"), names)  # noqa: S102 - a program of this test
    scan: Callable[[], object] = names["scan"]
    return scan


def reason(call: Callable[[], object]) -> str:
    """Return what is told of the error that a call raises."""
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - any
        call()
    return located_reason(raised.value.with_traceback(_below_here(raised.value)))


def _below_here(error: BaseException) -> TracebackType | None:
    """Return the traceback without this file, which is nobody's plugin."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def test_the_line_that_raised_is_named() -> None:
    scan = loaded("def scan():\n    found = {}\n    return found['vendor']\n", "/app/mine.py")
    assert reason(scan) == "KeyError: 'vendor' (mine.py:3)"


def test_of_what_others_wrote_it_is_the_line_that_called_them() -> None:
    """Python's own library, what is installed, and this package."""
    lines = loaded("def scan():\n    return json.loads('{')\n", "/app/mine.py", json=json)
    assert reason(lines).endswith(" (mine.py:2)")
    theirs = loaded("def scan():\n    1 / 0\n", "/lib/python3/site-packages/theirs.py")
    scan = loaded("def scan():\n    theirs()\n", "/app/mine.py", theirs=theirs)
    assert reason(scan) == "ZeroDivisionError: division by zero (mine.py:2)"
    ours = loaded("\n\ndef scan():\n    DeviceId('')\n", "/app/mine.py", DeviceId=DeviceId)
    assert reason(ours).endswith(" (mine.py:4)")


def test_a_file_beside_and_below_is_the_authors_too() -> None:
    inner = loaded("def scan():\n    1 / 0\n", "/app/parts/inner.py")
    scan = loaded("def scan():\n    inner()\n", "/app/mine.py", inner=inner)
    assert reason(scan).endswith(" (inner.py:2)")


def test_a_plugin_that_is_installed_has_its_lines_named_as_well() -> None:
    scan = loaded("def scan():\n    1 / 0\n", "/lib/python3/site-packages/mine.py")
    assert reason(scan).endswith(" (mine.py:2)")


def test_an_error_of_nobodys_code_has_no_place() -> None:
    assert located_reason(ValueError("x")) == "ValueError: x"
    refused = reason(lambda: DeviceId(""))
    assert refused.startswith("device id '':")
    assert ".py:" not in refused
    assert not refused.endswith(")")


@pytest.mark.parametrize("file", ["<string>", "/app/" + "x" * 9999, "/app/\udcff.py"])
def test_a_reason_stays_bounded_and_sendable(file: str) -> None:
    """Whatever the file is called, and however long the text."""
    scan = loaded("def scan():\n    raise ValueError('x' * 99999)\n", file)
    told = reason(scan)
    assert len(told) <= LONGEST_REASON
    assert told.encode("utf-8")
    assert told.endswith(":2)")
