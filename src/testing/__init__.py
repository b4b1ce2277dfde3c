"""The kit for others: contract suites, a fake kubelet, a fake sysfs, strategies."""

import sys

# Without it, a law that fails in somebody's test run shows a bare AssertionError. Where pytest
# runs it is imported already; where it doesn't, it may not be installed.
if _pytest := sys.modules.get("pytest"):
    _pytest.register_assert_rewrite("deviceplugin.testing.contracts")
