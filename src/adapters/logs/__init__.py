"""Events of the application, written to the standard library's loggers."""
