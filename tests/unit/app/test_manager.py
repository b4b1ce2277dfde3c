"""The manager refuses what can never work, at once and by name."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, cast

import pytest

from deviceplugin import DeviceInfo, DeviceTree, Manager, Notifier
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.app.settings import Configuration, Settings
from deviceplugin.domain.configuration_events import (
    ConfigurationReloaded,
    ConfigurationUnchanged,
)
from deviceplugin.domain.errors import (
    InvalidResourceNameError,
    InvalidValueError,
    ServingError,
)
from deviceplugin.domain.resources import ResourceName
from deviceplugin.testing.rules import rule


class Author:
    """Finds one widget, then rests."""

    async def scan(self, notifier: Notifier) -> None:
        """Hand it in."""
        tree = DeviceTree()
        tree.add_device("widget", "a", DeviceInfo())
        notifier.notify(tree)
        await asyncio.Event().wait()


class Source:
    """Finds one widget, each time."""

    def scan(self) -> DeviceTree:
        """Return it."""
        tree = DeviceTree()
        tree.add_device("widget", "a", DeviceInfo())
        return tree


@pytest.fixture
def short_path() -> Iterator[Path]:
    """Return a directory in whose subdirectories sockets can be."""
    with TemporaryDirectory() as directory:
        yield Path(directory)


@pytest.mark.parametrize("namespace", ["", "Example.com", "example.com/x", "kubernetes.io"])
def test_a_namespace_that_no_resource_can_have_is_refused(namespace: str) -> None:
    """Before anything runs."""
    with pytest.raises(InvalidResourceNameError):
        Manager(namespace, Author())


def test_an_unknown_policy_is_refused_with_those_there_are(tmp_path: Path) -> None:
    """The value seen and the values allowed."""
    with pytest.raises(InvalidValueError, match=r"'best'.*none, packed, spread"):
        Manager("example.com", Author(), plugin_dir=str(tmp_path), allocation_policy="best")


def test_a_directory_that_can_hold_no_socket_is_refused() -> None:
    """When the manager is made, not when the kubelet comes."""
    with pytest.raises(ServingError):
        Manager("example.com", Author(), plugin_dir="/tmp/" + "x" * 100)  # noqa: S108


def test_a_directory_that_may_still_come_is_no_fault(tmp_path: Path) -> None:
    """`check` lets it pass; a file in its place is a fault."""
    Manager("example.com", Author(), plugin_dir=str(tmp_path / "later")).check()
    (tmp_path / "file").touch()
    with pytest.raises(ServingError, match="Not a directory"):
        Manager("example.com", Author(), plugin_dir=str(tmp_path / "file")).check()


@pytest.mark.parametrize(
    ("option", "allowed"),
    [("registration", "register, watcher, auto"), ("on_exit", "leave, unhealthy")],
)
def test_an_option_that_is_none_is_refused_with_those_there_are(
    option: str, allowed: str, tmp_path: Path
) -> None:
    """The option, the value seen and the values allowed."""
    for make in (Manager, Manager.of_source):
        with pytest.raises(InvalidValueError, match=f"{option} 'other': must be one of {allowed}"):
            make("example.com", Author(), plugin_dir=str(tmp_path), **{option: "other"})  # type: ignore[arg-type]


class Yielding:
    """Has a scan that runs nothing of itself when it is called."""

    def scan(self, _: Notifier) -> Iterator[DeviceTree]:
        """Yield a tree."""
        yield DeviceTree()


class Lacking:
    """Knows how to do other things."""


class Both(Source):
    """May be called either way."""

    def scan(self, _: Notifier | None = None) -> DeviceTree:
        """Return what is there."""
        return super().scan()


@pytest.mark.parametrize(
    ("author", "loops", "word"),
    [
        (Author, True, r"plugin Author: is a class; give an object of it, Author\(\)"),
        (Source, False, r"plugin Source: is a class; give an object of it, Source\(\)"),
        (Lacking(), True, r"plugin Lacking: must be an object with a method scan\(notifier\)"),
        (Lacking(), False, r"method scan\(\)"),
        (len, True, r"plugin builtin_function_or_method: must be an object with a method scan"),
        (None, True, "plugin NoneType: must be an object"),
        (Yielding(), True, r"yield.*hand each tree to notifier\.notify"),
        (Source(), True, r"is called as scan\(notifier\), and its own scan\(\) .*too many"),
        (Author(), False, "must not be async"),
    ],
)
def test_what_has_no_scan_that_can_be_called_is_refused(
    author: object, loops: object, word: str, tmp_path: Path
) -> None:
    """At once, in the author's own line, and not by a scan that fails for ever."""
    make = Manager if loops else Manager.of_source
    with pytest.raises(InvalidValueError, match=word):
        make("example.com", cast("Any", author), plugin_dir=str(tmp_path))


