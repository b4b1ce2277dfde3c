"""Wherever the kubelet's directory really is and whatever lies in it, the plugin finds its way."""

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.support.stage import SOON, WIDGET, Puppet, beside, remove_tree

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.settings import load
from deviceplugin.testing.kubelet import FakeKubelet, Limits, Profile, Registered
from deviceplugin.testing.sysfs import FakeSysfs

CHECKPOINT = "kubelet_internal_checkpoint"


def _names(directory: Path) -> set[str]:
    return {each.name for each in directory.iterdir()}


def _ours(directory: Path) -> list[Path]:
    return sorted(directory.glob("dp-*.sock"))


@asynccontextmanager
async def _serving(manager: Manager) -> AsyncGenerator[None]:
    serving = asyncio.create_task(manager.serve())
    try:
        yield
    finally:
        manager.stop()
        await serving


@asynccontextmanager
async def _running(kubelet: FakeKubelet) -> AsyncGenerator[FakeKubelet]:
    await beside(kubelet.start)
    try:
        yield kubelet
    finally:
        await beside(kubelet.stop)


async def _lists(kubelet: FakeKubelet, *healthy: str) -> None:
    def wanted() -> None:
        kubelet.await_resource(
            WIDGET,
            lambda seen: (
                seen.streams == 1
                and {key for key, each in seen.devices.items() if each.healthy} == set(healthy)
            ),
            SOON,
        )

    await beside(wanted)


def _puppet_at(directory: Path) -> tuple[Puppet, Manager]:
    puppet = Puppet()
    return puppet, Manager(
        "example.com", puppet, plugin_dir=str(directory), journal=MemoryJournal()
    )


async def test_a_directory_that_is_a_link_is_followed_to_wherever_it_leads(
    tmp_path: Path, profile: Profile
) -> None:
    """As with a kubelet whose data is on another disk; a link shows no event of what it leads to.

    Re-pointed, it leads to another kubelet, which is registered with; the old one lives on.
    """
    link = tmp_path / "device-plugins"
    link.symlink_to("one")
    puppet, manager = _puppet_at(link)
    puppet.show(widget="a b")
    one, two = (
        FakeKubelet(tmp_path / name, profile=profile, limits=Limits(dial=1.0))
        for name in ("one", "two")
    )
    async with _serving(manager), _running(one), _running(two):
        await _lists(one, "a", "b")
        await beside(one.restart)
        await _lists(one, "a", "b")
        newer = tmp_path / "newer"
        newer.symlink_to("two")
        newer.rename(link)
        await _lists(two, "a", "b")
        assert len(_ours(tmp_path / "two")) == 1
    assert _ours(tmp_path / "two") == []


async def test_a_directory_that_goes_while_the_kubelet_lives_is_served_in_again(
    tmp_path: Path, profile: Profile
) -> None:
    """Its stream is still open, and so is our socket that was in there: no event of it comes."""
    directory = tmp_path / "plugins"
    puppet, manager = _puppet_at(directory)
    puppet.show(widget="a b")
    old, new = (FakeKubelet(directory, profile=profile) for _ in range(2))
    async with _running(old), _serving(manager):
        await _lists(old, "a", "b")
        remove_tree(directory)
        assert old.streams(WIDGET) == 1
        async with _running(new):
            await _lists(new, "a", "b")
            assert len(_ours(directory)) == 1


CONFIGURATION = """
version: 1
domain: example.com
rescan_seconds: 3600
resources:
  - name: widget
    match: [{{node: "{folder}/*"}}]
"""


@pytest.fixture
def nodes() -> Generator[Path]:
    """Make a folder of links to device nodes below /dev, where no privilege is needed."""
    if not os.access("/dev/shm", os.W_OK):  # noqa: S108 - below /dev on purpose
        pytest.skip("nothing can come and go below /dev here")
    with TemporaryDirectory(dir="/dev/shm", prefix="dp-test-") as folder:
        for name in ("null", "zero"):
            Path(folder, name).symlink_to(f"/dev/{name}")
        yield Path(folder)


