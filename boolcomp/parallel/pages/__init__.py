"""The parallel papers as pages: a schedule with its operations, all methods on one machine."""
