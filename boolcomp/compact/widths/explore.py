"""Annealing of widths where errors at all words are known, as of curves of one word.

No model chooses the moves then: widths move one or two at a time, and now and then a curve is split
in another way altogether. Graphs whose errors are a little too large may be passed through.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.compact.limits import in_range
from boolcomp.compact.sketch.sketch import Curve
from boolcomp.compact.sketch.variables import Role, WidthVariable
from boolcomp.compact.widths.polish import FURTHEST
from boolcomp.compact.widths.splits import curve_splits

if TYPE_CHECKING:
    from random import Random

    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.compact.sketch.variables import Widths

    Moved = dict[WidthVariable, int]

WARMTH = 0.05  # of the first cost: the temperature at first
DEAR = 1.0  # what errors that are larger by themselves cost, of the first cost
SPLITTING = 0.04  # of moves split a curve anew

MoveJudge: TypeAlias = Callable[["Moved"], tuple[float, float]]
"""Builds and simulates widths: the cost, and by what factor errors are larger than allowed."""


def explore(
    sketch: Sketch, start: Widths, judge: MoveJudge, trials: int, rng: Random
) -> tuple[Moved, float]:
    """Return the cheapest widths found that hold, and what they cost."""
    sums = sorted({v.node for v in start if v.role is Role.CUT})
    here: Moved = {Role.SHIFT.of(place): 0 for place in sums} | dict(start)
    known: dict[tuple[int, ...], tuple[float, float]] = {}

    def look(widths: Moved) -> tuple[float, float]:
        key = tuple(widths.values())
        if key not in known:
            known[key] = judge(widths)
        return known[key]

    cost, excess = look(here)
    best = (dict(here), cost if excess <= 1 else math.inf)
    dear = DEAR * cost
    score = cost + dear * max(0.0, excess - 1)
    first = WARMTH * cost
    for trial in range(trials):
        there = _moved(sketch, here, rng)
        cost, excess = look(there)
        if excess <= 1 and cost < best[1]:
            best = (dict(there), cost)
        new = cost + dear * max(0.0, excess - 1)
        warmth = first * (1 - trial / trials)
        if new <= score or (warmth and rng.random() < math.exp((score - new) / warmth)):
            here, score = there, new
    return best


def _moved(sketch: Sketch, widths: Moved, rng: Random) -> Moved:
    """Return widths nearby."""
    there = dict(widths)
    if rng.random() < SPLITTING:
        curves = [v.node for v in widths if isinstance(sketch.nodes[v.node], Curve)]
        splits = list(curve_splits(sketch, widths, rng.choice(curves))) if curves else []
        if splits:
            return there | rng.choice(splits)
    variables = [v for v in widths if v.role is not Role.KEEP]
    for variable in rng.sample(variables, min(len(variables), rng.choice((1, 2, 2, 3)))):
        value = widths[variable] + rng.choice((-1, 1))
        fits = abs(value) <= FURTHEST if variable.role is Role.SHIFT else True
        if fits and (variable.role is Role.SHIFT or in_range(sketch, variable, value)):
            there[variable] = value
    return there
