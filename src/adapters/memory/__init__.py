"""An in-memory twin of every driven port: for tests, demos and dry runs."""
