"""The paper's arm as a textbook writes it, and its energy: an oracle that shares no code."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mass_matrix(q: Floats) -> Floats:
    """Return M(q) of the arm of 1988: 15.75 + 10 cos q2 and so on."""
    c = np.cos(q[1])
    return np.array([[15.75 + 10 * c, 4 + 5 * c], [4 + 5 * c, 9.0]])


def bias(q: Floats, qd: Floats) -> Floats:
    """Return what holds the arm while nothing accelerates."""
    s, weight = np.sin(q[1]), 49 * np.cos(q[0] + q[1])
    return np.array(
        [
            -5 * s * qd[1] ** 2 - 10 * s * qd[0] * qd[1] + 66.15 * np.cos(q[0]) + weight,
            5 * s * qd[0] ** 2 + weight,
        ]
    )


def torques(q: Floats, qd: Floats, qdd: Floats) -> Floats:
    """Return the torques of a motion."""
    return mass_matrix(q) @ qdd + bias(q, qd)


def slope(state: Floats, torque: Floats, friction: Floats | float = 0.0) -> Floats:
    """Return how positions and speeds change; friction is a torque in N·m·s a joint."""
    q, qd = state[:2], state[2:]
    push = torque - bias(q, qd) - friction * qd
    return np.concatenate([qd, np.linalg.solve(mass_matrix(q), push)])


def energy(q: Floats, qd: Floats) -> float:
    """Return kinetic and potential energy."""
    height = 66.15 * np.sin(q[0]) + 49 * np.sin(q[0] + q[1])
    return float(qd @ mass_matrix(q) @ qd / 2 + height)


def moved(state: Floats, torque: Floats, seconds: float, friction: Floats | float = 0.0) -> Floats:
    """Return the state after so long under a torque, by scipy's DOP853 to 1e-12."""
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        lambda _, y: slope(y, torque, friction), (0, seconds), state, "DOP853",
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    return np.asarray(found.y[:, -1])
