"""How commands are written: a line each, its first word the command's name."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

import attrs

from deviceplugin.app.simulation import commands as do
from deviceplugin.app.simulation.words import BadLineError, Words

COUNTED: Final = ("capacity", "allocatable", "allocated", "streams", "registrations")
"""What `wait` can wait for."""

_DEEPEST: Final = 8
"""How often `fails` may stand before a command."""

Reader: TypeAlias = Callable[[Words], do.Command]


@attrs.frozen
class Entry:
    """How a command is written, what it does, and how its words are read."""

    usage: str
    about: str
    read: Reader


def parse(line: str) -> do.Command | None:
    """Return what a line says, None if it is empty or a comment; raises `BadLineError`."""
    words = Words.of(line)
    if not words.any:
        return None
    name = words.word("a command")
    entry = GRAMMAR.get(name)
    if entry is None:
        near = difflib.get_close_matches(name, GRAMMAR, 1)
        hint = f"did you mean {near[0]}?" if near else "write help to see them all"
        raise BadLineError(f"there is no command {name!r}; {hint}")
    words.usage = entry.usage
    command = entry.read(words)
    words.end()
    return command


def parse_all(lines: Iterable[str]) -> list[tuple[int, do.Command]]:
    """Return the commands of a script with the numbers of their lines.

    Raises an `ExceptionGroup` of `BadLineError`, one for each bad line, which it names.
    """
    read: list[tuple[int, do.Command]] = []
    bad: list[BadLineError] = []
    for number, line in enumerate(lines, start=1):
        try:
            command = parse(line)
        except BadLineError as error:
            bad.append(BadLineError(f"{number}: {error}"))
        else:
            if command is not None:
                read.append((number, command))
    if bad:
        raise ExceptionGroup("the script cannot be used", bad)
    return read


def _always(command: do.Command) -> Reader:
    return lambda _: command


def _spoil(how: str) -> Reader:
    def read(words: Words) -> do.Command:
        seconds = words.seconds("SECONDS") if how == "late" else 0.0
        times = words.number("TIMES", 1, least=1)
        resource = words.resource() if words.option("of") else None
        reason = (words.rest() or "rejected by the script") if how == "reject" else ""
        return do.Spoil(how=how, times=times, resource=resource, reason=reason, seconds=seconds)

    return read


def _delay(words: Words) -> do.Command:
    bind = words.seconds("SECONDS")
    return do.Delay(bind=bind, listen=words.seconds("SECONDS") if words.option("listen") else 0.0)


def _allocate(words: Words) -> do.Command:
    wants: dict[str, int] = {}
    init: int | None = None
    pod, namespace = None, "default"
    given: set[str] = set()
    while words.any:
        word = words.next
        if word in given:
            raise words.wrong(f"{word} stands twice")
        given.add(word)
        if words.option("--init"):
            init = words.number("M", least=1)
        elif words.option("--pod"):
            pod = words.word("NAME")
        elif words.option("--namespace"):
            namespace = words.word("NAMESPACE")
        else:
            resource = words.resource()
            wants[resource] = words.number("N")
    if not wants:
        raise words.wrong("RESOURCE is missing")
    return do.Allocate(wants=wants, init=init, pod=pod, namespace=namespace)


def _pre_start(words: Words) -> do.Command:
    pod = words.word("POD")
    return do.PreStart(pod, words.word("CONTAINER") if words.any else "main")


def _wait(words: Words) -> do.Command:
    resource = words.resource()
    what = words.one_of("WHAT", *COUNTED)
    count = words.number("N")
    within = words.seconds("SECONDS") if words.option("within") else 10.0
    return do.Wait(resource=resource, what=what, count=count, within=within)


def _fails(words: Words) -> do.Command:
    if words.repeated("fails") >= _DEEPEST:
        raise words.wrong(f"fails stands more than {_DEEPEST} times before a command")
    command = parse(words.quoted_rest())
    if command is None:
        raise words.wrong("COMMAND is missing")
    return do.Fails(command)


GRAMMAR: Final[Mapping[str, Entry]] = {
    entry.usage.split()[0]: entry
    for entry in (
        Entry("start", "clean the directory, then listen", _always(do.Start())),
        Entry("stop", "die as on SIGTERM", _always(do.Stop())),
        Entry("crash", "die as on SIGKILL", _always(do.Crash())),
        Entry(
            "restart [GAP]",
            "die, and start again after GAP seconds",
            lambda words: do.Restart(words.seconds("GAP", 0.0)),
        ),
        Entry(
            "cut RESOURCE",
            "break its streams and nothing else",
            lambda words: do.Cut(words.resource()),
        ),
        Entry(
            "reject [TIMES [of RESOURCE] [REASON]]", "refuse the next Registers", _spoil("reject")
        ),
        Entry("hang [TIMES [of RESOURCE]]", "do not answer the next Registers", _spoil("hang")),
        Entry(
            "drop [TIMES [of RESOURCE]]",
            "register, and cut the connection in place of the answer",
            _spoil("drop"),
        ),
        Entry(
            "late SECONDS [TIMES [of RESOURCE]]",
            "answer the next Registers so much later",
            _spoil("late"),
        ),
        Entry(
            "delay SECONDS [listen SECONDS]",
            "at each start, wait between cleaning and kubelet.sock, and before it listens",
            _delay,
        ),
        Entry(
            "delete-directory",
            "delete it under the living kubelet, with all files in it",
            _always(do.DeleteDirectory()),
        ),
        Entry("make-directory", "make it anew", _always(do.MakeDirectory())),
        Entry(
            "link-directory",
            "move it aside and put a link to it in its place",
            _always(do.LinkDirectory()),
        ),
        Entry(
            "allocate RESOURCE N [RESOURCE N ...] [--init M] [--pod NAME] [--namespace NAMESPACE]",
            "admit a pod, after an init container that asks for M of each",
            _allocate,
        ),
        Entry(
            "again POD",
            "admit a pod again that runs, as after a restart",
            lambda words: do.Again(words.word("POD")),
        ),
        Entry(
            "prefer RESOURCE N",
            "ask which N of the free devices the plugin would rather give",
            lambda words: do.Prefer(words.resource(), words.number("N")),
        ),
        Entry("pre-start POD [CONTAINER]", "start, or start again, a container", _pre_start),
        Entry("remove POD", "end a pod", lambda words: do.Remove(words.word("POD"))),
        Entry("pod-resources", "ask who holds what", _always(do.PodResources())),
        Entry("show", "show capacity and allocatable of each resource", _always(do.Show())),
        Entry(
            f"wait RESOURCE {'|'.join(COUNTED)} N [within SECONDS]",
            "go on once it is so; else fail after ten seconds",
            _wait,
        ),
        Entry("sleep SECONDS", "do nothing", lambda words: do.Sleep(words.seconds("SECONDS"))),
        Entry("fails COMMAND", "do something that must fail", _fails),
        Entry("help", "show this", _always(do.Help())),
        Entry("quit", "end, and the kubelet with it", _always(do.Quit())),
    )
}
"""All commands by name."""
