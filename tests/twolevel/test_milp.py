"""HiGHS in its own process: right answers, and an answer whatever happens to the process."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from waiting import running, until_gone

from boolcomp.twolevel import cpsat_worker, milp_worker
from boolcomp.twolevel import milp as milp_module
from boolcomp.twolevel.milp import Milp

if TYPE_CHECKING:
    from numpy.typing import NDArray

STARTS = np.array([0, 2, 4, 6])
INDICES = np.array([0, 1, 1, 2, 2, 0])  # a triangle: two of three columns
COST = np.array([1, 1, 5])


@pytest.fixture
def _always_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(milp_module, "SMALL", 0)


def hard(
    rows: int = 400, columns: int = 300
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return a random problem that takes HiGHS minutes."""
    noise = np.random.default_rng(3)
    lists = [np.sort(noise.choice(columns, 12, replace=False)) for _ in range(rows)]
    return np.arange(0, 12 * rows + 1, 12), np.concatenate(lists), np.ones(columns, np.int64)


@pytest.fixture(params=["CP-SAT", "HiGHS"])
def _each_solver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat_worker, "is_there", lambda: request.param == "CP-SAT")


@pytest.mark.slow
@pytest.mark.usefixtures("_always_a_child", "_each_solver")
def test_either_solver_finds_what_looking_at_all_choices_finds() -> None:
    noise = np.random.default_rng(7)
    with Milp() as milp:
        for count in (None, None, None, 3, 4, 5):
            lists = [np.sort(noise.choice(9, 3, replace=False)) for _ in range(12)]
            cost = noise.integers(1, 6, 9)
            rows = [set(one.tolist()) for one in lists]
            every = [
                (int(cost[list(chosen)].sum()), chosen)
                for size in ([count] if count else range(10))
                for chosen in combinations(range(9), size)
                if all(row & set(chosen) for row in rows)
            ]
            starts = np.arange(0, 37, 3)
            found = milp.solve(starts, np.concatenate(lists), cost, 60, count)
            if not every:
                assert found.chosen is None
                continue
            assert found.chosen is not None
            assert int(cost[found.chosen].sum()) == min(every)[0] == found.bound == found.exact
            assert count in (None, len(found.chosen))


@pytest.mark.slow
@pytest.mark.usefixtures("_always_a_child", "_each_solver")
def test_a_hint_changes_no_minimum_even_where_it_is_no_solution() -> None:
    with Milp() as milp:
        for hint in ([], [0], [0, 1, 2]):
            found = milp.solve(STARTS, INDICES, COST, 30, hint=np.array(hint, np.int64))
            assert found.chosen is not None
            assert (found.chosen.tolist(), found.bound, found.exact) == ([0, 1], 2, 2)


@pytest.mark.slow
@pytest.mark.usefixtures("_always_a_child", "_each_solver")
def test_one_child_answers_problem_after_problem() -> None:
    with Milp() as milp:
        first = milp.solve(STARTS, INDICES, COST, 30)
        assert first.chosen is not None
        assert (first.chosen.tolist(), first.bound) == ([0, 1], 2)
        three = milp.solve(STARTS, INDICES, COST, 30, count=3)
        assert three.chosen is not None
        assert (three.chosen.tolist(), three.bound) == ([0, 1, 2], 7)


def test_a_small_problem_needs_no_child() -> None:
    with Milp(memory=1) as milp:
        answer = milp.solve(STARTS, INDICES, COST, 30)
    assert answer.bound == 2


@pytest.mark.usefixtures("_always_a_child")
def test_a_child_without_memory_proves_nothing() -> None:
    with Milp(memory=1 << 20) as milp:
        answer = milp.solve(STARTS, INDICES, COST, 30)
    assert (answer.chosen, answer.bound) == (None, 0)


@pytest.mark.slow
def test_the_deadline_is_kept_and_the_relaxation_still_bounds() -> None:
    idle_calls: list[int] = []
    with Milp() as milp:
        answer = milp.solve(*hard(), 2.5, idle=lambda: idle_calls.append(1))
    assert answer.bound >= 20
    assert answer.chosen is None or len(answer.chosen) > answer.bound
    assert idle_calls


def test_no_time_is_no_answer() -> None:
    with Milp() as milp:
        answer = milp.solve(STARTS, INDICES, COST, 0)
    assert (answer.chosen, answer.bound) == (None, 0)


def test_an_answer_that_leaves_a_row_unmet_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen in ([0], [0, 1]):
        answer = np.array(chosen), 1
        monkeypatch.setattr(milp_worker, "solved", lambda _, found=answer: found)
        with Milp() as milp:
            found = milp.solve(STARTS, INDICES, COST, 30, count=len(chosen)).chosen
        assert (found is None) == (chosen == [0])


PARENT = """
import sys
sys.path[:0] = ["tests", "."]
from twolevel.test_milp import hard
from boolcomp.twolevel.milp import Milp
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


def test_any_prices_prove_a_true_bound() -> None:
    problem: dict[str, Any] = {
        "starts": STARTS.tolist(),
        "indices": INDICES.tolist(),
        "cost": COST.tolist(),
        "count": None,
    }
    noise = np.random.default_rng(1)
    for _ in range(200):
        prices = noise.normal(0, 3, 3) * noise.choice([0.1, 1, 1e30])
        assert milp_worker.certified(problem, prices, 0.0) <= 2
        assert milp_worker.certified(problem | {"count": 3}, prices, noise.normal(0, 9)) <= 7
    assert milp_worker.certified(problem, np.array([1.0, 0.0, 1.0]), 0.0) >= 1


def test_a_floating_bound_gives_way_by_the_tolerance_of_every_column() -> None:
    assert milp_worker.rounded_bound(7.00005, 100) == 8
    assert milp_worker.rounded_bound(7.00005, 1_000_000) == 7
    assert milp_worker.rounded_bound(7.0, 1_000_000) == 7
    assert milp_worker.rounded_bound(None, 1) == milp_worker.rounded_bound(-math.inf, 1) == 0