def test_whatever_can_be_called_is_no_matter_of_its_form(tmp_path: Path) -> None:
    """An object, a class or a module with a function, and what takes more than it is given."""
    static = type("Static", (), {"scan": staticmethod(Source().scan)})
    for source in (Both(), static, static(), SimpleNamespace(scan=lambda: Source().scan())):
        manager = Manager.of_source("example.com", cast("Any", source), plugin_dir=str(tmp_path))
        assert len(manager.look().resources) == 1


def test_a_look_that_finds_no_tree_says_so(tmp_path: Path) -> None:
    source: Any = SimpleNamespace(scan=lambda: None)
    with pytest.raises(InvalidValueError, match="not None; did it forget to return"):
        Manager.of_source("example.com", source, plugin_dir=str(tmp_path)).look()


@pytest.mark.parametrize(
    "seconds", [0, -1, 0.09, 86_400.5, float("nan"), float("inf"), 10**400, "x", "", None, [5]]
)
def test_looks_of_a_source_without_a_pause_or_without_an_end_are_refused(
    seconds: float, tmp_path: Path
) -> None:
    """The option, the value seen and what may be: neither a busy loop nor never again."""
    with pytest.raises(InvalidValueError, match=r"rescan_seconds .*: .* 0\.1 to 86400, such as 5"):
        Manager.of_source(
            "example.com", Source(), plugin_dir=str(tmp_path), rescan_seconds=seconds
        )


@pytest.mark.parametrize("option", ["plugin_dir", "kubelet_root"])
@pytest.mark.parametrize("path", ["", "a\0b", 5])
def test_what_names_no_directory_is_refused(option: str, path: str) -> None:
    """Rather than taken for the one that the process happens to be in."""
    for make in (Manager, Manager.of_source):
        with pytest.raises(InvalidValueError, match=f"{option} .*: must be the path"):
            make("example.com", Author(), **{option: path})  # type: ignore[arg-type]


async def test_a_file_in_the_place_of_the_directory_is_told_and_not_waited_for(
    tmp_path: Path,
) -> None:
    """It is no directory that is still to come."""
    (tmp_path / "file").touch()
    manager = Manager("example.com", Author(), plugin_dir=str(tmp_path / "file"))
    with pytest.raises(ServingError, match=r"Not a directory .*; it must be a directory"):
        await asyncio.wait_for(manager.serve(), 5)


@pytest.mark.parametrize("mode", ["register", "watcher", "auto"])
def test_what_is_checked_is_where_sockets_may_be(mode: str, short_path: Path) -> None:
    """With `auto` one of both will do."""
    bad, good, later = (short_path / name for name in ("file", "good", "later"))
    bad.touch()
    (good / "plugins_registry").mkdir(parents=True)

    def check(plugin_dir: Path, root: Path) -> None:
        Manager(
            "example.com",
            Author(),
            plugin_dir=str(plugin_dir),
            kubelet_root=str(root),
            registration=mode,
        ).check()

    check(good, good)
    check(later, later)
    for plugin_dir, root, passes in (
        (bad, good, mode != "register"),
        (good, bad, mode != "watcher"),
        (bad, bad, False),
        (bad, later, mode == "watcher"),
    ):
        if passes:
            check(plugin_dir, root)
        else:
            with pytest.raises(ServingError, match="Not a directory"):
                check(plugin_dir, root)


