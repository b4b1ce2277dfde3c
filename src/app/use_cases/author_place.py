"""Where in its author's code an error began: a reason alone sends people searching."""

import os
from traceback import walk_tb
from typing import Final

from deviceplugin.domain.errors import LONGEST_REASON, reason_of

_OURS: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120 - texts, as frames have them
_PYTHONS: Final = os.path.dirname(os.__file__)  # noqa: PTH120
_INSTALLED: Final = ("site-packages", "dist-packages")
_LONGEST_FILE: Final = 255


def located_reason(error: BaseException) -> str:
    """Return what to tell of an error, `KeyError: 'vendor' (mine.py:12)`, no longer than a reason.

    The line is the innermost of the author's: in the folder of the file that we called, or below.
    """
    place = place_of(error) or (place_of(error.__cause__) if error.__cause__ else "")
    if not place:
        return reason_of(error)
    where = f" ({place})".encode("utf-8", "backslashreplace").decode()
    return reason_of(error)[: LONGEST_REASON - len(where)] + where


def place_of(error: BaseException) -> str:
    """Return the file's name and the line; nothing if no code of an author's had a part in it."""
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in walk_tb(error.__traceback__)
        if not _is_machinery(frame.f_code.co_filename)
    ]
    if not frames:
        return ""
    home = os.path.dirname(frames[0][0])  # noqa: PTH120
    file, line = [each for each in frames if _is_below(home, each[0])][-1]
    return f"{os.path.basename(file)[-_LONGEST_FILE:]}:{line}"  # noqa: PTH119


def _is_machinery(file: str) -> bool:
    """Return whether it is our file, Python's own, or code that attrs made."""
    if file.startswith((f"{_OURS}/", "<frozen ", "<attrs generated ")):
        return True
    return file.startswith(f"{_PYTHONS}/") and not any(each in file for each in _INSTALLED)


def _is_below(home: str, file: str) -> bool:
    folder = os.path.dirname(file)  # noqa: PTH120
    return folder == home or bool(home and folder.startswith(f"{home}/"))
