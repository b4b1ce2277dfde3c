"""A configuration is read again when it is at rest, or when asked; a bad one changes nothing."""

import asyncio
from typing import TYPE_CHECKING, Self

import pytest

from deviceplugin.adapters.memory.clock import ManualClock
from deviceplugin.adapters.memory.journal import MemoryJournal
from deviceplugin.adapters.memory.watched_file import MemoryFile
from deviceplugin.adapters.memory.worker import InlineWorker
from deviceplugin.app.settings import (
    Configuration,
    Fault,
    InvalidConfigurationError,
    Place,
    Settings,
)
from deviceplugin.app.use_cases.reload_configuration import ReloadConfiguration
from deviceplugin.app.use_cases.watch_configuration import MAX_FAULTS, WatchConfiguration
from deviceplugin.domain.configuration_events import (
    ConfigurationRejected,
    ConfigurationRejectedAgain,
    ConfigurationReloaded,
    ConfigurationUnchanged,
)
from deviceplugin.domain.discovery.rulebook import Rulebook
from deviceplugin.domain.errors import InvalidValueError
from deviceplugin.domain.timing import Rereading
from deviceplugin.testing.rules import rule

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = "plugin.yaml"
TIMING = Rereading()
MOMENT = 0.01


def _says(names: str) -> Configuration:
    rules = tuple(rule(f"x.local/{name}", {"name": name}) for name in names)
    return Configuration(settings=Settings(), rules=rules, source=SOURCE)


def _bad(*texts: str) -> InvalidConfigurationError:
    return InvalidConfigurationError(
        [Fault(source=SOURCE, text=text, place=Place(3, 5)) for text in texts]
    )


class Watching:
    """A plugin that offers resource a, and the file that says so."""

    def __init__(self, *, has_file: bool = True) -> None:
        self.clock = ManualClock()
        self.journal = MemoryJournal()
        self.file = MemoryFile(self.clock)
        self.text: str | Exception = "a"
        self.while_read: Callable[[], None] | None = None
        self.refuses = False
        self.reads = 0
        self.in_force: list[str] = []
        reload = ReloadConfiguration(
            configuration=_says("a"),
            follow=self._follow,
            policies={},
            renew=self._nothing,
            every=self._nothing,
            look_again=lambda: None,
            journal=self.journal,
        )
        self.watch = WatchConfiguration(
            source=SOURCE,
            file=self.file if has_file else None,
            reread=self._reread,
            reload=reload,
            worker=InlineWorker(),
            clock=self.clock,
            journal=self.journal,
        )
        if has_file:
            self.file.write()

    def _follow(self, rules: Rulebook) -> None:
        if self.refuses:
            raise InvalidValueError("each resource may have only one rule")
        self.in_force.append("".join(str(each.resource)[-1] for each in rules))

    def _nothing(self, _: object) -> None:
        pass

    def _reread(self) -> Configuration:
        self.reads += 1
        said, meanwhile, self.while_read = self.text, self.while_read, None
        if meanwhile is not None:
            meanwhile()
        if isinstance(said, Exception):
            raise said
        return _says(said)

    async def __aenter__(self) -> Self:
        self.task = asyncio.create_task(self.watch.run())
        await self.clock.advance(TIMING.settle + TIMING.doubt + MOMENT)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})
        assert self.task.cancelled()
        self.watch.close()

    def write(self, text: str | Exception) -> None:
        """Let the file say something else."""
        self.text = text
        self.file.write()

    async def rest(self, seconds: float = TIMING.settle + TIMING.doubt + MOMENT) -> None:
        """Leave the file alone."""
        await self.clock.advance(seconds)

    async def ask(self) -> None:
        """Ask for it to be read, and let it be."""
        self.watch.ask()
        await self.clock.settle()

    def kinds(self) -> list[str]:
        """Return the kinds of events so far."""
        return [type(event).__name__ for event in self.journal.events]


async def test_what_a_file_says_now_is_in_force_soon() -> None:
    """Each time that it changes, a moment after it has come to rest."""
    async with Watching() as it:
        for text in ("ab", "b", "abc"):
            it.write(text)
            await it.rest(TIMING.settle - MOMENT)
            assert it.in_force[-1:] != [text]
            await it.rest(2 * MOMENT)
            assert it.in_force[-1:] == [text]
        assert it.kinds() == ["ConfigurationReloaded"] * 3


async def test_a_file_that_changed_before_it_was_watched_is_read() -> None:
    """Between the reading of it that the plugin was made of, and the first look."""
    it = Watching()
    it.text = "b"
    async with it:
        assert it.in_force == ["b"]


async def test_the_same_content_tells_nobody_anything() -> None:
    """Written or replaced: a ConfigMap is swapped as a whole for another key's sake."""
    async with Watching() as it:
        for change in (it.file.write, it.file.replace):
            change()
            await it.rest()
        assert it.reads == 3
        assert (it.in_force, it.journal.events) == ([], ())


async def test_a_file_that_rests_is_not_read_again() -> None:
    """Looks at it are cheap; hints that were for nothing cost nothing else."""
    async with Watching() as it:
        for _ in range(10):
            it.file.wake()
            await it.rest(60)
        assert it.reads == 1


@pytest.mark.parametrize("swap", [True, False])
async def test_a_file_that_is_gone_for_a_moment_is_no_fault(*, swap: bool) -> None:
    """Editors and tools remove it and write another one."""
    async with Watching() as it:
        it.text = FileNotFoundError("no such file")
        it.file.remove()
        await it.rest(TIMING.settle + TIMING.doubt - MOMENT)
        it.text = "b"
        (it.file.replace if swap else it.file.write)()
        await it.rest()
        assert it.in_force == ["b"]
        assert it.kinds() == ["ConfigurationReloaded"]


