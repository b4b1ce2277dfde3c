"""`Manager` in an author's own program: it serves, and leaves the process to its owner."""

import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.support.process import PATIENCE, Process, eventually, ran

from deviceplugin.testing.kubelet import FakeKubelet

PLUGIN: Final = """
import signal, sys, threading
from deviceplugin import DeviceInfo, DeviceTree, Manager

def tree(count=1):
    found = DeviceTree()
    for number in range(count):
        found.add_device(f"widget{number}", "dev0", DeviceInfo())
    return found

def manager(scan):
    plugin = type("Plugin", (), {"scan": staticmethod(scan)})()
    return Manager("example.com", plugin, plugin_dir=sys.argv[1])
"""
WIDGET: Final = "example.com/widget0"


def script(text: str) -> tuple[str, ...]:
    """Return the command that runs a program after `PLUGIN`."""
    return (sys.executable, "-c", PLUGIN + text)


def await_listed(kubelet: FakeKubelet, *, count: int = 1) -> None:
    for number in range(count):
        kubelet.await_resource(
            f"example.com/widget{number}",
            lambda seen: seen.streams == 1 and seen.allocatable == 1,
            PATIENCE,
        )


# --- at import -----------------------------------------------------------------------------------

IMPORTED: Final = """
import os, sys, threading
import deviceplugin
print(threading.active_count(), len(os.listdir("/proc/self/task")))
print(sorted({"grpc", "dependency_injector", "click", "rich", "yaml"} & set(sys.modules)))
"""


def test_importing_starts_no_thread_and_brings_no_framework_along(place: Path) -> None:
    """Values and ports are there for attrs alone; gRPC and the injector come with `Manager`."""
    ended = ran(sys.executable, "-c", IMPORTED, place=place)
    assert (ended.code, ended.out, ended.err) == (0, "1 1\n[]\n", "")


# --- while it runs -------------------------------------------------------------------------------

HANDLERS: Final = """
def handlers():
    return {number: signal.getsignal(number) for number in signal.valid_signals()}

def scan(notifier):
    notifier.notify(tree())
    seen.append(handlers())

signal.signal(signal.SIGTERM, mine := lambda *_: None)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
before, seen = handlers(), []
manager(scan).run()
print(before[signal.SIGTERM] is mine, seen == [before], handlers() == before)
"""


def test_run_ends_when_scan_returns_and_touches_no_signal_handler(
    place: Path, plugins: Path
) -> None:
    """Neither before, within nor after."""
    ended = ran(*script(HANDLERS), str(plugins), place=place)
    assert (ended.code, ended.out, ended.err) == (0, "True True True\n", "")


FOR_EVER: Final = """
count = int(sys.argv[2])

def scan(notifier):
    notifier.notify(tree(count))
    threading.Event().wait()

serving = manager(scan)
"""


def test_a_hundred_resources_cost_no_threads(place: Path) -> None:
    """A process with a hundred open lists comes to rest with the threads of one with one list."""
    with ExitStack() as stack:
        one, hundred = (_running(stack, place, count) for count in (1, 100))
        eventually(lambda: hundred.threads <= one.threads)


def _running(stack: ExitStack, place: Path, count: int) -> Process:
    directory = place / str(count)
    command = (*script(FOR_EVER + "serving.run()"), str(directory), str(count))
    kubelet = stack.enter_context(FakeKubelet(directory))
    process = stack.enter_context(Process(*command, place=place))
    await_listed(kubelet, count=count)
    return process


INTERRUPTED: Final = """
from pathlib import Path
try:
    serving.run()
except KeyboardInterrupt:
    print("passed on", *Path(sys.argv[1]).glob("dp-*"))
    raise
"""


def test_an_interrupt_closes_everything_and_passes_on(
    place: Path, plugins: Path, kubelet: FakeKubelet
) -> None:
    """When the author sees it, no socket is left; the scan that never returns holds up nothing."""
    command = (*script(FOR_EVER + INTERRUPTED), str(plugins), "1")
    with Process(*command, place=place) as process:
        await_listed(kubelet)
        process.send(signal.SIGINT)
        ended = process.ended()
    assert ended.out == "passed on\n"
    assert ended.code == -signal.SIGINT
    kubelet.await_resource(WIDGET, lambda seen: seen.streams == 0)


STOPPED: Final = """
signal.signal(signal.SIGTERM, lambda *_: serving.stop())
serving.run()
print("over")
"""


def test_a_handler_of_the_authors_own_may_stop_it(
    place: Path, plugins: Path, kubelet: FakeKubelet
) -> None:
    """A plain scan that never returns holds up neither `run` nor the end of the process."""
    command = (*script(FOR_EVER + STOPPED), str(plugins), "1")
    with Process(*command, place=place) as process:
        await_listed(kubelet)
        process.send(signal.SIGTERM)
        ended = process.ended()
    assert (ended.code, ended.out, ended.err) == (0, "over\n", "")
    assert list(plugins.glob("dp-*")) == []


ON_A_THREAD: Final = """
told = {signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, told)
thread = threading.Thread(target=serving.run)
thread.start()
signal.sigwait(told)
serving.stop()
thread.join()
print("over")
"""


def test_run_works_on_any_thread(place: Path, plugins: Path, kubelet: FakeKubelet) -> None:
    """The main thread stays the author's; it stops the plugin from there."""
    command = (*script(FOR_EVER + ON_A_THREAD), str(plugins), "1")
    with Process(*command, place=place) as process:
        await_listed(kubelet)
        process.send(signal.SIGUSR1)
        ended = process.ended()
    assert (ended.code, ended.out, ended.err) == (0, "over\n", "")
    assert list(plugins.glob("dp-*")) == []
