"""Functions as straight-line programs: recorded on a tape, evaluated over numpy's columns."""
