"""How large words become: at least as large as samples say, and at corners known beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.calculations import Q, R, X, problem_of, sketch_of

from boolcomp.compact.errors.samples import corners
from boolcomp.compact.sketch.poly import quantities
from boolcomp.compact.widths.reach import climbed

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

Z = ("z", -1.0, 1.0, False)
W = ("w", -1.0, 1.0, False)


def most(
    words: list[tuple[str, float, float, bool]], function: Callable[..., Any], samples: int
) -> tuple[float, float]:
    """Return the largest output among samples, and where climbing from them ends, in steps."""
    problem = problem_of(words, function)
    sketch = sketch_of(problem)
    given = quantities(problem, {one.name: 10 for one in problem.inputs})
    drawn = corners(problem, given, problem.steps(8), samples, 3).values
    (place,) = sketch.outputs
    found = sketch.evaluate(climbed(sketch, given, drawn))[place]
    return float(abs(sketch.evaluate(drawn)[place]).max()), float(abs(found).max())


def test_a_product_of_sums_is_followed_into_its_corner() -> None:
    sampled, found = most([X, Z, W], lambda _, x, z, w: (x + z) * (z + w) * (w + x) * 0.4, 4)
    assert found >= sampled
    assert found == pytest.approx(0.4 * 8 * 32, rel=1e-9)  # 32 steps are 1


def test_a_sum_of_waves_is_followed_to_its_crest() -> None:
    def text(t: Any, q: Any, r: Any) -> Any:
        return t.cosine(q - 0.3) + t.cosine(q + r + 0.4) + t.sine(r) * 0.5

    q, r = np.meshgrid(*(np.linspace(-np.pi, np.pi, 1001),) * 2)
    crest = np.abs(np.cos(q - 0.3) + np.cos(q + r + 0.4) + np.sin(r) * 0.5).max()
    sampled, found = most([Q, R], text, 4)
    assert found >= sampled
    assert found == pytest.approx(crest * 32, rel=0.03)
