"""The 1988 paper's tables at 8 bits, as what the minimisers take."""

from __future__ import annotations

import functools

from boolcomp.paper.plan import Options
from boolcomp.pipeline import run_passes
from boolcomp.twolevel.dense import Dense


@functools.cache
def table(name: str, *, faithful: bool = False) -> Dense:
    """Return the table of a term: `T11` … `T26`."""
    options = Options(rounding="faithful" if faithful else "nearest")
    found = {entry.plan.term.name: entry.table for entry in run_passes("machado-2r", options)}
    truth = found[name]
    return Dense.from_columns(truth.inputs, truth.columns, truth.free or None)
