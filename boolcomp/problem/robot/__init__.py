"""Robot files: read, checked, and held as immutable values."""
