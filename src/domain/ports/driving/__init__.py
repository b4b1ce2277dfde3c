"""What the world may ask of us."""
