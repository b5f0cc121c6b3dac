"""Where the checker refuses an output, and curves of angles that are whole turns away."""

from __future__ import annotations

import math

import numpy as np
import pytest
from shippedarms import built_of

from boolcomp.checker import (
    ONE,
    Curve,
    NotCoveredError,
    Operation,
    Plain,
    Span,
    Tight,
    between,
    near_words,
    tight,
)
from boolcomp.compact import explained
from boolcomp.proof import claim_of

SINE = Curve(0, 1.0, 0.0, 1.0, -math.inf, math.inf, angle=True,
             steps=(Operation("x"), Operation("sin", (0,))))  # fmt: skip


@pytest.mark.parametrize(
    ("turns", "exact", "reached"),
    [
        ((0.9, 1.0), (-0.2, 0.0), (-0.1, 0.0)),
        ((0.95, 1.05), (-0.2, 0.0), (-0.05, 0.0)),
        ((-1.05, -0.95), (0.01, 0.2), (0.01, 0.05)),
        ((0.05, 0.1), (0.0, 0.2), (0.05, 0.1)),
        ((0.9, 1.0), (-0.05, 0.2), (-0.05, 0.0)),
    ],
)
def test_of_an_angle_whole_turns_away_only_what_it_may_be_counts(
    turns: tuple[float, float], exact: tuple[float, float], reached: tuple[float, float]
) -> None:
    one = between(*turns)
    x = Span(np.array([one.low], object), np.array([one.high], object))
    found = near_words(SINE, x, between(*exact)).hull
    low, high = (math.sin(2 * math.pi * end) for end in reached)
    assert (found.low / ONE, found.high / ONE) == pytest.approx((low, high), abs=1e-7)


def test_an_output_of_too_many_cells_is_not_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    built = built_of("machado-2r", 5)
    plain = Plain(claim_of(explained(built.compact, built.ends)))
    groups = (("qd1", "qd2"), ("qdd1",), ("qdd2",))
    cells = math.prod(2 * len(one.at) for one in Tight(plain, 0, groups).angles)
    monkeypatch.setattr(tight, "MOST_CELLS", cells)
    assert Tight(plain, 0, groups).angles
    monkeypatch.setattr(tight, "MOST_CELLS", cells - 1)
    with pytest.raises(NotCoveredError, match="too many cells of its angles"):
        Tight(plain, 0, groups)
