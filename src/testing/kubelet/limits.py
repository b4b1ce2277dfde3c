"""The kubelet's clocks and sizes, so that a test need not wait ten seconds."""

from typing import Final, Self

import attrs


@attrs.frozen(kw_only=True)
class Limits:
    """What the kubelet waits for and how much it takes. The defaults are the real ones."""

    dial: float = 10.0
    """Seconds for dialling a plugin back (client.go)."""
    pre_start: float = 30.0
    """Seconds that PreStartContainer has (constants.go)."""
    stop_grace: float = 300.0
    """Seconds after which a resource without endpoint is forgotten (endpointStopGracePeriod)."""
    message_bytes: int = 4 * 1024 * 1024
    """Largest message taken from a plugin: the default of grpc-go."""
    registry_look: float = 1.0
    """Seconds between two looks at what plugins_registry has in store (plugin_manager.go)."""
    plugin_info: float = 1.0
    """Seconds that GetInfo has (operation_generator.go)."""
    plugin_status: float = 5.0
    """Seconds that NotifyRegistrationStatus has (operation_generator.go)."""
    plugin_retry: float = 0.5
    """Seconds before a failed plugin of plugins_registry is tried again; doubled each time."""
    plugin_retry_most: float = 122.0
    """What they are doubled up to (exponentialbackoff)."""
    pod_resources_rate: float = 100.0
    """Calls in a second that pod-resources answers, of all callers together."""
    pod_resources_burst: int = 10
    """Calls at once that it answers."""

    def scaled(self, factor: float) -> Self:
        """Return the same limits with every clock multiplied; sizes and rates stay."""
        return attrs.evolve(
            self,
            dial=self.dial * factor,
            pre_start=self.pre_start * factor,
            stop_grace=self.stop_grace * factor,
            registry_look=self.registry_look * factor,
            plugin_info=self.plugin_info * factor,
            plugin_status=self.plugin_status * factor,
            plugin_retry=self.plugin_retry * factor,
            plugin_retry_most=self.plugin_retry_most * factor,
        )


REAL_LIMITS: Final = Limits()
"""Those of a kubelet."""
