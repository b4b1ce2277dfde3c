"""Many random examples of the properties that random input can break: `make fuzz`."""
