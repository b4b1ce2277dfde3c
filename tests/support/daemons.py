"""Threads that nobody waits for: a test that fails half-way must not keep the run from ending."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

_Result = TypeVar("_Result")
_Given = ParamSpec("_Given")


class Daemons(ThreadPoolExecutor):
    """Does each piece of work on a thread of its own, which ends with the process at the latest.

    The standard library's pool waits for its own when the process ends, for ever if need be; gRPC
    takes nothing but one.
    """

    def submit(
        self, fn: Callable[_Given, _Result], /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> Future[_Result]:
        """Begin the work at once."""
        done: Future[_Result] = Future()

        def work() -> None:
            try:
                done.set_result(fn(*args, **kwargs))
            except BaseException as problem:  # noqa: BLE001 - whoever asked for it is told
                done.set_exception(problem)

        threading.Thread(target=work, daemon=True).start()
        return done
