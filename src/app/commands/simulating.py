"""The command that is a kubelet: for plugins in any language, driven by a script or a person."""

import math
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from deviceplugin.adapters.system.signals import ENDING, RELOADING
from deviceplugin.app.console import Screen
from deviceplugin.app.early import EarlySignals
from deviceplugin.app.simulation.commands import Command
from deviceplugin.app.simulation.grammar import parse_all

_PROFILES: Final = ("1.28", "1.34", "1.36", "1.37")
_POLICIES: Final = ("none", "best-effort", "restricted", "single-numa-node")


class _Factor(click.FloatRange):
    """A number within bounds; one that is no number is beyond none of them for click."""

    name = "number"

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        factor: float = super().convert(value, param, ctx)
        if math.isnan(factor):
            self.fail(f"{value!r} is not a valid number.", param, ctx)
        return factor


@click.command("kubelet")
@click.option(
    "--dir",
    "directory",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Plugin directory, of its own; made if it is missing",
)
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    default="1.37",
    show_default=True,
    help="Kubernetes release to behave like",
)
@click.option(
    "--script",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Commands to play, then end; - for standard input",
)
@click.option(
    "--root",
    type=click.Path(file_okay=False, path_type=Path),
    help="Kubelet's root, for pod-resources and plugins_registry  [default: the parent of a"
    " directory named device-plugins, else the directory]",
)
@click.option(
    "--topology-policy",
    type=click.Choice(_POLICIES),
    default="none",
    show_default=True,
    help="What becomes of pods whose devices are on several NUMA nodes",
)
@click.option(
    "--numa-nodes",
    type=click.IntRange(1, 8),
    default=1,
    show_default=True,
    help="NUMA nodes of the machine",
)
@click.option(
    "--clock",
    type=_Factor(0.001, 1000),
    default=1.0,
    show_default=True,
    help="Factor for all that the kubelet waits for, such as the 10 s of dialling",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Where its chance begins")
@click.pass_obj
def kubelet(  # noqa: PLR0913 - a parameter for each flag
    early: EarlySignals,
    /,
    *,
    directory: Path,
    profile: str,
    script: str | None,
    root: Path | None,
    topology_policy: str,
    numa_nodes: int,
    clock: float,
    seed: int,
) -> int:
    """Be a simulated kubelet, for a plugin in any language.

    It lives until SIGTERM or SIGINT, the end of the script, or `quit`. It takes commands from the
    script, else from standard input, a line each; `help` shows them.

    Give it a directory of its own: at each start it removes the sockets there, with --profile 1.28
    all plain files and links as well, as that kubelet does. `delete-directory` removes the
    directory with all that is in it.

    Exit codes: 0 it ended as told, 1 a command of the script failed, 2 what was given cannot be
    used.
    """
    early.give_back(RELOADING)
    early.exit_on(*ENDING)

    from deviceplugin.app.simulation import session as sitting  # noqa: PLC0415 - brings gRPC
    from deviceplugin.testing import kubelet as kit  # noqa: PLC0415

    fake = kit.FakeKubelet(
        directory,
        root=root,
        profile=kit.Profile.named(profile),
        limits=kit.REAL_LIMITS.scaled(clock),
        numa=kit.Numa(policy=kit.NumaPolicy(topology_policy), nodes=tuple(range(numa_nodes))),
        seed=seed,
    )
    source: sitting.Script | sitting.Terminal
    if script is None:
        source = sitting.Terminal(descriptor=0, is_person=bool(sys.stdin and sys.stdin.isatty()))
    else:
        source = sitting.Script(name=_shown(script), commands=_parsed(script))
    session = sitting.Session(fake, source, Screen(), _complain)

    def end(*_: object) -> None:
        session.end()

    for number in ENDING:
        signal.signal(number, end)
    try:
        return session.run()
    except kit.UnusableDirectoryError as error:
        raise click.BadParameter(str(error), param_hint="--dir") from None


def _parsed(script: str) -> Sequence[tuple[int, Command]]:
    name = _shown(script)
    try:
        with click.open_file(script, encoding="utf-8-sig") as file:
            return parse_all(file)
    except OSError as error:
        raise click.FileError(name, error.strerror) from None
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{name} is no text in UTF-8: {error}") from None
    except ExceptionGroup as group:
        lines = "\n".join(f"{name}:{each}" for each in group.exceptions)
        raise click.UsageError(f"the script cannot be used:\n{lines}") from None


def _shown(script: str) -> str:
    return "<stdin>" if script == "-" else script


def _complain(text: str) -> None:
    click.echo(text, err=True)
