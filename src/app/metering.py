"""Parts of a plugin that counts, made for the container: who wants no metrics imports none."""

from typing import TYPE_CHECKING, Final

from deviceplugin.adapters.logs import LoggingJournal
from deviceplugin.domain.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from deviceplugin.adapters.prometheus import PrometheusJournal
    from deviceplugin.domain.ports.driven.clock import Clock
    from deviceplugin.domain.ports.driven.journal import Journal

    Run = Callable[[], Coroutine[None, None, None]]

NO_METRICS: Final = "none"


def meter(metrics: str) -> "PrometheusJournal | None":
    """Return what counts, if metrics are wanted. Raises `InvalidValueError` if nothing can."""
    if metrics == NO_METRICS:
        return None
    try:
        from deviceplugin.adapters.prometheus import PrometheusJournal  # noqa: PLC0415
    except ImportError as error:
        raise InvalidValueError(
            f"metrics need prometheus-client: pip install 'deviceplugin[metrics]' ({error})"
        ) from error
    return PrometheusJournal()


def journal(meter: "PrometheusJournal | None") -> "Journal":
    """Return what takes note: the log, and what counts, if anything does."""
    if meter is None:
        return LoggingJournal()
    from deviceplugin.app.use_cases.tell_all import TellAll  # noqa: PLC0415

    return TellAll([LoggingJournal(), meter])


def beside(
    always: "Run",
    metrics: str,
    *,
    meter: "PrometheusJournal | None",
    clock: "Clock",
    journal: "Journal",
) -> "Sequence[Run]":
    """Return what runs as long as the plugin: also what tells the metrics, if they are wanted."""
    if meter is None:
        return (always,)
    from deviceplugin.adapters.prometheus import MetricsServer  # noqa: PLC0415
    from deviceplugin.app.settings.addresses import Address  # noqa: PLC0415

    address = Address.of(metrics)
    if address is None:
        return (always,)
    host, port, registry = address.host, address.port, meter.registry
    return (always, MetricsServer(host, port, registry, clock=clock, journal=journal).run)
