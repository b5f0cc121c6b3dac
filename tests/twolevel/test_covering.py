"""Covering problems are compared with all sets of columns, tried by rising size."""

from __future__ import annotations

import math
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.twolevel.blocks import UNIT, lagrangian, solve_block
from boolcomp.twolevel.covering import Matrix, greedy_columns, independent, reduced
from boolcomp.twolevel.localsearch import LocalSearch
from boolcomp.twolevel.milp import Milp
from boolcomp.twolevel.witness import SearchEndedError

COLUMNS = 9
rows_of = st.lists(
    st.sets(st.integers(0, COLUMNS - 1), min_size=1, max_size=4), min_size=1, max_size=14
)


def matrix_of(rows: list[set[int]], columns: int = COLUMNS) -> Matrix:
    starts = np.cumsum([0, *(len(row) for row in rows)])
    indices = np.array([k for row in rows for k in sorted(row)], np.int32)
    return Matrix(starts.astype(np.int64), indices, columns)


def covers(chosen: set[int], rows: list[set[int]]) -> bool:
    return all(chosen & row for row in rows)


def optimum(rows: list[set[int]], cost: list[int]) -> tuple[int, int]:
    """Return the fewest columns and the least cost of so few."""
    for size in range(COLUMNS + 1):
        sums = [
            sum(cost[k] for k in chosen)
            for chosen in combinations(range(COLUMNS), size)
            if covers(set(chosen), rows)
        ]
        if sums:
            return size, min(sums)
    raise AssertionError


def soon() -> float:
    return time.monotonic() + 60


@given(rows_of, st.lists(st.integers(0, 3), min_size=COLUMNS, max_size=COLUMNS))
def test_reduction_keeps_an_optimum(rows: list[set[int]], cost: list[int]) -> None:
    essential, core = reduced(matrix_of(rows), np.array(cost), soon())
    left = [set(row.tolist()) for row in np.split(core.indices, core.starts[1:-1])]
    left = left if core.rows else []
    count, least = optimum(left, cost) if left else (0, 0)
    expected = optimum(rows, cost)
    assert (count + len(essential), least + sum(cost[k] for k in essential)) == expected


@given(rows_of)
def test_bounds_enclose_the_optimum(rows: list[set[int]]) -> None:
    matrix = matrix_of(rows)
    best, _ = optimum(rows, [0] * COLUMNS)
    greedy = greedy_columns(matrix)
    assert covers(set(greedy.tolist()), rows)
    assert independent(matrix) <= best <= len(greedy)
    used = np.unique(matrix.indices, return_inverse=True)[1]
    dense = Matrix(matrix.starts, used.astype(np.int64), int(used.max()) + 1)
    bound, costs = lagrangian(dense, len(greedy), soon())
    assert bound <= best * UNIT
    assert len(costs) == dense.columns
    search = LocalSearch(matrix, greedy, 0)
    search.run(200, soon())
    assert best <= len(search.best) <= len(greedy)
    assert covers(set(search.best.tolist()), rows)


@given(rows_of)
def test_a_block_is_solved_to_its_optimum(rows: list[set[int]]) -> None:
    with Milp() as milp:
        solution = solve_block(matrix_of(rows), milp, soon())
    best, _ = optimum(rows, [0] * COLUMNS)
    assert (solution.value, solution.bound, solution.proved) == (best, best, True)
    assert covers(set(solution.chosen.tolist()), rows)


def test_blocks_share_no_column_and_come_smallest_first() -> None:
    matrix = matrix_of([{0, 1}, {2, 3}, {1, 4}, {5, 6}, {4, 0}, {3, 7}])
    blocks = [sorted(set(block.indices.tolist())) for block in matrix.blocks()]
    assert blocks == [[5, 6], [2, 3, 7], [0, 1, 4]]


def test_of_equal_columns_the_cheapest_stays() -> None:
    rows = [{0, 1, 2}, {0, 1, 2}]
    essential, core = reduced(matrix_of(rows), np.array([3, 1, 2] + [0] * 6), soon())
    assert essential.tolist() == [1]
    assert core.rows == 0


def test_a_cheaper_column_is_not_dropped_for_a_larger_one() -> None:
    rows = [{0, 1}, {1, 2}, {2, 0}]
    _, core = reduced(matrix_of([*rows, {0, 1, 2, 3}]), np.array([5, 5, 5, 1] + [0] * 5), soon())
    assert core.rows == 3  # the last row holds all others, so column 3 has none of its own


def test_reduction_stops_at_the_deadline() -> None:
    with pytest.raises(SearchEndedError):
        reduced(matrix_of([{0, 1}, {1, 2}]), np.zeros(COLUMNS, np.int64), -math.inf)


def test_local_search_reaches_the_optimum_of_steiner_triples() -> None:
    # Lines of AG(3, 3), Steiner's problem of 27 points: the minimum is 18 (Fulkerson et al. 1974).
    space = [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]
    lines = {
        frozenset({p, q, tuple((-x - y) % 3 for x, y in zip(p, q, strict=True))})
        for p, q in combinations(space, 2)
    }
    rows = sorted(sorted(space.index((a, b, c)) for a, b, c in line) for line in lines)
    matrix = matrix_of([set(row) for row in rows], 27)
    search = LocalSearch(matrix, np.arange(27), 18)
    search.run(20_000, soon())
    assert len(search.best) == 18
