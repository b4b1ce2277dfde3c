"""`deviceplugin`, `python -m deviceplugin` and `python -m deviceplugin.app`: the command line.

Signals come first: its imports take half a second, in which a service manager may change its mind.
"""

import signal

from deviceplugin.app.early import EarlySignals


def main() -> None:
    """Run the command line; does not return."""
    early = EarlySignals(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

    from deviceplugin.app.cli import run_command_line  # noqa: PLC0415 - see above

    run_command_line(early)


if __name__ == "__main__":
    main()
