"""Run every compiled loop once on something tiny, so that deadlines need not count compiling."""

from __future__ import annotations

import numpy as np

from boolcomp.twolevel import selection
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.dense import Dense, to_index
from boolcomp.twolevel.function import Function
from boolcomp.twolevel.heuristic import improve
from boolcomp.twolevel.improve_lists import improve_lists
from boolcomp.twolevel.isop import isop
from boolcomp.twolevel.localsearch import LocalSearch
from boolcomp.twolevel.verify import verify


def warm(*, dense: bool) -> None:
    """Compile or load the loops for truth tables, or those for lists of cubes."""
    on = Cubes.from_rows(3, 1, [("000", "1"), ("011", "1"), ("11-", "1"), ("1-1", "1")])
    dc = Cubes.from_rows(3, 1, [("001", "1")])
    function = Function.from_cubes(on, dc)
    if dense:
        # Both readings: the second has too many inputs for listing all primes.
        for inputs in (3, 13):
            padding = "-" * (inputs - 3)
            wide = [Cubes.from_rows(inputs, 1, [(a + padding, b) for a, b in s.rows()])
                    for s in (on, dc)]  # fmt: skip
            table: Dense = Function.from_cubes(*wide).dense
            start = isop(table)
            if start is not None:
                improve(table, start, Clock())
        verify(function, on)
    # Local search needs a problem that its bound does not settle; here it gets no work to do.
    matrix = selection.matrix(function.dense, to_index(function.on))
    assert matrix is not None  # noqa: S101 (it is tiny)
    LocalSearch(matrix, np.zeros(1, np.int32), 0).improve(0)
    if dense:
        return
    lists = Function.from_cubes(on, dc, Cubes.from_rows(3, 1, [("010", "1")]))
    verify(lists, improve_lists(lists, on, Clock()))
    lists = Function(3, 1, on, dc)
    lists.__dict__["is_dense"] = False  # as if it had too many inputs
    verify(lists, improve_lists(lists, on, Clock()))
