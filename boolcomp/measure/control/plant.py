"""The arm that is controlled: forward dynamics in doubles, moved on by Runge-Kutta steps.

Between two instants of control torques are constant and nothing jumps (dry friction's sign is
smoothed), so a method of fixed step and fourth order is what is wanted: every run takes the same
steps, at every instant there is a state, and results do not depend on which runs go together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.control.kernels import advance
from boolcomp.measure.control.recorded import forward_dynamics, inverse_dynamics
from boolcomp.problem.dynamics.friction import usual_smoothing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.measure.control.recorded import Recorded
    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]

LONGEST = 1e-3  # s: of a step, if nothing is said
STIFF = 0.5  # of a step times the fastest decay by friction: far within stability, 2.78


@dataclass(frozen=True, slots=True, eq=False)
class Plant:
    """An arm with its friction, or without."""

    robot: Robot
    forward: Recorded
    rubs: bool

    def moved(self, state: Floats, torque: Floats, step: float, steps: int, room: Floats) -> None:
        """Move states (positions over speeds, a column a run) on by so many steps, in place."""
        program = (self.forward.code, room, self.forward.outputs)
        advance(program, state, torque, step, steps)

    def accelerations(self, q: Floats, qd: Floats, torque: Floats) -> Floats:
        """Return (joints, runs) of the same."""
        return self.forward.evaluate(q, qd, torque)

    def steps(self, period: float) -> int:
        """Return how many steps a period of control takes: by its length, and by friction."""
        longest = LONGEST
        if self.rubs and (decay := _fastest_decay(self.robot)) > 0:
            longest = min(longest, STIFF / decay)
        return max(1, math.ceil(period / longest - 1e-9))


def plant_of(robot: Robot, *, rubs: bool = True) -> Plant:
    """Return an arm to be controlled; `rubs` says whether its joints have their friction."""
    lossy = any(link.viscous_friction or any(link.coulomb_friction) for link in robot.links)
    return Plant(robot, forward_dynamics(robot, rubs=rubs and lossy), rubs and lossy)


def inertia(robot: Robot, q: Floats) -> Floats:
    """Return M(q), (runs, joints, joints), of positions (joints, runs)."""
    recorded, n, runs = inverse_dynamics(robot), robot.joints, q.shape[1]
    rest = np.zeros((n, runs))
    weight = recorded.evaluate(q, rest, rest)
    columns = []
    for k in range(n):
        unit = rest.copy()
        unit[k] = 1.0
        columns.append(recorded.evaluate(q, rest, unit) - weight)
    return np.stack(columns, axis=-1).transpose(1, 0, 2)


def _fastest_decay(robot: Robot) -> float:
    """Return the fastest rate (1/s) at which friction slows a joint, at a few places."""
    links, n = robot.links, robot.joints
    spread = np.linspace(-0.4, 0.4, 5)
    places = np.array([link.position.centre + spread * link.position.width for link in links])
    inverse = np.linalg.inv(inertia(robot, places))
    rates = []
    for k, (link, within) in enumerate(zip(links, usual_smoothing(robot), strict=True)):
        dry = abs(link.gear_ratio) * max(link.coulomb_friction)
        slope = link.viscous_friction * link.gear_ratio**2 + dry / within
        rates.append(slope * float(inverse[:, k, k].max()))
    return max(rates[:n])
