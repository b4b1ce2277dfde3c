"""What the application does, one verb a module, over ports alone."""
