"""Notice that a newer server of the same resource, of another instance, has gone for good.

A kubelet up to 1.36 keeps one plugin per resource, the one that registered last. When that one
goes, all devices are Unhealthy, although an older one's stream is still open; nothing tells the
older one. So it looks after the newer ones' sockets, and hears of those that came and went unseen.
"""

import attrs

from deviceplugin.domain.ports.driven.kubelet import Successor


@attrs.define
class Succession:
    """Whether a server has been succeeded, and since when nobody is left of those who did.

    One that closes to make another server is back within milliseconds: so the gap must last for
    `seconds`, else two instances would chase each other.
    """

    seconds: float
    succeeded: bool = attrs.field(default=False, init=False)
    """Whether one came after it, and is not known to have gone for good."""
    _alone_since: float | None = attrs.field(default=None, init=False)

    def note(self, successor: Successor) -> None:
        """Note whether one came, whatever became of it. In doubt it did: that harms nobody."""
        self.succeeded |= successor is not Successor.NONE

    def look(self, successor: Successor, now: float) -> bool:
        """Return whether the successors have gone for good; told once."""
        self.note(successor)
        if successor is Successor.ALIVE or not self.succeeded:
            self._alone_since = None
            return False
        if self._alone_since is None:
            self._alone_since = now
        if now - self._alone_since < self.seconds:
            return False
        self.succeeded, self._alone_since = False, None
        return True
