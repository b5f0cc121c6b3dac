"""HiGHS and CP-SAT in a process of their own: right answers, and an answer whatever happens.

What branch and bound said is proved once more: never more than is true, and mostly all of it.
"""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from waiting import running, until_gone

from boolcomp.twolevel import (
    Milp,
    Node,
    Tree,
    certified,
    cpsat_worker,
    milp_worker,
    rechecked,
    rounded_bound,
)
from boolcomp.twolevel import solvers as milp_module

# A triangle: two of three columns.
TRIANGLE = np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 2, 0]), np.array([1, 1, 5])


def drawn(rows: int, columns: int, each: int, seed: int, most: int = 1) -> dict[str, Any]:
    """Return a random problem, of costs from one to `most`."""
    noise = np.random.default_rng(seed)
    lists = [np.sort(noise.choice(columns, each, replace=False)) for _ in range(rows)]
    return {
        "starts": np.arange(0, each * rows + 1, each), "indices": np.concatenate(lists),
        "cost": noise.integers(1, most + 1, columns), "count": None, "end": time.monotonic() + 60,
    }  # fmt: skip


def least(problem: dict[str, Any]) -> int | None:
    """Return what a solution costs at least, of all subsets of columns."""
    costs = problem["cost"].tolist()
    rows = [set(row.tolist()) for row in np.split(problem["indices"], problem["starts"][1:-1])]
    sizes = range(len(costs) + 1) if problem["count"] is None else [problem["count"]]
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
    return problem["starts"], problem["indices"], problem["cost"]


# solvers -----------------------------------------------------------------------------------------
@pytest.fixture
def _always_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milp_module, "SMALL", 0)


@pytest.fixture(params=["CP-SAT", "HiGHS"])
def _each_solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat_worker, "is_there", lambda: request.param == "CP-SAT")


@pytest.mark.slow
@pytest.mark.usefixtures("_always_a_child", "_each_solver")
def test_either_solver_finds_what_looking_at_all_choices_finds() -> None:
    with Milp() as milp:  # one child answers problem after problem
        for seed, count in enumerate((None, None, None, 3, 4, 5)):
            problem = {**drawn(12, 9, 3, seed, 5), "count": count}
            given = problem["starts"], problem["indices"], problem["cost"]
            true, found = least(problem), milp.solve(*given, 60, count)
            if true is None:
                assert found.chosen is None
            else:
                assert found.chosen is not None
                assert int(problem["cost"][found.chosen].sum()) == true
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
        monkeypatch.setattr(milp_worker, "solved", lambda _, found=answer: found)
        with Milp() as milp:
            found = milp.solve(*TRIANGLE, 30, count=len(chosen)).chosen
        assert (found is None) == (chosen == [0])


PARENT = """
import sys
sys.path[:0] = ["tests", "."]
from twolevel.test_milp import hard
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


# what is proved once more ------------------------------------------------------------------------
def test_any_prices_prove_a_true_bound() -> None:
    starts, indices, cost = (one.tolist() for one in TRIANGLE)
    problem: dict[str, Any] = {"starts": starts, "indices": indices, "cost": cost, "count": None}
    noise = np.random.default_rng(1)
    for _ in range(200):
        prices = noise.normal(0, 3, 3) * noise.choice([0.1, 1, 1e30])
        assert certified(problem, prices, 0.0) <= 2
        assert certified(problem | {"count": 3}, prices, noise.normal(0, 9)) <= 7
    assert certified(problem, np.array([1.0, 0.0, 1.0]), 0.0) >= 1


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
    problem = {**drawn(12, 9, 3, seed, most), "count": count}
    true = least(problem)
    for target in (true or 20, 1 + (true or 20), 30):
        found = rechecked({**problem, "target": target})
        assert found == (target if true is None else min(target, true))


@pytest.mark.parametrize("nodes", [0, 3])
def test_fewer_nodes_prove_less_and_never_too_much(nodes: int) -> None:
    problem = drawn(24, 14, 3, 1)
    true = least(problem)
    assert true is not None
    found = [Tree(problem, true).proved(n) for n in (nodes, 2000)]
    assert found[0] <= found[1] == true
    assert Tree(problem, true + 1).proved() == true


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_whatever_prices_are_the_bound_of_a_node_holds(seed: int, target: int) -> None:
    problem = drawn(10, 8, 3, seed, 3)
    rng = np.random.default_rng(seed)
    lower = rng.integers(0, 2, 8).astype(np.int8)
    upper = np.maximum(lower, rng.integers(0, 2, 8)).astype(np.int8)
    rows = np.split(problem["indices"], problem["starts"][1:-1])
    solutions = [
        taken for taken in itertools.product((0, 1), repeat=8)
        if all(a <= x <= b for a, x, b in zip(lower, taken, upper, strict=True))
        and all(any(taken[k] for k in row) for row in rows)
    ]  # fmt: skip
    prices, node = rng.uniform(-4, 2, 10), Node(lower, upper)
    bound, fixed, _ = Tree(problem, target)._judged(node, prices, 0.0, np.zeros(8))  # noqa: SLF001 (the certificate itself)
    for taken in solutions:
        cost = int(np.dot(taken, problem["cost"]))
        assert cost >= bound
        kept = all(a <= x <= b for a, x, b in zip(fixed.lower, taken, fixed.upper, strict=True))
        assert kept or cost >= target


@pytest.mark.parametrize("small", [0, 600])
def test_an_answer_says_what_whole_numbers_prove(
    small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milp_module, "SMALL", small)
    problem = drawn(30, 25, 4, 2)
    with Milp() as milp:
        answer = milp.solve(problem["starts"], problem["indices"], problem["cost"], 60)
    assert answer.chosen is not None
    assert answer.exact == answer.bound == len(answer.chosen)
