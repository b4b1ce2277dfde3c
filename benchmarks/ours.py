"""The framework with the same resources and devices as the bare servers."""

import json
import sys

from deviceplugin import DeviceInfo, DeviceNode, DeviceTree, Health, Manager, Notifier


class Bench:
    """Finds one device of each of many types, as healthy as the last line of the input says."""

    def __init__(self, resources: int) -> None:
        """Remember how many."""
        self._resources = resources

    def scan(self, notifier: Notifier) -> None:
        """Hand in a tree for each line."""
        notifier.notify(self._tree(Health.HEALTHY))
        for line in sys.stdin:
            notifier.notify(self._tree(Health.HEALTHY if json.loads(line) else Health.UNHEALTHY))

    def _tree(self, health: Health) -> DeviceTree:
        tree = DeviceTree()
        for number in range(self._resources):
            info = DeviceInfo(health=health, nodes=[DeviceNode("/dev/null")])
            tree.add_device(f"r{number}", "dev0", info)
        return tree


if __name__ == "__main__":
    directory, count, *way = sys.argv[1:]
    Manager(
        "bench.example.com",
        Bench(int(count)),
        plugin_dir=directory,
        registration=way[0] if way else "auto",
    ).run()
