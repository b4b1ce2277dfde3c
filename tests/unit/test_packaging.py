"""What is shipped is what is there, and it runs with every library that it says it runs with."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
WIRE = SOURCE / "adapters" / "kubelet" / "wire"
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONSTRAINTS = ["constraints.txt", "constraints/lowest.txt", "constraints/protos.txt"]


def pins(name: str) -> dict[str, Version]:
    """Return the versions that a file of constraints fixes, by canonical name."""
    lines = (ROOT / name).read_text().splitlines()
    pairs = [line.split("==") for line in lines]
    return {canonicalize_name(project): Version(version) for project, version in pairs}


def requirements() -> dict[str, Requirement]:
    """Return what the package may need at run time, by canonical name."""
    project = PYPROJECT["project"]
    texts: list[str] = [*project["dependencies"], *project["optional-dependencies"]["metrics"]]
    return {canonicalize_name(each.name): each for each in map(Requirement, texts)}


def lower_bound(requirement: Requirement) -> Version:
    """Return the version from which on a requirement is met."""
    (bound,) = (each.version for each in requirement.specifier if each.operator == ">=")
    return Version(bound)


def test_every_package_of_the_tree_is_shipped() -> None:
    """A folder with code is listed in pyproject.toml, and nothing is listed that isn't there."""
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    names = {".".join(("deviceplugin", *each.relative_to(SOURCE).parts)) for each in folders}
    assert PYPROJECT["tool"]["setuptools"]["packages"] == sorted(names)


def test_every_folder_with_code_is_a_real_package() -> None:
    """Without __init__.py a folder imports all the same, but tools overlook it."""
    folders = {path.parent for path in SOURCE.rglob("*.py")}
    assert [each for each in folders if not (each / "__init__.py").is_file()] == []


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_hold_released_versions_and_nothing_else(name: str) -> None:
    """No option, no address, no marker, no pre-release, no project twice."""
    lines = (ROOT / name).read_text().splitlines()
    assert [each for each in lines if not re.fullmatch(r"[\w.-]+==[0-9]+(\.[0-9]+)*", each)] == []
    assert len(pins(name)) == len(lines)


def test_lowest_is_where_the_requirements_begin() -> None:
    """Otherwise `make test-lowest` would prove something about other versions."""
    assert pins("constraints/lowest.txt") == {
        name: lower_bound(requirement) for name, requirement in requirements().items()
    }


def test_the_newest_versions_are_allowed() -> None:
    """An upper bound stands only where something breaks, and not below what we develop with."""
    newest = pins("constraints.txt")
    assert [
        name for name, each in requirements().items() if not each.specifier.contains(newest[name])
    ] == []


@pytest.mark.parametrize("path", sorted(WIRE.glob("*_pb2.py")), ids=lambda path: path.name)
def test_messages_load_with_the_oldest_protobuf(path: Path) -> None:
    """Generated code refuses a protobuf older than its generator."""
    found = re.search(r"^# Protobuf Python Version: (.+)$", path.read_text(), re.MULTILINE)
    assert found is not None
    assert Version(found[1]) <= lower_bound(requirements()["protobuf"])


@pytest.mark.parametrize("path", sorted(WIRE.glob("*_pb2.py")), ids=lambda path: path.name)
def test_messages_load_with_the_newest_protobuf(path: Path) -> None:
    """Generated code is promised to work with its own major and the next one, not further."""
    found = re.search(r"^# Protobuf Python Version: ([0-9]+)", path.read_text(), re.MULTILINE)
    assert found is not None
    beyond = Version(f"{int(found[1]) + 2}.0")
    assert not requirements()["protobuf"].specifier.contains(beyond)


@pytest.mark.parametrize("path", sorted(WIRE.glob("*_pb2_grpc.py")), ids=lambda path: path.name)
def test_stubs_load_with_the_oldest_grpcio(path: Path) -> None:
    """Generated code refuses a grpcio older than its generator."""
    found = re.search(r"^GRPC_GENERATED_VERSION = '(.+)'$", path.read_text(), re.MULTILINE)
    assert found is not None
    assert Version(found[1]) <= lower_bound(requirements()["grpcio"])


def test_the_wire_is_complete() -> None:
    """Each of the three protocols has its messages and stubs, and types for both."""
    protocols = {path.parent.parent.name for path in (ROOT / "protos").rglob("*.proto")}
    wanted = {
        f"{protocol}_{part}.{kind}"
        for protocol in protocols
        for part in ("pb2", "pb2_grpc")
        for kind in ("py", "pyi")
    }
    assert {path.name for path in WIRE.glob("*.py*")} == wanted | {"__init__.py"}
