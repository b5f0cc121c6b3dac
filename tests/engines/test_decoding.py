"""The short way from cells to values is taken only where it gives the values themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.codes import Code
from boolcomp.engines.native.decoding import is_short
from boolcomp.problem.interval import Interval

if TYPE_CHECKING:
    from boolcomp.engines.native.lines import Sample

KINDS: list[tuple[Sample, Any]] = [("float", np.float32), ("double", np.float64)]


def test_ranges_of_few_bits_have_short_centres_and_others_have_not() -> None:
    assert is_short(Code(Interval(-200, 200), 8), "float")
    assert is_short(Code(Interval(-64, 64), 9), "double")
    assert not is_short(Code(Interval(-np.pi, np.pi), 8), "float")
    assert not is_short(Code(Interval(-1, 1), 20), "double")


def test_short_centres_are_the_centres() -> None:
    rng = np.random.default_rng(0)
    short = 0
    for _ in range(200):
        low = float(rng.choice([-1.0, 0.3, -200.1953125, rng.uniform(-9, 0)]))
        code = Code(Interval(low, low + float(rng.choice([2.0, 400.0, 0.7]))), 8)
        for real, kind in KINDS:
            if is_short(code, real):
                short += 1
                cells = np.arange(256)
                step, low = np.array([code.step, code.range.low + code.step / 2]).astype(kind)
                made = cells.astype(kind) * step + low
                assert (made == code.centre(cells).astype(kind)).all()
    assert short > 10
