"""Stages for behaviours: a whole plugin over real gRPC, and a kubelet of each era."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.support.stage import NAMESPACE, Puppet, Raise, Stage, beside

from deviceplugin import Manager
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.domain.timing import Timing
from deviceplugin.testing.kubelet import FakeKubelet, Limits, Profile


@pytest.fixture(params=[Profile.V1_34, Profile.V1_37], ids=lambda profile: profile.version)
def profile(request: pytest.FixtureRequest) -> Profile:
    """The kubelets that a behaviour must hold with."""
    chosen: Profile = request.param
    return chosen


@pytest.fixture
def stage(tmp_path: Path, profile: Profile, caplog: pytest.LogCaptureFixture) -> Raise:
    """Make stages with a kubelet of the profile; nothing may be logged as an error on them."""

    @asynccontextmanager
    async def raised(
        *,
        start: bool = True,
        author: Puppet | None = None,
        timing: Timing | None = None,
        **options: Any,  # noqa: ANN401
    ) -> AsyncGenerator[Stage]:
        journal, puppet = MemoryJournal(), author or Puppet()
        directory = tmp_path / "plugins"
        directory.mkdir(exist_ok=True)
        manager = Manager(
            NAMESPACE, puppet, plugin_dir=str(directory), journal=journal, timing=timing, **options
        )
        kubelet = FakeKubelet(directory, profile=profile, limits=Limits(dial=1.0))
        if start:
            await beside(kubelet.start)
        serving = asyncio.create_task(manager.serve())
        try:
            yield Stage(
                manager=manager, puppet=puppet, kubelet=kubelet, journal=journal, serving=serving
            )
        finally:
            manager.stop()
            await serving
            await beside(kubelet.stop)
        assert list(directory.glob("dp-*")) == []
        assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []

    return raised
