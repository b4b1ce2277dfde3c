"""How the twins end what they began."""

import asyncio
from typing import Any


async def ended(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and return when they have ended."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
