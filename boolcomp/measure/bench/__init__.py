"""Logic beside its rivals: the best arithmetic known, run on the same samples in one process."""
