"""Configurations for well-known devices, shipped as YAML."""
