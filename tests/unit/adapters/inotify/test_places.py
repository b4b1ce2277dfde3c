"""The names that decide what directory a path means."""

from pathlib import Path

import pytest

from deviceplugin.adapters.inotify.places import Places, places


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder whose own path has no links."""
    return tmp_path.resolve()


def _named(*names: Path) -> tuple[tuple[str, str], ...]:
    return tuple((str(name.parent), name.name) for name in names)


def test_a_plain_path_is_decided_by_its_last_name(root: Path) -> None:
    assert places(f"{root}/./") == Places(_named(root), str(root))
    assert places(f"{root}//x/../../{root.name}") == Places(_named(root / "x"), None)


def test_a_missing_name_is_the_last_that_counts(root: Path) -> None:
    """The first one that is missing is the first that can appear."""
    assert places(f"{root}/a/b/c") == Places(_named(root / "a"), None)
    (root / "a").touch()
    assert places(f"{root}/a/b/c") == Places(_named(root / "a" / "b"), None)


def test_each_link_on_the_way_counts(root: Path) -> None:
    """Relative and absolute ones, in the middle and at the end, and links to links."""
    real = root / "data" / "kubelet" / "plugins"
    real.mkdir(parents=True)
    (root / "lib").symlink_to("data")
    (root / "data" / "var").symlink_to(root / "lib" / "kubelet")
    (root / "data" / "kubelet" / "link").symlink_to("../../data/./kubelet/plugins")
    assert places(f"{root}/lib/var/link") == Places(
        _named(root / "lib", root / "data/var", root / "lib", root / "data/kubelet/link", real),
        str(real),
    )


def test_a_dangling_link_waits_for_its_target(root: Path) -> None:
    (root / "link").symlink_to("missing/plugins")
    assert places(f"{root}/link") == Places(_named(root / "link", root / "missing"), None)


def test_links_in_a_circle_lead_nowhere(root: Path) -> None:
    (root / "to").symlink_to("fro")
    (root / "fro").symlink_to("to")
    found = places(f"{root}/to")
    assert found.directory is None
    assert set(found.names) == set(_named(root / "to", root / "fro"))


def test_a_relative_path_begins_where_we_are(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "plugins").mkdir()
    monkeypatch.chdir(root)
    assert places("plugins") == places(f"{root}/plugins")


def test_the_root_is_a_directory_too() -> None:
    assert places("/").directory == "/"
