"""The sockets of the hexagon: `driving` ports are asked of us, `driven` ports are asked by us."""
