"""Covering problems beside all sets of columns, solvers in processes, bounds proved once more."""

import itertools
import math
import subprocess
import sys
import time
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import running, until_gone

from boolcomp.twolevel import Clock, GaveUpError, solvers
from boolcomp.twolevel.setcover import (
    CoverMatrix,
    LocalSearch,
    greedy_columns,
    reduced,
    solve_block,
    without_dominated_rows,
)
from boolcomp.twolevel.solvers import CoverProblem, Milp, rechecked, rounded_bound

COLUMNS, LATER = 9, Clock()
rows_of = st.lists(
    st.sets(st.integers(0, COLUMNS - 1), min_size=1, max_size=4), min_size=1, max_size=14
)


def matrix_of(rows: list[set[int]], columns: int = COLUMNS) -> CoverMatrix:
    starts = np.cumsum([0, *(len(row) for row in rows)])
    indices = np.array([k for row in rows for k in sorted(row)], np.int32)
    return CoverMatrix(starts.astype(np.int64), indices, columns)


def sets_of(matrix: CoverMatrix) -> list[set[int]]:
    return [set(row.tolist()) for row in np.split(matrix.indices, matrix.starts[1:-1])][
        : matrix.rows
    ]


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


@given(rows_of, st.lists(st.integers(0, 3), min_size=COLUMNS, max_size=COLUMNS))
def test_reduction_keeps_an_optimum(rows: list[set[int]], cost: list[int]) -> None:
    essential, core = reduced(matrix_of(rows), LATER, np.array(cost))
    left = sets_of(core)
    count, least = optimum(left, cost)
    expected = optimum(rows, cost)
    assert (count + len(essential), least + sum(cost[k] for k in essential)) == expected
    again, holder = without_dominated_rows(core, np.array(cost), LATER)
    assert again.rows == core.rows
    assert (holder == -1).all()


@pytest.mark.parametrize(("rows", "cost", "essential", "left"), [
    ([{0, 1, 2}, {0, 1, 2}], [3, 1, 2], [1], 0),  # of equal columns the cheapest stays
    ([{0, 1}, {1, 2}, {2, 0}, {0, 1, 2, 3}], [5, 5, 5, 1], [], 3),  # none for a larger one
])  # fmt: skip
def test_columns_are_weighed_by_what_they_cost(
    rows: list[set[int]], cost: list[int], essential: list[int], left: int
) -> None:
    costs = np.array(cost + [0] * (COLUMNS - len(cost)))
    chosen, core = reduced(matrix_of(rows), LATER, costs)
    assert (chosen.tolist(), core.rows) == (essential, left)
    with pytest.raises(GaveUpError):
        reduced(matrix_of([{0, 1}, {1, 2}]), Clock(0))


@given(rows_of)
def test_a_block_is_solved_to_its_optimum(rows: list[set[int]]) -> None:
    with Milp() as milp:
        solution = solve_block(matrix_of(rows), milp, LATER)
    best, _ = optimum(rows, [0] * COLUMNS)
    assert (solution.value, solution.bound, solution.proved) == (best, best, True)
    assert covers(set(solution.chosen.tolist()), rows)


def steiner_triples() -> CoverMatrix:
    # Lines of AG(3, 3), Steiner's problem of 27 points: the minimum is 18 (Fulkerson et al. 1974).
    space = [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]
    lines = {
        frozenset({p, q, tuple((-x - y) % 3 for x, y in zip(p, q, strict=True))})
        for p, q in combinations(space, 2)
    }
    rows = sorted(sorted(space.index((a, b, c)) for a, b, c in line) for line in lines)
    return matrix_of([set(row) for row in rows], 27)


def test_local_search_reaches_the_optimum_of_steiner_triples() -> None:
    search = LocalSearch(steiner_triples(), np.arange(27), 18)
    search.run(20_000, LATER)
    assert len(search.best) == 18


@given(rows_of, st.integers(1, 40))
def test_the_books_of_a_local_search_are_true_at_any_time(rows: list[set[int]], work: int) -> None:
    matrix = matrix_of(rows)
    search = LocalSearch(matrix, greedy_columns(matrix), 0)
    for budget in (work, 300):
        search.improve(budget)
        state = search._choice  # noqa: SLF001 (what cannot be seen from outside)
        chosen = set(state.chosen[: state.sizes[0]].tolist())
        met = [len(row & chosen) for row in rows]
        assert state.met.tolist() == met
        assert {k for k in range(COLUMNS) if state.place[k] >= 0} == chosen
        assert search.unmet == met.count(0)
        assert set(state.unmet[: search.unmet].tolist()) == {
            r for r, count in enumerate(met) if not count
        }
        for r, row in enumerate(rows):
            owner = 0
            for k in row & chosen:
                owner ^= k
            assert state.owner[r] == owner
        for k in range(COLUMNS):
            # Dropping unmeets rows met once, taking meets those not met at all.
            at, sign = (1, -1) if k in chosen else (0, 1)
            gain = [int(state.weight[r]) for r, row in enumerate(rows) if k in row and met[r] == at]
            assert state.score[k] == sign * sum(gain)
    assert covers(set(search.best.tolist()), rows)


# A triangle: two of three columns.
TRIANGLE = np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 2, 0]), np.array([1, 1, 5])


