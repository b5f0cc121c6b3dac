"""What coarse inputs make of the worst error whatever the logic does, and which would do.

Within a cell an output moves by up to Σ |∂y/∂x|·h/2 about its middle, and no word can tell where;
rounding makes half a step beside it. Slopes are those between the ends of cells at many states, so
what is said here is less than the truth: what is refused is refused for sure, nearly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.compact.demand import MOST_INPUT
from boolcomp.compact.sketch.poly import quantities
from boolcomp.problem.promise import HALF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.demand import Demand
    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

STATES = 4000  # drawn, and as many where linear inputs are at their ends
CERTAIN = 0.9  # of what inputs make: what is nearly enough is tried
COMFORTABLE = 0.5  # of what is promised beside rounding is what inputs may make, in advice


@dataclass(frozen=True, slots=True, eq=False)
class InputFloor:
    """By how much outputs move within half a cell of every input, (inputs, states, outputs)."""

    names: tuple[str, ...]
    bits: tuple[int, ...]
    moves: Floats

    @property
    def least(self) -> Floats:
        """What every output errs by, at least, in steps."""
        return np.asarray(HALF + self.moves.sum(axis=0).max(axis=0))

    def wider(self, promised: Floats) -> dict[str, int] | None:
        """Return the widths of inputs that leave room for logic: the fewest bits, if any do."""
        moves, bits = self.moves.copy(), list(self.bits)
        room = COMFORTABLE * (promised - HALF)
        while True:
            total = moves.sum(axis=0) / room
            state, output = np.unravel_index(int(total.argmax()), total.shape)
            if total[state, output] <= 1:
                pairs = zip(self.names, bits, self.bits, strict=True)
                return {name: now for name, now, before in pairs if now != before}
            able = [k for k, own in enumerate(bits) if own < MOST_INPUT]
            if not able:
                return None
            widest = max(able, key=lambda k: (float(moves[k, state, output]), -k))
            moves[widest] /= 2
            bits[widest] += 1


def input_floor(problem: Problem, demand: Demand) -> InputFloor:
    """Return how outputs move within the cells of inputs as wide as they may be.

    Beyond its range an output that saturates does not move.
    """
    words = quantities(problem, demand.input_bits)
    steps = np.asarray(problem.steps(demand.bits))
    states = _states(problem, demand.seed)
    saturating = demand.saturating(problem)
    low = np.where(saturating, [one.range.low for one in problem.outputs], -np.inf)
    high = np.where(saturating, [one.range.high for one in problem.outputs], np.inf)
    names, moves = [], []
    for place, one in enumerate(problem.inputs):
        word = words.get(one.name)
        if word is None or word.exact:  # nothing is unknown of it
            continue
        ends = []
        for sign in (-0.5, 0.5):
            moved = states.copy()
            moved[:, place] = np.clip(
                moved[:, place] + sign * word.step, one.range.low, one.range.high
            )
            ends.append(np.clip(problem.exact(moved), low, high))
        names.append(one.name)
        moves.append(np.abs(ends[1] - ends[0]) / 2 / steps)
    bits = tuple(words[name].bits for name in names)
    return InputFloor(tuple(names), bits, np.asarray(moves))


def refuse_impossible(problem: Problem, demand: Demand, promised: Floats) -> None:
    """Raise a `DataError` where inputs alone break a promise; it says which would do."""
    floor = input_floor(problem, demand)
    if not floor.names:
        return
    least = HALF + CERTAIN * (floor.least - HALF)
    if (least <= promised).all():
        return
    worst = int(np.argmax(floor.least / promised))
    output, step = problem.outputs[worst], problem.steps(demand.bits)[worst]
    wider = floor.wider(promised)
    if wider is None:
        advice = f"inputs of {MOST_INPUT} bits would not do: promise more"
    else:
        advice = f"these would do: --input-bits {_written(problem, demand, wider)}; or promise more"
    widths = sorted(set(floor.bits))
    most, makes = (
        f"{size:.4g} LSB ({size * step:.4g} {output.unit}".rstrip() + ")"
        for size in (promised[worst], floor.least[worst])
    )
    raise DataError(
        f"{problem.name}: {output.name} cannot be kept within {most}: inputs of {_span(widths)} "
        f"bits and rounding alone make {makes}: {advice}"
    )


def _written(problem: Problem, demand: Demand, wider: dict[str, int]) -> str:
    """Write all widths as the option takes them: a group's where its members have the same."""
    own = problem.by_input(demand.input_bits) | wider
    parts = []
    for group in problem.groups:
        bits = {own[name] for name in group.members}
        if len(bits) == 1:
            parts.append(f"{group.name}={bits.pop()}")
        else:
            parts += [f"{name}={own[name]}" for name in group.members]
    return ",".join(parts)


def _span(widths: list[int]) -> str:
    return f"{widths[0]}" if len(widths) == 1 else f"{widths[0]} to {widths[-1]}"


def _states(problem: Problem, seed: int) -> Floats:
    """Return states, (states, inputs): drawn ones, and those with linear inputs at their ends."""
    drawn = np.concatenate(problem.draw(STATES, seed), axis=1)
    low, high = problem.bounds()
    ends = np.concatenate(problem.draw(STATES, seed + 1), axis=1)
    linear = [not one.angle for one in problem.inputs]
    ends[:, linear] = np.where(ends < (low + high) / 2, low, high)[:, linear]
    return np.concatenate([drawn, ends])
