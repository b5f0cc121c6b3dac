"""Two parallel revolute joints in closed form, and the C header that the rivals are made from.

    T1 = M(q2) (2 q̈1 + q̈2) + A q̈1 + S(q2) (q̇1² - (q̇1 + q̇2)²) + Ga cos(q1 + a) + Gb cos(q1 + q2 + b)
    T2 = M(q2) q̈1 + E q̈2 + S(q2) q̇1² + Gb cos(q1 + q2 + b)         M = D + B cos q2, S = B sin q2

`two_link` measures the constants from Newton-Euler and proves the form on random states. a and b
are whole quarter turns; other arms of the kind have no such rivals, and are told why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.bench.polynomials import c_float, minimax, wave_polynomial
from boolcomp.problem.dynamics.batch import gravity_torques, inertia_matrix, inverse_dynamics

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Robot

FORM_ERROR = 1e-9  # of the torque range
QUARTER = math.pi / 2
STATES = 64


@dataclass(frozen=True, slots=True)
class TwoLink:
    """The constants: kg·m² and N·m, quarter turns, and half the range of every variable."""

    a: float
    b: float
    d: float
    e: float
    weight_a: float
    weight_b: float
    quarters_a: int
    quarters_b: int
    speeds: tuple[float, float]
    rates: tuple[float, float]
    torques: tuple[float, float]

    @property
    def equal_ranges(self) -> bool:
        """Whether both joints have the same range of speed and of acceleration."""
        return self.speeds[0] == self.speeds[1] and self.rates[0] == self.rates[1]


def two_link(robot: Robot) -> TwoLink | str:
    """Return the closed form of a robot, or the reason why it has none."""
    if robot.joints != 2 or not all(link.revolute for link in robot.links):
        return "not two revolute joints"
    if abs(math.sin(robot.links[0].alpha)) > 1e-12:
        return "the joints are not parallel"
    for link in robot.links:
        ranges = (link.velocity, link.acceleration, link.torque)
        if any(r.low != -r.high for r in ranges):
            return "a range is not symmetric about zero"
        if (link.position.low, link.position.high) != (-math.pi, math.pi):
            return "a position range is not a full turn, -pi to pi"
    found = _constants(robot)
    if not isinstance(found, str) and _misfit(robot, found) > FORM_ERROR:
        return "the closed form does not fit the arm"
    return found


def _constants(robot: Robot) -> TwoLink | str:
    turns = np.array([[0.0, 0.0], [0.0, math.pi], [0.0, QUARTER]])
    mass = inertia_matrix(robot, turns)
    d, b = (mass[0, 0, 1] + mass[1, 0, 1]) / 2, (mass[0, 0, 1] - mass[1, 0, 1]) / 2
    still = gravity_torques(robot, np.array([[0.0, 0.0], [-QUARTER, 0.0]]))
    waves = []
    for cosine, sine in (still[:, 0] - still[:, 1], still[:, 1]):
        size = math.hypot(cosine, sine)
        quarters = round(math.atan2(sine, cosine) / QUARTER)
        # Written as size·cos(q + quarters·π/2): at q = -π/2 that is size·sin(quarters·π/2).
        if abs(math.atan2(sine, cosine) - quarters * QUARTER) > 1e-9:
            return "gravity or a centre of mass lies askew: phases are not quarter turns"
        waves.append((size, quarters % 4))
    if abs(mass[2, 0, 1] - d) > 1e-9 * max(1.0, abs(d)):
        return "a centre of mass is off the line of its link"
    links = robot.links
    return TwoLink(
        a=float((mass[0, 0, 0] + mass[1, 0, 0]) / 2 - 2 * d),
        b=float(b),
        d=float(d),
        e=float(mass[0, 1, 1]),
        weight_a=waves[0][0],
        weight_b=waves[1][0],
        quarters_a=waves[0][1],
        quarters_b=waves[1][1],
        speeds=(links[0].velocity.high, links[1].velocity.high),
        rates=(links[0].acceleration.high, links[1].acceleration.high),
        torques=(links[0].torque.high, links[1].torque.high),
    )


def closed_form(
    arm: TwoLink, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return both torques: the numpy rival, in the arrays' own precision."""
    (q1, q2), (u, v), (r1, r2) = q.T, qd.T, qdd.T
    mass = arm.d + arm.b * np.cos(q2)
    turn = arm.b * np.sin(q2)
    weight = arm.weight_b * np.cos(q1 + q2 + arm.quarters_b * QUARTER)
    lift = arm.weight_a * np.cos(q1 + arm.quarters_a * QUARTER)
    square, both = u * u, u + v
    one = mass * (2 * r1 + r2) + arm.a * r1 + turn * (square - both * both) + lift + weight
    two = mass * r1 + arm.e * r2 + turn * square + weight
    return one, two


