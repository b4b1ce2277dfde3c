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

    def scaled(self, factor: float) -> Self:
        """Return the same limits with every clock multiplied; sizes stay."""
        return attrs.evolve(
            self,
            dial=self.dial * factor,
            pre_start=self.pre_start * factor,
            stop_grace=self.stop_grace * factor,
        )


REAL_LIMITS: Final = Limits()
"""Those of a kubelet."""
