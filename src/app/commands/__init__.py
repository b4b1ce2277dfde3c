"""The commands that tell and change nothing: what a file says, what would be offered, and why."""
