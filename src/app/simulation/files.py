"""What may befall the plugin directory itself."""

import shutil
from pathlib import Path


def delete(directory: Path) -> None:
    """Remove it with all that is in it; if it is a link, the link and what it leads to."""
    target = directory.resolve()
    if directory.is_symlink():
        directory.unlink()
    shutil.rmtree(target)


def put_link(directory: Path) -> Path:
    """Move it aside and put a link in its place; return where it is now."""
    target = directory.resolve()
    number = 1
    while (aside := target.with_name(f"{target.name}.{number}")).exists():
        number += 1
    target.rename(aside)
    directory.unlink(missing_ok=True)
    directory.symlink_to(aside)
    return aside
