"""Functions that users write: over Python's operators, or as expressions in a TOML file."""