def test_a_root_that_can_hold_no_socket_is_refused_where_it_is_needed(tmp_path: Path) -> None:
    """`auto` goes without."""

    def manager(registration: str) -> Manager:
        return Manager(
            "example.com",
            Author(),
            plugin_dir=str(tmp_path),
            kubelet_root="/tmp/" + "x" * 90,  # noqa: S108
            registration=registration,
        )

    manager("auto").check()
    with pytest.raises(ServingError, match=r"plugins_registry .* bytes, Linux allows 107"):
        manager("watcher")


async def test_a_manager_serves_once(tmp_path: Path) -> None:
    """A second time is refused, not half done."""
    manager = Manager("example.com", Author(), plugin_dir=str(tmp_path))
    manager.stop()
    await manager.serve()
    with pytest.raises(InvalidValueError, match="serves once"):
        await manager.serve()


async def test_a_stop_before_the_start_holds(tmp_path: Path) -> None:
    """It ends as soon as it serves."""
    manager = Manager("example.com", Author(), plugin_dir=str(tmp_path))
    manager.stop()
    await asyncio.wait_for(manager.serve(), 5)


async def test_a_cancelled_manager_leaves_nothing(tmp_path: Path) -> None:
    """Whoever owns the loop may cancel it like any coroutine."""
    manager = Manager("example.com", Author(), plugin_dir=str(tmp_path))
    serving = asyncio.ensure_future(manager.serve())
    await asyncio.sleep(0)
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a look, no work


def test_a_source_can_be_looked_at_without_serving(tmp_path: Path) -> None:
    """With full names; a scanner cannot, for it loops."""
    manager = Manager.of_source("example.com", Source(), plugin_dir=str(tmp_path))
    assert list(manager.look().resources) == [ResourceName("example.com", "widget")]
    with pytest.raises(InvalidValueError, match="loops"):
        Manager("example.com", Author(), plugin_dir=str(tmp_path)).look()


def _configuration(directory: Path, *names: str) -> Configuration:
    rules = tuple(rule(f"example.com/{name}", {"name": name}) for name in names)
    return Configuration(
        settings=Settings(plugin_dir=str(directory)), rules=rules, source="a test"
    )


async def test_a_configuration_can_be_taken_before_it_serves(tmp_path: Path) -> None:
    """And is in force from the first look on."""
    journal = MemoryJournal()
    manager = Manager.configured(_configuration(tmp_path, "a"), journal=journal)
    manager.reload(_configuration(tmp_path, "b"))
    assert [event.added for event in journal.of(ConfigurationReloaded)] == [("example.com/b",)]
    manager.stop()
    await manager.serve()


async def test_reading_it_again_can_be_asked_for_before_it_serves(tmp_path: Path) -> None:
    """It is answered as soon as there is a loop."""
    journal = MemoryJournal()
    begin = _configuration(tmp_path, "a")
    manager = Manager.configured(begin, journal=journal, reread=lambda: begin)
    manager.reload()
    serving = asyncio.ensure_future(manager.serve())
    await asyncio.wait_for(journal.next(ConfigurationUnchanged), 5)
    manager.stop()
    await serving


def test_only_a_manager_made_of_a_configuration_takes_another(tmp_path: Path) -> None:
    """One around a scanner or a source of the author's own has nothing to do with it."""
    other = _configuration(tmp_path, "a")
    for manager in (
        Manager("example.com", Author(), plugin_dir=str(tmp_path)),
        Manager.of_source("example.com", Source(), plugin_dir=str(tmp_path)),
    ):
        for configuration in (other, None):
            with pytest.raises(InvalidValueError, match="goes by no configuration"):
                manager.reload(configuration)


def test_what_cannot_be_in_force_is_refused_to_the_caller(tmp_path: Path) -> None:
    """Rules about one resource twice; and reading again what nobody said how to read."""
    manager = Manager.configured(_configuration(tmp_path, "a"), journal=MemoryJournal())
    with pytest.raises(InvalidValueError, match="only one rule"):
        manager.reload(_configuration(tmp_path, "b", "b"))
    with pytest.raises(InvalidValueError, match="reread"):
        manager.reload()
