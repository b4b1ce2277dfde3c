"""What we ask of the world: each is a Protocol of few methods, with a twin in `adapters.memory`."""
