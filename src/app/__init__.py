"""The application: use cases, settings, their wiring, and the ways in."""
