"""The domain can be lifted out and used where only attrs is installed."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

# Seen from outside: an interpreter that has the standard library and the folder in argv[1].
PROBE: Final = """
import importlib, json, pkgutil, sys
sys.path.insert(0, sys.argv[1])
import attrs
before = set(sys.modules)
import deviceplugin.domain as domain
names = [each.name for each in pkgutil.walk_packages(domain.__path__, domain.__name__ + ".")]
for name in names:
    importlib.import_module(name)
reachable = [name for name in sys.argv[2:] if importlib.util.find_spec(name)]
print(json.dumps({
    "walked": names,
    "added": sorted(set(sys.modules) - before),
    "reachable": reachable,
}))
"""

FOREIGN: Final = (
    "click",
    "dependency_injector",
    "google",
    "grpc",
    "inotify_simple",
    "rich",
    "yaml",
)

# Of the standard library: what waits, talks to the world, or rolls dice.
WORLDLY: Final = {
    "asyncio",
    "concurrent",
    "ctypes",
    "http",
    "logging",
    "multiprocessing",
    "random",
    "secrets",
    "selectors",
    "shutil",
    "signal",
    "socket",
    "ssl",
    "subprocess",
    "tempfile",
    "threading",
}


def location(package: str) -> Path:
    """Return the folder that a package is imported from."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Import the whole domain beside attrs alone; say what came in with it."""
    shelf = tmp_path_factory.mktemp("shelf")
    for package in ("attr", "attrs", "deviceplugin"):
        (shelf / package).symlink_to(location(package), target_is_directory=True)
    command = [sys.executable, "-I", "-S", "-B", "-W", "error", "-c", PROBE, str(shelf), *FOREIGN]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_the_probe_sees_nothing_but_attrs(report: dict[str, list[str]]) -> None:
    """Otherwise the laws below would hold for a wrong reason."""
    assert report["reachable"] == []


def test_every_module_was_imported(report: dict[str, list[str]]) -> None:
    folder = location("deviceplugin") / "domain"
    files = {path for path in folder.rglob("*.py") if path != folder / "__init__.py"}
    assert len(report["walked"]) == len(files)


def test_the_domain_needs_no_library_but_attrs(report: dict[str, list[str]]) -> None:
    roots = {name.partition(".")[0] for name in report["added"]}
    assert roots - sys.stdlib_module_names == {"deviceplugin"}


def test_the_domain_brings_in_no_other_layer(report: dict[str, list[str]]) -> None:
    """`import deviceplugin` happens on the way, so that one must be lazy too."""
    ours = [name for name in report["added"] if name.startswith("deviceplugin.")]
    assert [name for name in ours if not name.startswith("deviceplugin.domain")] == []


def test_the_domain_asks_nothing_of_the_world(report: dict[str, list[str]]) -> None:
    """Neither a clock nor a thread, a log or a socket comes in (what attrs itself uses may)."""
    assert WORLDLY & set(report["added"]) == set()
