"""The last steps towards fewer nodes: single widths moved, built and simulated one by one.

The noise model chooses what to try and in which order; what is kept is decided by the built
network's nodes and by the errors of bit-exact simulation. So constants that happen to be cheap, and
tables that happen to share nodes, are found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.compact.limits import in_range
from boolcomp.compact.sketch.sketch import WordSum
from boolcomp.compact.sketch.variables import UNSEEN, Role, WidthVariable

if TYPE_CHECKING:
    from random import Random

    from numpy.typing import NDArray

    from boolcomp.compact.widths.descend import Descent

    Floats = NDArray[np.float64]

FURTHEST = 2  # units by which a heap's constant may be moved
OVERSHOOT = 0.03  # of what is allowed: what is predicted to be this far beyond is still tried


@dataclass(frozen=True, slots=True)
class Trial:
    """What building and simulating widths gave: nodes, mean square errors, and whether it holds."""

    nodes: int
    squares: Floats
    holds: bool


@dataclass(frozen=True, slots=True)
class _Move:
    variable: WidthVariable
    value: int
    saving: float
    noise: Floats


WidthJudge: TypeAlias = Callable[[dict[WidthVariable, int]], Trial]


def polish(descent: Descent, allowed: Floats, judge: WidthJudge, trials: int) -> tuple[Trial, int]:
    """Move widths, one or two at a time, while built nodes fall and measured errors hold.

    `descent.widths` must hold; they are changed to the best found. At most `trials` are built;
    how many were left is returned too.
    """
    best = judge(descent.widths)
    left = trials
    moved = True
    while moved and left > 0:
        moved = False
        for moves in _proposals(descent, allowed - best.squares)[:left]:
            left -= 1
            old = {move.variable: descent.widths.get(move.variable, 0) for move in moves}
            descent.widths.update({move.variable: move.value for move in moves})
            trial = judge(descent.widths)
            if trial.holds and trial.nodes < best.nodes:
                best, moved = trial, True
            else:
                descent.widths.update(old)
    descent.refresh()
    return best, left


def anneal(
    descent: Descent, best: Trial, prices: Floats, judge: WidthJudge, trials: int, rng: Random
) -> Trial:
    """Perturb widths, let the model settle around them, and keep what turns out to be no larger.

    Among the many choices that the model finds about as good, some build smaller than others.
    `descent.widths` are changed to the best found.
    """
    for _ in range(trials):
        saved = descent.saved()
        descent.jump(prices, rng)
        trial = judge(descent.widths)
        if trial.holds and trial.nodes <= best.nodes:
            best = trial
        else:
            descent.restore(saved)
    descent.refresh()
    return best


def _proposals(descent: Descent, slack: Floats) -> list[tuple[_Move, ...]]:
    """Return moves that might save nodes: coarser widths, constants, and exchanges of two."""
    descent.refresh()
    rank = {variable: variable.rank for variable in descent.widths}
    coarser = [m for m in _moves(descent) if m.saving > 0]
    finer = [m for m in _moves(descent) if m.saving <= 0 and (m.noise < 0).any()]
    worth = np.maximum(slack, 0.0) + OVERSHOOT * descent.allowed
    singles = [m for m in coarser if (m.noise <= worth).all()]
    singles.sort(key=lambda m: (-m.saving, rank[m.variable]))
    proposals: list[tuple[_Move, ...]] = [(m,) for m in singles]
    proposals += [(m,) for m in _constants(descent)]
    pairs = []
    for gain in coarser:
        for loss in finer:
            noise = gain.noise + loss.noise
            saving = gain.saving + loss.saving
            if gain.variable != loss.variable and saving > 0 and (noise <= worth).all():
                pairs.append((saving, gain, loss))
    pairs.sort(
        key=lambda p: (-p[0], rank[p[1].variable], rank[p[2].variable], p[1].value, p[2].value)
    )
    return proposals + [(gain, loss) for _, gain, loss in pairs]


def _moves(descent: Descent) -> list[_Move]:
    """Return every single step of a width, with what the model says of it."""
    found = []
    for variable in list(descent.widths):
        if variable.node not in descent.live or variable.role in (*UNSEEN, Role.KEEP):
            continue
        for step in (1, -1):
            value = descent.beside(variable, step)
            if in_range(descent.sketch, variable, value):
                cost, noise = descent.change(variable, value)
                if cost or noise.any():
                    found.append(_Move(variable, value, -cost, noise))
    return found


def _constants(descent: Descent) -> list[_Move]:
    sums = [p for p in sorted(descent.live) if isinstance(descent.sketch.nodes[p], WordSum)]
    return [
        _Move(Role.SHIFT.of(place), value + step, 0.0, np.zeros(1))
        for place in sums
        for value in (descent.widths.get(Role.SHIFT.of(place), 0),)
        for step in (1, -1)
        if abs(value + step) <= FURTHEST
    ]
