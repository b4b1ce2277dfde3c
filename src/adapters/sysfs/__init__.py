"""Devices as /sys shows them."""
