"""The composition root composes."""

import inspect
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from dependency_injector.errors import Error
from dependency_injector.providers import Factory, Object

from deviceplugin.adapters.kubelet.standby import stand_by
from deviceplugin.adapters.memory.device_source import MemoryDeviceSource
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.container import Container
from deviceplugin.app.settings import load
from deviceplugin.app.use_cases.run_plugin import RunPlugin
from deviceplugin.app.use_cases.watch_configuration import WatchConfiguration
from deviceplugin.domain.ports.driving.notifier import Notifier
from deviceplugin.domain.resources import ResourceName
from deviceplugin.domain.routes import RegistrationMode, Route
from deviceplugin.domain.timing import Timing


class _Author:
    async def scan(self, notifier: Notifier) -> None:
        """Find nothing."""
        del notifier


def _no_policy(_: ResourceName) -> None:
    return None


def _container(directory: Path, origin: str, metrics: str = "none") -> Container:
    return Container(
        origin=origin,
        namespace="example.com",
        plugin_dir=str(directory),
        policy_of=_no_policy,
        metrics=metrics,
        author=_Author()
        if origin == "scanner"
        else MemoryDeviceSource((), journal=MemoryJournal()),
        timing=Timing(),
    )


def _built(container: Container, origin: str) -> dict[str, Any]:
    """Return everything that the container provides; an author's own scanner needs no source."""
    without = (
        {"source", "poll", "look", "reload", "watched"} if origin == "scanner" else set[str]()
    )
    return {
        name: provider()
        for name, provider in container.providers.items()
        if not isinstance(provider, Factory) and name not in without
    }


@pytest.mark.parametrize("origin", ["scanner", "source", "sysfs"])
async def test_every_provider_builds(tmp_path: Path, origin: str) -> None:
    """For each origin of devices; no wrong keyword and no missing part is left for run time."""
    container = _container(tmp_path, origin)
    container.check_dependencies()
    built = _built(container, origin)
    assert isinstance(built["run_plugin"], RunPlugin)
    built["directory"].close()
    built["uevents"].close()
    built["node_hotplug"].close()


@pytest.mark.parametrize("origin", ["scanner", "source", "sysfs"])
async def test_nothing_provided_is_awaitable(tmp_path: Path, origin: str) -> None:
    """What is asked for is there, not a promise of it."""
    container = _container(tmp_path, origin)
    for name, value in _built(container, origin).items():
        assert not inspect.isawaitable(value), name
    container.directory().close()
    container.uevents().close()
    container.node_hotplug().close()


async def test_what_a_configuration_is_read_by_watches_its_file(tmp_path: Path) -> None:
    """And what nobody said how to read is not watched."""
    (tmp_path / "plugin.yaml").write_text("version: 1")
    configuration = load(str(tmp_path / "plugin.yaml"), {}, {})
    for reread, is_watched in ((lambda: configuration, True), (None, False)):
        container = _container(tmp_path, "sysfs")
        container.override_providers(
            configuration=Object(configuration), reread=Object(reread), policies=Object({})
        )
        plugin: Any = container.run_plugin()
        assert isinstance(plugin.watch_configuration, WatchConfiguration) == is_watched
        for each in (*plugin.directories.values(), *plugin.hotplugs, plugin.watch_configuration):
            if each is not None:
                each.close()


@pytest.mark.parametrize(
    ("mode", "routes"),
    [
        (RegistrationMode.REGISTER, [Route.REGISTER]),
        (RegistrationMode.WATCHER, [Route.WATCHER]),
        (RegistrationMode.AUTO, [Route.REGISTER, Route.WATCHER]),
    ],
)
async def test_only_the_ways_that_may_be_taken_are_built(
    tmp_path: Path, mode: RegistrationMode, routes: list[Route]
) -> None:
    """And all that concerns the ways has just these."""
    container = _container(tmp_path, "scanner")
    container.registration.override(mode)  # pyright: ignore[reportUnknownMemberType]
    assert list(container.ways()) == routes
    assert list(container.world().ways) == routes
    plugin: Any = container.run_plugin()
    assert list(plugin.directories) == routes
    for directory in plugin.directories.values():
        directory.close()


async def test_one_plugin_has_one_of_each(tmp_path: Path) -> None:
    """All that share a journal, a clock or a directory share the same one."""
    container = _container(tmp_path, "scanner")
    plugin: Any = container.run_plugin()
    assert plugin.directories[Route.REGISTER] is container.directory()
    assert plugin.watch_kubelet is container.watch_kubelet()
    assert container.world().journal is container.journal()
    container.directory().close()


@pytest.mark.parametrize("metrics", ["none", "127.0.0.1:9"])
async def test_grpc_is_kept_up_for_as_long_as_a_plugin_runs(tmp_path: Path, metrics: str) -> None:
    """A kubelet that restarts is not to wait for it, whoever else runs beside the plugin."""
    assert stand_by in _container(tmp_path, "scanner", metrics).beside()


def test_a_missing_part_is_told_by_name(tmp_path: Path) -> None:
    """Before anything is opened."""
    container = Container(origin="scanner", plugin_dir=str(tmp_path))
    with pytest.raises(Error, match="namespace"):
        container.check_dependencies()


def test_every_provider_names_its_port() -> None:
    """So that a type checker can refuse an adapter that does not fit."""
    annotated = set(inspect.get_annotations(Container))
    assert set(Container.providers) == annotated


async def test_building_opens_nothing_but_the_watches(tmp_path: Path) -> None:
    """No socket, no server, no thread: what a plugin serves begins when it runs."""
    threads = threading.active_count()
    container = _container(tmp_path, "sysfs")
    before = _descriptors()
    container.run_plugin()
    assert _descriptors() - before <= 2
    assert threading.active_count() == threads
    container.directory().close()
    for hotplug in container.hotplugs():
        hotplug.close()
    assert _descriptors() == before
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a look, no work


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - as above
