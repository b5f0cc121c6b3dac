"""The commands, one module each, one per stage."""
