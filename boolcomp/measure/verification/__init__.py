"""Whether a program, its word graph and its exports are one function: our own checks, and tools."""
