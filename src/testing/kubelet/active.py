"""The pods that run, as the kubelet hears it from others: they outlive it."""

from deviceplugin.testing.kubelet.watch import Watch


class ActivePods:
    """The uids of pods that keep their devices."""

    def __init__(self, watch: Watch) -> None:
        """Begin with none."""
        self._watch = watch
        self._uids: set[str] = set()

    @property
    def uids(self) -> frozenset[str]:
        """All of them, now."""
        with self._watch.reading():
            return frozenset(self._uids)

    def add(self, *uids: str) -> None:
        """Pods have been admitted."""
        with self._watch.changing():
            self._uids.update(uids)

    def remove(self, uid: str) -> None:
        """A pod is gone; its devices become free at the next admission."""
        with self._watch.changing():
            self._uids.discard(uid)