async def test_a_file_that_is_gone_for_good_is_told_and_the_last_one_stays() -> None:
    """Until it is back."""
    async with Watching() as it:
        it.text = _bad("cannot be read")
        it.file.remove()
        await it.rest()
        assert (it.in_force, it.kinds()) == ([], ["ConfigurationRejected"])
        it.write("b")
        await it.rest()
        assert it.in_force == ["b"]


async def test_a_half_written_file_is_not_called_bad() -> None:
    """However many steps its writer takes, if none takes too long."""
    async with Watching() as it:
        for _ in range(20):
            it.write(_bad("the end is missing"))
            await it.rest(TIMING.settle + TIMING.doubt - MOMENT)
        it.write("ab")
        await it.rest()
        assert it.in_force == ["ab"]
        assert it.kinds() == ["ConfigurationReloaded"]


async def test_a_bad_file_is_told_with_all_its_faults_and_changes_nothing() -> None:
    async with Watching() as it:
        it.write(_bad("unknown key", "not a list"))
        await it.rest()
        assert it.in_force == []
        assert it.journal.events == (
            ConfigurationRejected(
                source=SOURCE,
                faults=("plugin.yaml:3:5: unknown key", "plugin.yaml:3:5: not a list"),
                failures=1,
            ),
        )


async def test_failures_are_counted_until_a_good_file_ends_them() -> None:
    """The same faults once more are for those who count; a file as it was is worth a line then."""
    async with Watching() as it:
        for faults in (["x"], ["x"], ["y"]):
            it.write(_bad(*faults))
            await it.rest()
        it.write("a")
        await it.rest()
        it.write(_bad("y"))
        await it.rest()
        assert it.kinds() == [
            "ConfigurationRejected",
            "ConfigurationRejectedAgain",
            "ConfigurationRejected",
            "ConfigurationUnchanged",
            "ConfigurationRejected",
        ]
        rejected = it.journal.of(ConfigurationRejected)
        assert [event.failures for event in rejected] == [1, 2, 3, 1]
        assert issubclass(ConfigurationRejectedAgain, ConfigurationRejected)


async def test_whoever_asks_is_answered_at_once() -> None:
    """Good, bad or the same: each asking has an answer, and none waits for rest."""
    async with Watching() as it:
        await it.ask()
        it.text = "b"
        await it.ask()
        it.write(_bad("x"))
        await it.ask()
        await it.ask()
        assert it.kinds() == [
            "ConfigurationUnchanged",
            "ConfigurationReloaded",
            "ConfigurationRejected",
            "ConfigurationRejected",
        ]
        await it.rest()
        assert len(it.kinds()) == 4, "what was answered is not told a second time"


async def test_asking_cuts_a_wait_for_rest_short() -> None:
    async with Watching() as it:
        it.write(_bad("x"))
        await it.rest(TIMING.settle + MOMENT)
        assert it.kinds() == []
        await it.ask()
        assert it.kinds() == ["ConfigurationRejected"]


async def test_asking_before_it_runs_is_not_lost() -> None:
    it = Watching()
    it.watch.ask()
    async with it:
        assert it.journal.of(ConfigurationUnchanged) != ()


async def test_without_a_file_it_is_read_when_asked() -> None:
    """As with the presets."""
    async with Watching(has_file=False) as it:
        it.text = "ab"
        await it.rest(1000)
        assert it.reads == 0
        await it.ask()
        assert it.in_force == ["ab"]


async def test_a_change_that_nobody_told_of_is_found() -> None:
    """By a slow poll."""
    async with Watching() as it:
        it.file.deaf = True
        it.write("ab")
        await it.rest(TIMING.poll + TIMING.settle)
        assert it.in_force == ["ab"]


async def test_what_changes_while_it_is_read_is_read_again() -> None:
    """Half of one and half of the other is never in force."""
    async with Watching() as it:
        it.while_read = lambda: it.write("abc")
        it.write("ab")
        await it.rest()
        assert it.in_force == ["abc"]


@pytest.mark.parametrize("error", [RecursionError("too deep"), MemoryError(), KeyError("x")])
async def test_no_file_ends_the_plugin(error: Exception) -> None:
    """Whatever reading it raises is a fault of the file's."""
    async with Watching() as it:
        it.write(error)
        await it.rest()
        (rejected,) = it.journal.of(ConfigurationRejected)
        assert type(error).__name__ in rejected.faults[0] or str(error) in rejected.faults[0]
        it.write("ab")
        await it.rest()
        assert it.in_force == ["ab"]


async def test_rules_that_contradict_each_other_are_told() -> None:
    async with Watching() as it:
        it.refuses = True
        it.write("ab")
        await it.rest()
        (rejected,) = it.journal.of(ConfigurationRejected)
        assert "only one rule" in rejected.faults[0]
        assert it.journal.of(ConfigurationReloaded) == ()


async def test_an_event_names_a_bounded_number_of_faults() -> None:
    async with Watching() as it:
        it.write(_bad(*map(str, range(1000))))
        await it.rest()
        (rejected,) = it.journal.of(ConfigurationRejected)
        assert len(rejected.faults) == MAX_FAULTS + 1
        assert rejected.faults[-1] == f"and {1000 - MAX_FAULTS} more"
