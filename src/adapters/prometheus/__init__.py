"""What happened, as metrics for Prometheus: needs prometheus-client, the extra `metrics`."""

from deviceplugin.adapters.prometheus.journal import PrometheusJournal
from deviceplugin.adapters.prometheus.server import MetricsServer

__all__ = ["MetricsServer", "PrometheusJournal"]
