"""What the documents say of the architecture holds."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType
from typing import Protocol

import pytest

import deviceplugin.adapters
import deviceplugin.adapters.memory
import deviceplugin.domain.ports.driven as driven_ports
import deviceplugin.domain.ports.driving as driving_ports
from deviceplugin.testing import contracts

AUTHORS_OWN = {
    "Scanner",
    "Allocator",
    "PostAllocator",
    "PreferredAllocator",
    "ContainerPreStarter",
}
"""Implemented by those who write a plugin, not by an adapter."""


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)


def _classes(package: ModuleType) -> Iterator[type]:
    for module in _modules(package):
        for _, each in inspect.getmembers(module, inspect.isclass):
            if each.__module__ == module.__name__:
                yield each


def _ports(package: ModuleType) -> list[type]:
    return [each for each in _classes(package) if _is_port(each)]


def _is_port(candidate: type) -> bool:
    return Protocol in candidate.__bases__


DRIVEN = [port for port in _ports(driven_ports) if port.__name__ not in AUTHORS_OWN]


@pytest.mark.parametrize("port", DRIVEN, ids=lambda port: port.__name__)
def test_every_driven_port_has_a_twin_and_a_contract(port: type) -> None:
    """A twin in memory inherits it, and a suite of laws is called after it or says it in words."""
    twins = [each for each in _classes(deviceplugin.adapters.memory) if port in each.__mro__[1:]]
    assert twins
    said = " ".join((module.__doc__ or "") for module in _modules(contracts))
    assert f"`{port.__name__}`" in said


@pytest.mark.parametrize("port", DRIVEN, ids=lambda port: port.__name__)
def test_every_driven_port_has_an_adapter(port: type) -> None:
    """Something other than the twin inherits it."""
    real = [
        each
        for each in _classes(deviceplugin.adapters)
        if port in each.__mro__[1:] and ".memory" not in each.__module__
    ]
    assert real


@pytest.mark.parametrize(
    "port", _ports(driven_ports) + _ports(driving_ports), ids=lambda port: port.__name__
)
def test_ports_have_few_methods_and_all_are_abstract(port: type) -> None:
    """At most four, so that an adapter is quickly written; a forgotten one cannot go unnoticed."""
    own = [name for name in vars(port) if callable(getattr(port, name)) and name[0] != "_"]
    own += [name for name, each in vars(port).items() if isinstance(each, property)]
    assert 1 <= len(own) <= 4
    abstract: frozenset[str] = getattr(port, "__abstractmethods__", frozenset())
    assert set(own) <= abstract


def test_every_public_name_is_documented() -> None:
    """Modules, classes and functions say what they are for."""
    import deviceplugin  # noqa: PLC0415

    silent = [
        f"{module.__name__}.{name}"
        for module in _modules(deviceplugin)
        if ".wire." not in module.__name__
        for name, each in vars(module).items()
        if not name.startswith("_")
        and getattr(each, "__module__", None) == module.__name__
        and (inspect.isclass(each) or inspect.isfunction(each))
        and not inspect.getdoc(each)
    ]
    assert silent == []


def test_modules_are_small() -> None:
    """None has more than 250 lines: what grows beyond that does more than one thing."""
    import deviceplugin  # noqa: PLC0415

    lines = {
        module.__name__: len(inspect.getsource(module).splitlines())
        for module in _modules(deviceplugin)
        if ".wire." not in module.__name__ and inspect.getsource(module)
    }
    assert {name: count for name, count in lines.items() if count > 250} == {}
