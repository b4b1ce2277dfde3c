"""The outside world, one technology a package; none knows another."""
