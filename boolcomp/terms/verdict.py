"""Do output ranges suit? What the outputs reach, found by sampling and climbing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.text import short
from boolcomp.problem.interval import MOST_SIZE, round_above, width_problem
from boolcomp.terms.extrema import climb

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.problem import Output, Problem

SAMPLES = 100_000
BEST = 8  # samples from which every extreme is climbed to
FINE = 1e-6  # steps, as parts of a range, at which climbing ends
# Between what a search finds and a range: the search proves nothing, and a word in compact mode
# is sized for 1.02 times the largest and 3 steps more, 2.3 % of the range at 8 bits.
MARGIN = 1.05
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
    n = len(problem.outputs)
    low, high = problem.bounds()
    states = np.random.default_rng(1988).uniform(low, high, size=(SAMPLES, len(low)))
    values = problem.exact(states)
    # One function to climb for every output and sign, from its best samples.
    order = np.argsort(np.concatenate([values, -values], axis=1), axis=0)[-BEST:]
    which = np.repeat(np.arange(2 * n), BEST)
    place, sign = which % n, np.where(which < n, 1.0, -1.0)

    def height(x: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return problem.exact(x)[np.arange(len(x)), place[rows]] * sign[rows]

    _, found = climb(height, states[order.T.ravel()], low, high, 0.25, FINE)
    most = np.array([_tidy(value) for value in found.reshape(2 * n, BEST).max(axis=1)])
    sizes = np.abs(most).reshape(2, n).max(axis=0)
    real = sizes > dust_of(problem, float(sizes.max()))
    most *= np.tile(real, 2)
    limits = np.array([output.range.high for output in problem.outputs])
    beyond = (np.abs(values) > limits).mean(axis=0) * real
    return tuple(
        Verdict(
            output, 0.0 - float(most[n + k]), 0.0 + float(most[k]), output.range.high,
            float(beyond[k]),
        )
        for k, output in enumerate(problem.outputs)
    )  # fmt: skip


def dust_of(problem: Problem, largest: float) -> float:
    """Return the size up to which an output is rounding of sums that are zero.

    Beside the largest output stands what the problem knows: where all outputs are zero, dust is
    the largest.
    """
    return max(DUST * largest, problem.dust)


def _tidy(value: float) -> float:
    """Keep nine digits, so that no machine's last bit shows."""
    return float(f"{value:.9g}") + 0.0
