"""The kit for others: contract suites, a fake kubelet, a fake sysfs, strategies."""
