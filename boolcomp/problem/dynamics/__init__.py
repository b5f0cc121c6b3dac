"""Inverse dynamics: the Newton-Euler recurrence, written once over any algebra."""

from boolcomp.problem.dynamics.batch import (
    bias_torques,
    gravity_torques,
    inertia_matrix,
    inverse_dynamics,
)

__all__ = ["bias_torques", "gravity_torques", "inertia_matrix", "inverse_dynamics"]
