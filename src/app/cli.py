"""The command line: read the configuration, then scan, serve or show.

Exit codes: 0 all is well, 1 something failed while it ran, 2 what was given cannot be used.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, NoReturn

import click

from deviceplugin.adapters.system.signals import ENDING, RELOADING, awake_to_signals
from deviceplugin.app.commands.configurations import (
    list_presets,
    print_schema,
    validate,
)
from deviceplugin.app.commands.keeping import record
from deviceplugin.app.commands.looking import explain, scan
from deviceplugin.app.commands.options import configurable, configured, reconfigured
from deviceplugin.app.commands.simulating import kubelet
from deviceplugin.app.console import console
from deviceplugin.app.early import EarlySignals
from deviceplugin.app.manager import Manager
from deviceplugin.domain.errors import DevicePluginError, ScanError

FAILED: Final = 1
UNUSABLE: Final = 2
INTERRUPTED: Final = 130
"""Ended by a person before there was anything to close."""


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="deviceplugin")
@click.pass_context
def cli(context: click.Context) -> None:
    """Give Kubernetes pods the devices of this node.

    A flag goes before its environment variable (in brackets), that before the file, that before
    the default.
    """
    early: EarlySignals = context.obj
    if context.invoked_subcommand not in _ENDED_IN_ORDER:
        early.give_back()


@cli.command()
@configurable
@click.pass_obj
def run(early: EarlySignals, /, config: str | None, **flags: str | None) -> None:
    """Serve the configured devices until SIGTERM or SIGINT.

    The configuration is read again when its file changes, and on SIGHUP.
    """
    early.exit_on(*ENDING)
    # One that comes before there is anything to reload must not be the end.
    early.ignore(RELOADING)
    configuration = configured(config, flags)
    manager = Manager.configured(configuration, reread=partial(reconfigured, config, flags))
    manager.check()
    _on_signals(ENDING, lambda *_: manager.stop())
    _on_signals([RELOADING], lambda *_: manager.reload())
    asyncio.run(awake_to_signals(manager.serve))
    # All is closed: one signal more must not make a failure of the interpreter's own end.
    _on_signals([*ENDING, RELOADING], signal.SIG_IGN)


@cli.command()
def demo() -> None:
    """Show it at work on this machine's devices, with a simulated kubelet. Needs no root."""
    from deviceplugin.app.demo import Demo  # noqa: PLC0415 - it brings the fake kubelet along

    Demo(console()).run()


for _command in (scan, explain, record, validate, print_schema, list_presets, kubelet):
    cli.add_command(_command)


_ENDED_IN_ORDER: Final = frozenset({run.name, kubelet.name})
"""Commands that live until a signal, and say themselves what it does."""


def run_command_line(early: EarlySignals) -> NoReturn:
    """Run the command line; a fault of the caller's is told in lines, never by a traceback."""
    # Before gRPC is imported: it reports each connection that ends as if that were news.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    try:
        sys.exit(cli.main(standalone_mode=False, obj=early))
    except click.ClickException as error:
        error.show()
        sys.exit(UNUSABLE)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except DevicePluginError as error:
        click.echo(str(error), err=True)
        sys.exit(FAILED if isinstance(error, ScanError) else UNUSABLE)
    except OSError as error:
        # Such as a full disk below standard output. What fails while it serves is a group of its
        # own and keeps its traceback.
        click.echo(str(error), err=True)
        sys.exit(FAILED)


def _on_signals(
    numbers: Iterable[signal.Signals], handler: Callable[..., object] | signal.Handlers
) -> None:
    """Set what is done with them, at once for good.

    Not by the loop: where it takes its handlers back, the default is in force for a moment.
    """
    for number in numbers:
        signal.signal(number, handler)
