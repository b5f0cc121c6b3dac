"""Waves that hardly matter are left out: what they make stays within its share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from samples import terms_of

from boolcomp.compact.sketch.pruning import SHARE, without_small_waves
from boolcomp.terms import Terms, evaluate_terms


def values(terms: Terms, count: int = 3_000) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the outputs of terms at seeded states."""
    columns = terms.problem.columns(terms.problem.draw(count, 1))
    return np.stack([evaluate_terms(parts, columns) for parts in terms.outputs], axis=1)


@pytest.mark.parametrize("allowed", [0.25, 4.0, 100.0])
def test_what_is_left_out_makes_a_small_part_of_what_is_allowed(allowed: float) -> None:
    terms = terms_of("puma560")
    steps = terms.problem.steps(8)
    fewer = without_small_waves(terms, [allowed] * 6, steps)
    missed = ((values(terms) - values(fewer)) / steps) ** 2
    assert fewer.waves < terms.waves / 2
    assert (missed.mean(axis=0) <= 1.3 * SHARE * allowed).all()  # waves are not quite independent


def test_more_is_left_out_where_more_is_allowed() -> None:
    terms = terms_of("puma560")
    steps = terms.problem.steps(8)
    counts = [without_small_waves(terms, [x] * 6, steps).waves for x in (0.01, 0.1, 1.0, 10.0)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 1.5 * counts[-1]


def test_nothing_is_left_out_where_all_waves_matter() -> None:
    terms = terms_of("machado-2r")
    kept = without_small_waves(terms, [0.25, 0.25], terms.problem.steps(8))
    assert kept == replace(terms, outputs=kept.outputs)
    assert [[t.waves() for t in x] for x in kept.outputs] == [
        [t.waves() for t in x] for x in terms.outputs
    ]
