"""Being a user who owns nothing, and whom permissions hold back."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

NOBODY: Final = 65_534


@contextmanager
def nobody() -> Generator[None]:
    """Be nobody inside, if we are root; any other user stays who they are."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


@contextmanager
def sealed(directory: Path) -> Generator[None]:
    """Be nobody inside, where nobody may make or remove anything in the directory."""
    directory.chmod(0o555)
    try:
        with nobody():
            yield
    finally:
        directory.chmod(0o755)
