"""What we ask of the world: Protocols of few methods, with twins in `adapters.memory`."""
