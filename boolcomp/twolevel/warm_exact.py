"""Run every compiled loop of exact minimisation once, so that no deadline counts compiling."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from boolcomp.twolevel.apart import points_apart
from boolcomp.twolevel.blocks import lagrangian
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.gather import Gatherer
from boolcomp.twolevel.localsearch import LocalSearch
from boolcomp.twolevel.packed import Shape, packed
from boolcomp.twolevel.points import SearchedDemands, TableDemands
from boolcomp.twolevel.primes import Budget, merged
from boolcomp.twolevel.setcover import greedy_columns, reduced
from boolcomp.twolevel.sparse import without_idle_outputs


@cache
def warm_exact() -> None:
    """Compile or load the loops, the first time in a process."""
    rows = [(f"{x:03b}", f"{w:02b}") for x, w in enumerate((1, 3, 3, 2, 2, 3, 3, 1))]
    on, shape = packed(Cubes.from_rows(3, 2, rows)), Shape(3, 2)
    end = math.inf  # however slow the machine: no deadline counts this
    budget = Budget(1000, end)
    primes = merged(on[:4], on[4:], 0, shape, budget)
    for kind in (TableDemands, SearchedDemands):
        demands = kind(on, on[:0], primes, shape)
        demands.add_missed(np.zeros(0, np.int64), end)
        demands.primes_around(on)
    matrix = demands.matrix
    list(matrix.blocks())
    reduced(matrix, np.zeros(matrix.columns, np.int64), end)
    lagrangian(matrix, greedy_columns(matrix), end)
    LocalSearch(matrix, greedy_columns(matrix), 0).run(5, end)
    without_idle_outputs(on, on[:1], shape, end)
    points_apart(on, on[:1], on, shape, end)
    off = packed(Cubes.from_rows(3, 2, [("000", "10"), ("011", "01")]))
    Gatherer(on, on[:0], off, shape).search(end)
