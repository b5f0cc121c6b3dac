"""Do torque ranges suit an arm? What the torques reach, found by sampling and climbing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.text import short
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot.limits import size_problem, width_problem
from boolcomp.terms.extrema import climb, state_bounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot import Robot

SAMPLES = 100_000
BEST = 8  # samples from which every extreme is climbed to
FINE = 1e-6  # steps, as parts of a range, at which climbing ends
# Between what a search finds and a range: the search proves nothing, and a torque's word in compact
# mode is sized for 1.02 times the largest and 3 steps more, 2.3 % of the range at 8 bits.
MARGIN = 1.05
DUST = 1e-9  # of the arm's largest torque, or of what its weight could make: rounding, no torque
ROUNDING = 1e-13  # of what its speeds and accelerations could make
ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A joint's torque range beside the extremes that were searched, in N·m (N where it slides).

    `beyond` is the share of uniform samples that the range does not hold; `better` a round range
    where this one saturates or wastes a bit and a robot file may say so, otherwise None.
    """

    joint: int
    unit: str
    low: float
    high: float
    range: float
    beyond: float
    samples: int = SAMPLES

    @property
    def reach(self) -> float:
        """The largest size of the torque."""
        return max(abs(self.low), abs(self.high))

    @property
    def wasted_bits(self) -> int:
        """How many leading bits of the word's size never change."""
        if not self.reach:
            return 0
        return max(0, math.floor(math.log2(self.range / self.reach) + 1e-9))

    @property
    def saturates(self) -> bool:
        """Whether the torque was seen beyond the range."""
        return self.reach > self.range * (1 + 1e-9)

    @property
    def tight(self) -> bool:
        """Whether the range holds the torque, but leaves too little for a word of compact mode."""
        return not self.saturates and self.reach * MARGIN > self.range * (1 + 1e-9)

    @property
    def better(self) -> float | None:
        """The least round range that holds what was found, where this one does not suit."""
        if not self.saturates and not self.wasted_bits:
            return None
        found = round_above(self.reach * MARGIN)
        refused = size_problem("torque_range", found, revolute=True) or width_problem(-found, found)
        return None if refused else found

    def __str__(self) -> str:
        if not self.reach:
            return "this torque is always zero"
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


def judge_torques(robot: Robot) -> tuple[Verdict, ...]:
    """Search the extremes of all torques over the robot's ranges: seconds, and no proof."""
    n = robot.joints
    low, high = state_bounds(robot)
    states = np.random.default_rng(1988).uniform(low, high, size=(SAMPLES, 3 * n))
    torques = _torques(robot, states)
    # One function to climb for every joint and sign, from its best samples.
    order = np.argsort(np.concatenate([torques, -torques], axis=1), axis=0)[-BEST:]
    which = np.repeat(np.arange(2 * n), BEST)
    joint, sign = which % n, np.where(which < n, 1.0, -1.0)

    def height(x: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return _torques(robot, x)[np.arange(len(x)), joint[rows]] * sign[rows]

    _, found = climb(height, states[order.T.ravel()], low, high, 0.25, FINE)
    most = np.array([_tidy(value) for value in found.reshape(2 * n, BEST).max(axis=1)])
    sizes = np.abs(most).reshape(2, n).max(axis=0)
    real = sizes > dust_of(robot, float(sizes.max()))
    most *= np.tile(real, 2)
    limits = np.array([link.torque.high for link in robot.links])
    beyond = (np.abs(torques) > limits).mean(axis=0) * real
    return tuple(
        Verdict(
            k + 1, link.torque_unit, 0.0 - float(most[n + k]), 0.0 + float(most[k]),
            link.torque.high, float(beyond[k]),
        )
        for k, link in enumerate(robot.links)
    )  # fmt: skip


def dust_of(robot: Robot, largest: float) -> float:
    """Return the size up to which a torque is rounding of sums that are zero.

    Beside the largest torque of the arm stand what its weight could make, and (with what rounding
    alone leaves) its speeds and accelerations: where all torques are zero, dust is the largest.
    """
    links = robot.links
    reach = sum(
        abs(link.a) + abs(link.d) + math.hypot(*link.center_of_mass)
        + (0.0 if link.revolute else link.position.magnitude)
        for link in links
    )  # fmt: skip
    inertia = robot.mass * reach**2 + sum(sum(map(abs, link.inertia)) for link in links)
    speed = sum(link.velocity.magnitude for link in links)
    changes = speed**2 + sum(link.acceleration.magnitude for link in links)
    weight = robot.mass * math.hypot(*robot.gravity) * reach
    return max(DUST * largest, DUST * weight, ROUNDING * inertia * changes)


def round_above(value: float) -> float:
    """Return the least round number that is not below: 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8."""
    if not value:
        return 1.0
    power = math.floor(math.log10(value))
    digits = next(d for d in ROUND if d * 10.0**power >= value or d == ROUND[-1])
    return float(f"{digits:g}e{power}")


def _tidy(value: float) -> float:
    """Keep nine digits, so that no machine's last bit shows."""
    return float(f"{value:.9g}") + 0.0


def _torques(robot: Robot, x: NDArray[np.float64]) -> NDArray[np.float64]:
    n = robot.joints
    return inverse_dynamics(robot, x[:, :n], x[:, n : 2 * n], x[:, 2 * n :])
