"""A plugin in a process of its own, a kubelet, and thousands of accidents."""
