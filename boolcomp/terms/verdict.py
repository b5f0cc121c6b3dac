"""Do output ranges suit? What the outputs reach, found by sampling and climbing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import short
from boolcomp.problem.extremes import MARGIN, SAMPLES, extremes
from boolcomp.problem.interval import MOST_SIZE, round_above, width_problem

if TYPE_CHECKING:
    from boolcomp.problem.problem import Output, Problem

DUST = 1e-9  # of the largest output: rounding


@dataclass(frozen=True, slots=True)
class Verdict:
    """An output's range beside the extremes that were searched, in its unit.

    `beyond` is the share of uniform samples that the range does not hold; `better` a round range
    where this one saturates or wastes a bit and a robot file may say so, otherwise None.
    """

    output: Output
    low: float
    high: float
    range: float
    beyond: float
    samples: int = SAMPLES

    @property
    def reach(self) -> float:
        """The largest size of the output."""
        return max(abs(self.low), abs(self.high))

    @property
    def wasted_bits(self) -> int:
        """How many leading bits of the word's size never change."""
        if not self.reach:
            return 0
        return max(0, math.floor(math.log2(self.range / self.reach) + 1e-9))

    @property
    def saturates(self) -> bool:
        """Whether the output was seen beyond the range."""
        return self.reach > self.range * (1 + 1e-9)

    @property
    def tight(self) -> bool:
        """Whether the range holds the output, but leaves too little for a word of compact mode."""
        return not self.saturates and self.reach * MARGIN > self.range * (1 + 1e-9)

    @property
    def better(self) -> float | None:
        """The least round range that holds what was found, where this one does not suit."""
        if not self.saturates and not self.wasted_bits:
            return None
        found = round_above(self.reach * MARGIN)
        return None if found > MOST_SIZE or width_problem(-found, found) else found

    def __str__(self) -> str:
        if not self.reach:
            return f"this {self.output.noun} is always zero"
        if self.saturates:
            beyond = round(self.beyond * self.samples)
            if not beyond:
                return f"saturates (found by climbing; none of {self.samples} samples)"
            return f"saturates: {beyond} of {self.samples} samples beyond"
        if self.wasted_bits:
            return f"wastes {self.wasted_bits} bit{'s' * (self.wasted_bits > 1)}"
        used = f"{short(100 * self.reach / self.range, 3)} % of it is used"
        if self.tight:
            return f"tight: compact mode may take a bit more ({used})"
        return f"suits: {used}"


def judge_outputs(problem: Problem) -> tuple[Verdict, ...]:
    """Search the extremes of all outputs over the inputs' ranges: seconds, and no proof."""
    values, most = extremes(problem.exact, problem.bounds())
    sizes = np.abs(most).max(axis=0)
    real = sizes > dust_of(problem, float(sizes.max()))
    most = most * real
    limits = np.array([output.range.high for output in problem.outputs])
    beyond = (np.abs(values) > limits).mean(axis=0) * real
    return tuple(
        Verdict(output, 0.0 - float(least), 0.0 + float(largest), output.range.high, float(share))
        for output, largest, least, share in zip(problem.outputs, *most, beyond, strict=True)
    )


def dust_of(problem: Problem, largest: float) -> float:
    """Return the size up to which an output is rounding of sums that are zero.

    Beside the largest output stands what the problem knows: where all outputs are zero, dust is
    the largest.
    """
    return max(DUST * largest, problem.dust)