async def test_devices_and_sockets_are_watched_each_in_its_own_place(
    tmp_path: Path, nodes: Path, profile: Profile
) -> None:
    """Device nodes, sysfs and the kubelet's socket are in three directories, each with its events.

    A device that goes is told of on the stream that is open, and by itself: the next regular look
    is in an hour. Our socket that goes brings a new one.
    """
    plugins, file = tmp_path / "plugins", tmp_path / "plugin.yaml"
    sysfs = FakeSysfs(tmp_path / "machine")
    file.write_text(CONFIGURATION.format(folder=nodes))
    flags = {"plugin_dir": str(plugins), "sys_root": str(sysfs.root)}
    manager = Manager.configured(load(str(file), {}, flags), journal=MemoryJournal())
    async with _running(FakeKubelet(plugins, profile=profile)) as kubelet, _serving(manager):
        seen = await beside(
            lambda: kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 2, SOON)
        )
        (nodes / "zero").unlink()
        gone = await beside(
            lambda: kubelet.await_resource(WIDGET, lambda seen: seen.allocatable == 1, SOON)
        )
        assert (gone.capacity, gone.endpoint) == (2, seen.endpoint)
        (plugins / str(seen.endpoint)).unlink()
        await beside(
            lambda: kubelet.await_resource(
                WIDGET,
                lambda now: now.endpoint not in {None, seen.endpoint} and now.allocatable == 1,
                SOON,
            )
        )


async def test_what_a_killed_plugin_left_is_in_nobodys_way(
    tmp_path: Path, profile: Profile
) -> None:
    """Dead sockets and plain files of names like ours: nobody is served there, nothing is removed.

    A socket that refuses connections may be another instance's that is about to listen.
    """
    async with _running(FakeKubelet(tmp_path, profile=profile)) as kubelet:
        puppet, manager = _puppet_at(tmp_path)
        puppet.show(widget="a")
        async with _serving(manager):
            await _lists(kubelet, "a")
            (live,) = _ours(tmp_path)
            prefix = live.name.rpartition("-")[0]
        dead, plain = tmp_path / f"{prefix}-00000000.sock", tmp_path / f"{prefix}-11111111.sock"
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(dead))
        plain.write_text("mine")
        before = [each.stat().st_ino for each in (dead, plain)]
        puppet, manager = _puppet_at(tmp_path)
        puppet.show(widget="a b")
        async with _serving(manager):
            await _lists(kubelet, "a", "b")
        assert [each.stat().st_ino for each in (dead, plain)] == before
        assert _ours(tmp_path) == [dead, plain]
        assert plain.read_text() == "mine"


async def test_nothing_that_is_needed_is_kept_beside_the_kubelets_socket_but_sockets(
    tmp_path: Path,
) -> None:
    """1.28 removes every plain file there when it starts: what is listed is listed again."""
    puppet, manager = _puppet_at(tmp_path)
    puppet.show(widget="a b")
    async with _running(FakeKubelet(tmp_path, profile=Profile.V1_28)) as kubelet:
        theirs = _names(tmp_path) | {CHECKPOINT}
        async with _serving(manager):
            await _lists(kubelet, "a", "b")
            # The kubelet writes its checkpoint under a name with a dot first.
            ours = {name for name in _names(tmp_path) - theirs if not name.startswith(".")}
            assert ours == {each.name for each in _ours(tmp_path) if each.is_socket()}
            (tmp_path / "plain").touch()
            await beside(kubelet.restart)
            assert not (tmp_path / "plain").exists()
            await _lists(kubelet, "a", "b")
        assert len(kubelet.history.of(Registered)) == 2


def _inotify_instances() -> int:
    """Return how many of them this process has."""
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]  # noqa: PTH208 - names are enough
    return sum(os.path.lexists(each) and _leads_to(each) == "anon_inode:inotify" for each in links)


def _leads_to(link: str) -> str:
    with suppress(FileNotFoundError):
        return str(Path(link).readlink())
    return ""


async def test_a_hundred_resources_take_no_more_of_inotify_than_one(tmp_path: Path) -> None:
    """A user has 128 instances for all processes together."""
    puppet, manager = _puppet_at(tmp_path)
    async with _running(FakeKubelet(tmp_path)) as kubelet, _serving(manager):

        def listed(count: int) -> None:
            for number in range(count):
                kubelet.await_resource(
                    f"example.com/r{number}", lambda seen: seen.allocatable == 1, SOON
                )

        counts: list[int] = []
        for count in (1, 100):
            puppet.show(**{f"r{number}": "a" for number in range(count)})
            await beside(partial(listed, count))
            counts.append(_inotify_instances())
        assert counts[0] > 0
        assert counts[1] == counts[0]
