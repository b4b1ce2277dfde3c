"""The laws of telling the metrics: whoever asks is answered, and nobody can hinder the plugin."""

import asyncio
import socket
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import partial
from urllib.request import urlopen

import pytest
from prometheus_client import CollectorRegistry, Counter

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.prometheus.server import MAX_REQUESTS, RETRY_SECONDS, MetricsServer
from deviceplugin.domain.monitoring_events import MetricsServed, MetricsUnavailable


class Served:
    """A server with one counter that is at 1."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.journal = MemoryJournal()
        self.clock = ManualClock()
        registry = CollectorRegistry()
        Counter("asked", "How often.", registry=registry).inc()
        self._server = MetricsServer(host, port, registry, clock=self.clock, journal=self.journal)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Serve in the meantime."""
        task = asyncio.create_task(self._server.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def address(self) -> tuple[str, int]:
        """Return where it serves, once it does."""
        served = await asyncio.wait_for(self.journal.next(MetricsServed), 10)
        host, _, port = served.address.rpartition(":")
        return host.strip("[]"), int(port)

    async def scraped(self) -> str:
        """Return what it tells."""
        host, port = await self.address()
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"
        return await asyncio.to_thread(_text, url)


def _text(url: str) -> str:
    with urlopen(url, timeout=10) as answer:  # noqa: S310 - our own, on the loopback
        return str(answer.read().decode())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_whoever_asks_is_told(host: str) -> None:
    served = Served(host)
    async with served.running():
        assert "asked_total 1.0" in await served.scraped()


async def test_a_port_that_is_taken_is_said_once_and_tried_again() -> None:
    """The plugin goes on meanwhile; the way out is named."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        served = Served(port=other.getsockname()[1])
        async with served.running():
            unavailable = await asyncio.wait_for(served.journal.next(MetricsUnavailable), 10)
            assert "free it, or choose another one" in unavailable.reason
            for _ in range(3):
                await served.clock.advance(RETRY_SECONDS)
                await asyncio.sleep(0.05)
            assert served.journal.events == (unavailable,)
            other.close()
            while not served.journal.of(MetricsServed):
                await served.clock.advance(RETRY_SECONDS)
                await asyncio.sleep(0.01)
            assert len(served.journal.events) == 2


async def test_a_host_that_is_not_there_is_said() -> None:
    served = Served("192.0.2.1", 9100)
    async with served.running():
        unavailable = await asyncio.wait_for(served.journal.next(MetricsUnavailable), 10)
        assert unavailable.address == "192.0.2.1:9100"
        assert unavailable.reason


async def test_peers_that_say_nothing_hinder_nobody() -> None:
    """They take up a bounded number of threads, and who comes beyond that is sent away."""
    served = Served()
    async with served.running():
        address = await served.address()
        before = threading.active_count()
        connect = partial(socket.create_connection, address, 10)
        silent = [await asyncio.to_thread(connect) for _ in range(MAX_REQUESTS + 5)]
        try:
            last = silent[-1]
            assert await asyncio.to_thread(last.recv, 1) == b""
            assert threading.active_count() - before <= MAX_REQUESTS + 2
        finally:
            for each in silent:
                each.close()


async def test_at_the_end_the_port_is_free_and_nothing_waits() -> None:
    served = Served()
    async with served.running():
        address = await served.address()
        await served.clock.settle()
    with socket.create_server(address):
        assert len(asyncio.all_tasks()) == 1


async def test_nothing_of_it_waits_in_a_thread_of_its_own() -> None:
    """A plugin that nobody asks sleeps."""
    before = threading.active_count()
    served = Served()
    async with served.running():
        await served.address()
        others = [each.name for each in threading.enumerate() if "asyncio" not in each.name]
        assert len(others) <= before
