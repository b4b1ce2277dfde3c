"""The pods that run, as the kubelet hears it from others: they outlive it."""

from collections.abc import Iterable

from deviceplugin.testing.kubelet.pods import Pod
from deviceplugin.testing.kubelet.watch import Watch


class ActivePods:
    """The pods that keep their devices."""

    def __init__(self, watch: Watch) -> None:
        """Begin with none."""
        self._watch = watch
        self._pods: dict[str, Pod] = {}
        self._adopted = False

    @property
    def pods(self) -> tuple[Pod, ...]:
        """All of them, now, in the order of their admission."""
        with self._watch.reading():
            return tuple(self._pods.values())

    @property
    def uids(self) -> frozenset[str]:
        """Their uids."""
        return frozenset(pod.uid for pod in self.pods)

    def add(self, *pods: Pod) -> None:
        """Pods have been admitted."""
        with self._watch.changing():
            self._pods.update((pod.uid, pod) for pod in pods)

    def adopt(self, pods: Iterable[Pod]) -> None:
        """Take in those that another process left; only the first time, for then all is known."""
        with self._watch.changing():
            if not self._adopted:
                self._adopted = True
                self.add(*pods)

    def remove(self, uid: str) -> None:
        """A pod is gone; its devices become free at the next admission."""
        with self._watch.changing():
            self._pods.pop(uid, None)
