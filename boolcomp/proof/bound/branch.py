"""Tight bounds of any output: branch and bound over boxes of its inputs.

In a box all that depends on its angles is known nearly; what is linear may be anything. The worst
box is split into two, at the input where that helps most. Whenever this ends the worst of all boxes
is a bound.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.boxes import Boxing, scaled
from boolcomp.proof.bound.branch_kernels import search
from boolcomp.proof.bound.plain import rounding

if TYPE_CHECKING:
    from boolcomp.proof.bound.boxes import Boxed
    from boolcomp.proof.bound.plain import Forward


def bounded(forward: Forward, column: int, budget: int) -> tuple[Fraction, Fraction, int, bool]:
    """Return the least and the largest error of an output, and how many boxes were looked at."""
    result = forward.explained.results[column]
    boxed = Boxing(forward).boxed(result.meaning)
    beside = rounding(forward.explained, column, result)
    scale = boxed.output.scale
    dims = [k for k, turning in enumerate(boxed.turning) if turning]
    low, high, seen, done = run(boxed, dims, boxed.output.place, scaled(beside, scale), budget)
    unit = Fraction(1, 1 << scale)
    return low * unit + beside.ends[0], high * unit + beside.ends[1], seen, done


def run(
    boxed: Boxed, dims: list[int], place: int, beside: tuple[int, int], budget: int
) -> tuple[int, int, int, bool]:
    """Return the ends of a slot's errors."""
    room = max(2, budget // 2 + 2)
    firsts = np.zeros((room, len(boxed.first)), np.uint16)
    lasts = np.zeros_like(firsts)
    firsts[0], lasts[0] = boxed.first, boxed.last
    result = np.zeros(4, np.int64)
    search(
        boxed.steps, boxed.args, boxed.low, boxed.high, boxed.known, firsts, lasts,
        np.array(dims, np.int64), place, np.array(beside, np.int64), budget, result,
    )  # fmt: skip
    low, high, seen, done = (int(k) for k in result)
    return low, high, seen, bool(done)
