import time

from deviceplugin import DeviceInfo, DeviceNode, DeviceTree, Manager


class Yellow:
    def scan(self, notifier):
        while True:
            tree = DeviceTree()
            tree.add_device("yellow", "dev0", DeviceInfo(nodes=[DeviceNode("/dev/null")]))
            notifier.notify(tree)
            time.sleep(5)


Manager("color.example.com", Yellow()).run()
