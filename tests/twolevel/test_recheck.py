"""What branch and bound said, proved once more: never more than is true, and mostly all of it."""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcomp.twolevel import milp as milp_module
from boolcomp.twolevel.milp import Milp
from boolcomp.twolevel.recheck import Node, Tree, rechecked


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
    rows = np.split(problem["indices"], problem["starts"][1:-1])
    best = None
    for size in range(len(costs) + 1):
        if problem["count"] not in (None, size):
            continue
        for some in itertools.combinations(range(len(costs)), size):
            cost = sum(costs[k] for k in some)
            if (best is None or cost < best) and all(set(row) & set(some) for row in rows):
                best = cost
    return best


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


@pytest.mark.parametrize("nodes", [0, 1, 3, 10])
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
    prices = rng.uniform(-4, 2, 10)
    tree = Tree(problem, target)
    bound, fixed, _ = tree._judged(Node(lower, upper), prices, 0.0, np.zeros(8))  # noqa: SLF001 (the certificate itself)
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
