"""The framework with the same resources and devices as the bare servers."""

import sys
import time

from deviceplugin import DeviceInfo, DeviceNode, DeviceTree, Manager, Notifier


class Bench:
    """Finds one device of each of many types, once."""

    def __init__(self, resources: int) -> None:
        """Remember how many."""
        self._resources = resources

    def scan(self, notifier: Notifier) -> None:
        """Hand in the one tree, then rest."""
        tree = DeviceTree()
        for number in range(self._resources):
            tree.add_device(f"r{number}", "dev0", DeviceInfo(nodes=[DeviceNode("/dev/null")]))
        notifier.notify(tree)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    Manager("bench.example.com", Bench(int(sys.argv[2])), plugin_dir=sys.argv[1]).run()
