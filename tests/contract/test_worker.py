"""Each worker obeys the laws of `Worker`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.adapters.system.worker import ThreadWorker
from deviceplugin.domain.ports.driven.worker import Worker
from deviceplugin.testing.contracts.worker import WorkerContract


class TestThreadWorker(WorkerContract):
    """A thread for each call."""

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[Worker]:
        yield ThreadWorker()


class TestInlineWorker(WorkerContract):
    """In the loop itself."""

    runs_beside = False

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[Worker]:
        yield InlineWorker()
