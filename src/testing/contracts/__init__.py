"""The laws of each port, as suites that any adapter can run."""
