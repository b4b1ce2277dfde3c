"""By what name a fake kubelet calls a plugin that it found, seen by a peer that is not gRPC's."""

import asyncio
from pathlib import Path
from urllib.parse import unquote

from tests.support.http2 import listening
from tests.support.process import eventually
from tests.support.stage import beside

from deviceplugin.testing.kubelet import FakeKubelet, Limits


async def test_whom_it_found_it_calls_by_the_path(tmp_path: Path) -> None:
    """With its slashes escaped, as the real one's plugin watcher does."""
    kubelet = FakeKubelet(tmp_path, limits=Limits(registry_look=0.01))
    kubelet.registry.mkdir(exist_ok=True)
    path = kubelet.registry / "p.sock"
    async with listening(path) as calls:
        await beside(kubelet.start)
        try:
            await asyncio.wait_for(beside(lambda: eventually(lambda: calls)), 30)
        finally:
            await beside(kubelet.stop)
    said = {headers[":authority"] for headers in calls}
    assert {unquote(each) for each in said} == {str(path)}
    assert not any("/" in each for each in said)
