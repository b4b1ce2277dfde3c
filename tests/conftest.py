"""How every test runs: coroutines in the one loop, properties without a stop-watch."""

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis
import pytest

from deviceplugin.testing.loop import run

# A deadline would measure the machine, not the code.
hypothesis.settings.register_profile("laws", deadline=None)
# What `make fuzz` looks for is rare: many examples, which its processes share; what one of them
# finds is kept for the next run. Why an example fails is for whoever runs it again.
hypothesis.settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "100000")),
    phases=set(hypothesis.Phase) - {hypothesis.Phase.explain},
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "laws"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine function in the loop that all tests share."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Give a test a directory of its own, of a short name: a socket's path has 107 bytes at most.

    That of pytest has the names of user and test in it.
    """
    with TemporaryDirectory(prefix="dp-", ignore_cleanup_errors=True) as directory:
        yield Path(directory)
