"""A simulated kubelet that a person, or a script, has do things: `deviceplugin kubelet`."""