def _misfit(robot: Robot, arm: TwoLink) -> float:
    rng = np.random.default_rng(0)
    q = rng.uniform(-math.pi, math.pi, (STATES, 2))
    qd, qdd = rng.uniform(-1, 1, (2, STATES, 2)) * np.array([[arm.speeds], [arm.rates]])
    found = np.stack(closed_form(arm, q, qd, qdd), axis=1)
    return float(np.abs((found - inverse_dynamics(robot, q, qd, qdd)) / arm.torques).max())


def header(arm: TwoLink, wave_error: float) -> str:
    """Return the C header of an arm for the float rivals; waves err so much of their amplitude."""
    numbers = {
        "MASS_A": arm.a, "MASS_B": arm.b, "MASS_D": arm.d, "MASS_E": arm.e,
        "WEIGHT_A": arm.weight_a, "WEIGHT_B": arm.weight_b,
        "SPEED_1": arm.speeds[0], "SPEED_2": arm.speeds[1],
        "RATE_1": arm.rates[0], "RATE_2": arm.rates[1],
        "TORQUE_1": arm.torques[0], "TORQUE_2": arm.torques[1],
    }  # fmt: skip
    lines = [f"#define {name} {c_float(value)}" for name, value in numbers.items()]
    lines += [f"#define QUARTERS_A {arm.quarters_a}", f"#define QUARTERS_B {arm.quarters_b}"]
    cosine, sine = (wave_polynomial(kind, wave_error) for kind in ("cosine", "sine"))
    lines += [
        f"#define COSINE_OF(z) {cosine.horner()}",
        f"#define SINE_OF(z) {sine.horner()}",
        f"#define COSINE_VECTOR(z, scale, plus) {cosine.vector('FMA', 'SET', 'plus')}",
        f"#define SINE_VECTOR(z, scale) {sine.vector('FMA', 'SET')}",
    ]
    return "\n".join(lines) + "\n"


def fixed_header(arm: TwoLink) -> str | None:
    """Return the C header for 16-bit fixed point, or None where the constants do not fit."""
    rate, speed = arm.rates[0], arm.speeds[0]
    mass, squares = abs(arm.d) + abs(arm.b), abs(arm.b) * speed**2 / rate
    one = (abs(arm.a) + 3 * mass + 3 * squares) / 4
    two = mass + abs(arm.e) + squares
    unit = 1.01 * max(one, two)  # kg·m²: the dynamic part of T2 in 2^15, that of T1 in 2^17
    x = np.linspace(1e-3, 1, 400)
    basis = np.stack([x, x**3, x**5], axis=1)
    sine = minimax(basis, np.sin(QUARTER * x) - x).coefficients
    numbers = {
        "FIXED_SINE_0": sine[0], "FIXED_SINE_1": sine[1], "FIXED_SINE_2": sine[2],
        "FIXED_A": arm.a / (4 * unit), "FIXED_B": arm.b / unit, "FIXED_D": arm.d / unit,
        "FIXED_E": arm.e / unit, "FIXED_SPEED": arm.b * speed**2 / (unit * rate),
        "FIXED_UNIT_1": 4 * unit * rate / arm.torques[0],
        "FIXED_UNIT_2": unit * rate / arm.torques[1],
        "FIXED_GA": arm.weight_a / arm.torques[0], "FIXED_GB1": arm.weight_b / arm.torques[0],
        "FIXED_GB2": arm.weight_b / arm.torques[1],
    }  # fmt: skip
    if not arm.equal_ranges or any(abs(value) >= 1 for value in numbers.values()):
        return None
    return "".join(f"#define {name} {round(value * 32768)}\n" for name, value in numbers.items())
