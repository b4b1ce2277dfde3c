"""Where code that may block runs."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol, TypeVar

_Result = TypeVar("_Result")


class Worker(Protocol):
    """Runs blocking calls beside the event loop."""

    @abstractmethod
    async def run(self, call: Callable[[], _Result]) -> _Result:
        """Return or raise what `call` does. If cancelled, the call is left to itself.

        A call that never ends holds up neither the loop nor the end of the process.
        """
        ...
