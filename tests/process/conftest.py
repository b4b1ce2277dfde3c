"""Where processes under test live, and what they find there."""

import signal
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from deviceplugin.testing.kubelet import FakeKubelet
from deviceplugin.testing.sysfs import FakeSysfs

CONFIGURATION = """\
version: 1
domain: example.com
plugin_dir: {plugins}
kubelet_root: {plugins.parent}
sys_root: {sys_root}
rescan_seconds: 0.1
resources:
  - name: sink
    match: [{{subsystem: mem, name: "null"}}]
  - name: zeros
    match: [{{subsystem: mem, name: zero}}]
  - name: full
    match: [{{subsystem: mem, name: full}}]
"""


@pytest.fixture(scope="session", autouse=True)
def _interrupts_are_heard() -> Generator[None]:
    """A shell's background job ignores interrupts, and so would whatever it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def place() -> Generator[Path]:
    """Return a directory of short name that other users may look into."""
    with TemporaryDirectory(prefix="dp-", ignore_cleanup_errors=True) as directory:
        path = Path(directory)
        path.chmod(0o755)
        yield path


@pytest.fixture
def plugins(place: Path) -> Path:
    """Return a plugin directory without a kubelet."""
    path = place / "plugins"
    path.mkdir()
    return path


@pytest.fixture
def kubelet(plugins: Path) -> Generator[FakeKubelet]:
    """Run a kubelet in the plugin directory."""
    with FakeKubelet(plugins) as running:
        yield running


@pytest.fixture
def hardware(place: Path) -> FakeSysfs:
    """Show devices whose nodes are in every /dev."""
    tree = FakeSysfs(place)
    for name, minor in (("null", 3), ("zero", 5), ("full", 7)):
        tree.child(name, subsystem="mem", number=(1, minor))
    return tree


@pytest.fixture
def config(place: Path, plugins: Path, hardware: FakeSysfs) -> Path:
    """Write a configuration that offers each of these devices as a resource of its own."""
    path = place / "plugin.yaml"
    path.write_text(CONFIGURATION.format(plugins=plugins, sys_root=hardware.root))
    return path