def drawn(
    rows: int, columns: int, each: int, seed: int, most: int = 1, count: int | None = None
) -> CoverProblem:
    """Return a random problem, of costs from one to `most`."""
    noise = np.random.default_rng(seed)
    lists = [np.sort(noise.choice(columns, each, replace=False)) for _ in range(rows)]
    starts, indices = np.arange(0, each * rows + 1, each), np.concatenate(lists)
    cost = noise.integers(1, most + 1, columns)
    return CoverProblem(starts, indices, cost, count, time.monotonic() + 60)


def least(problem: CoverProblem) -> int | None:
    """Return what a solution costs at least, of all subsets of columns."""
    costs = problem.cost.tolist()
    rows = [set(row.tolist()) for row in np.split(problem.indices, problem.starts[1:-1])]
    sizes = range(len(costs) + 1) if problem.count is None else [problem.count]
    return min(
        (
            sum(costs[k] for k in some)
            for size in sizes
            for some in itertools.combinations(range(len(costs)), size)
            if all(row & set(some) for row in rows)
        ),
        default=None,
    )


def hard() -> tuple[Any, Any, Any]:
    """Return a random problem that takes HiGHS minutes."""
    problem = drawn(400, 300, 12, 3)
    return problem.starts, problem.indices, problem.cost


@pytest.fixture
def _always_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "SMALL", 0)


@pytest.fixture(params=["CP-SAT", "HiGHS"])
def _each_solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "has_cpsat", lambda: request.param == "CP-SAT")


@pytest.mark.slow
@pytest.mark.usefixtures("_always_a_child", "_each_solver")
def test_either_solver_finds_what_looking_at_all_choices_finds() -> None:
    with Milp() as milp:  # one child answers problem after problem
        for seed, count in enumerate((None, None, None, 3, 4, 5)):
            problem = drawn(12, 9, 3, seed, 5, count)
            given = problem.starts, problem.indices, problem.cost
            true, found = least(problem), milp.solve(*given, 60, count)
            if true is None:
                assert found.chosen is None
            else:
                assert found.chosen is not None
                assert int(problem.cost[found.chosen].sum()) == true
                assert found.bound == found.exact == true
                assert count in (None, len(found.chosen))
        for hint in ([], [0], [0, 1, 2]):  # which changes no minimum, even where it is no solution
            found = milp.solve(*TRIANGLE, 30, hint=np.array(hint, np.int64))
            assert found.chosen is not None
            assert (found.chosen.tolist(), found.bound, found.exact) == ([0, 1], 2, 2)


@pytest.mark.usefixtures("_always_a_child")
def test_a_child_without_memory_proves_nothing() -> None:
    with Milp(memory=1 << 20) as milp:
        answer = milp.solve(*TRIANGLE, 30)
    assert (answer.chosen, answer.bound) == (None, 0)


def test_a_small_problem_needs_no_child_and_no_time_is_no_answer() -> None:
    with Milp(memory=1) as milp:
        assert milp.solve(*TRIANGLE, 30).bound == 2
        answer = milp.solve(*TRIANGLE, 0)
    assert (answer.chosen, answer.bound) == (None, 0)


@pytest.mark.check
def test_the_relaxation_bounds_where_time_ends() -> None:
    idle_calls: list[int] = []
    with Milp() as milp:
        answer = milp.solve(*hard(), 2.5, idle=lambda: idle_calls.append(1))
    assert answer.bound >= 20
    assert answer.chosen is None or len(answer.chosen) > answer.bound
    assert idle_calls


def test_an_answer_that_leaves_a_row_unmet_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen in ([0], [0, 1]):
        answer = np.array(chosen), 1
        monkeypatch.setattr(solvers, "highs", lambda _, found=answer: found)
        with Milp() as milp:
            found = milp.solve(*TRIANGLE, 30, count=len(chosen)).chosen
        assert (found is None) == (chosen == [0])


PARENT = """
import sys
sys.path[:0] = ["tests", "."]
from twolevel.test_covering import hard
from boolcomp.twolevel.solvers import Milp
with Milp() as milp:
    milp.solve(*hard(), 60, idle=lambda: print(milp._worker.process.pid, flush=True))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends orphans")
def test_the_child_does_not_outlive_a_killed_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert running(child)
    parent.kill()
    parent.communicate()
    until_gone(child)


@pytest.mark.parametrize(("bound", "columns", "proved"), [
    (7.00005, 100, 8), (7.00005, 1_000_000, 7), (7.0, 1_000_000, 7), (None, 1, 0),
    (-math.inf, 1, 0),
])  # fmt: skip
def test_a_floating_bound_gives_way_by_the_tolerance_of_every_column(
    bound: float | None, columns: int, proved: int
) -> None:
    assert rounded_bound(bound, columns) == proved


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 5]), st.sampled_from([None, 3, 6]))
def test_no_more_is_proved_than_is_true_and_all_that_is(
    seed: int, most: int, count: int | None
) -> None:
    problem = drawn(12, 9, 3, seed, most, count)
    true = least(problem)
    for target in (true or 20, 1 + (true or 20), 30):
        found = rechecked(problem, target)
        assert found == (target if true is None else min(target, true))


@pytest.mark.parametrize("small", [0, 600])
def test_an_answer_says_what_whole_numbers_prove(
    small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solvers, "SMALL", small)
    problem = drawn(30, 25, 4, 2)
    with Milp() as milp:
        answer = milp.solve(problem.starts, problem.indices, problem.cost, 60)
    assert answer.chosen is not None
    assert answer.exact == answer.bound == len(answer.chosen)
