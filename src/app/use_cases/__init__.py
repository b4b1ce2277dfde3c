"""What the application does, each a verb over ports; none knows an adapter."""
