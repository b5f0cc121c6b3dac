"""The most that errors can be: of bits that heaps discard, and what the model says of bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from compact.word_robots import TEN
from samples import problem_of

from boolcomp.compact.demand import usual_demand
from boolcomp.compact.promise.steered import SteeredTask
from boolcomp.compact.widths.descend import Descent, choose_widths
from boolcomp.compact.widths.norms import MEAN_SQUARE, WORST
from boolcomp.problem.robot import load_robot
from boolcomp.terms import split
from boolcomp.words.layout import Grid, HeapRow


@pytest.mark.parametrize("row", [HeapRow(3, 0, 2), HeapRow(2, 1, 4), HeapRow(0, 2, 3)])
def test_the_most_that_dropped_bits_are_is_that_of_all_their_values(row: HeapRow) -> None:
    first = row.column - row.drop
    sums = [
        sum(digit * 2.0 ** (first + i) for i, digit in enumerate(digits))
        for digits in itertools.product((-0.5, 0.5), repeat=row.drop)
    ]
    assert row.most_lost == max(sums) == -min(sums)


@pytest.mark.parametrize("grid", [Grid(-3, 0, 3, 0, 4), Grid(-1, 1, 2, 0, 2), Grid(0, 0, 2, 0, 2)])
def test_the_most_that_discarded_products_are_is_that_of_each_alone_added_up(grid: Grid) -> None:
    columns = [grid.column + i + j for i in range(grid.a) for j in range(grid.b)]
    assert grid.most_lost == sum(2.0**c / 2 for c in columns if c < 0)


def test_norms_agree_with_drawn_errors() -> None:
    rng = np.random.default_rng(0)
    errors = 3.0 * rng.uniform(-1, 1, (1, 100_000))  # a width of 6
    assert MEAN_SQUARE.rounding(6.0) == pytest.approx(MEAN_SQUARE.size(errors)[0], rel=0.02)
    assert WORST.rounding(6.0) == pytest.approx(WORST.size(errors)[0], rel=1e-3)
    assert WORST.missed(MEAN_SQUARE.rounding(6.0)) == pytest.approx(WORST.rounding(6.0))
    for norm in (MEAN_SQUARE, WORST):
        assert norm.size(-2 * errors)[0] == pytest.approx(norm.scaled(-2.0) * norm.size(errors)[0])
        whole = norm.rounding(8.0)
        assert norm.unread(8.0, 2.0) == pytest.approx(whole - norm.rounding(2.0))


def test_the_model_of_the_worst_says_what_the_plain_bound_is() -> None:
    terms = split(problem_of(load_robot("machado-2r")))
    demand = usual_demand(6, TEN).completed(terms.problem)
    allowed = np.array([1.5, 2.5])
    search = SteeredTask(terms, demand, allowed).search(0)
    widths, _ = choose_widths(search.model, allowed)
    said = Descent(search.model, widths, allowed).noise
    found = np.array(search.bounded(widths, np.zeros(2)).bounds.steps)
    assert (said <= allowed).all()
    assert np.abs(said / found - 1).max() < 0.15
