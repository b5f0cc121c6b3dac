"""Inverse dynamics as spectra: sampled and transformed, no computer algebra.

The inertia matrix is a trigonometric polynomial of degree 2 in every angle and a polynomial of
degree 2 in every sliding position; gravity is of degree 1 in each; neither the mass nor the
choice of frames changes that. So 5 (3) equispaced samples an axis determine M(q) and 3 determine
G(q), exactly. The velocity terms follow in the Fourier domain from Christoffel's symbols

    τ_i = Σ_j M_ij q̈_j + Σ_jk c_ijk q̇_j q̇_k + G_i
    c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i)

M does not depend on a joint on the base, which moves all that hangs on it as a whole.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.problem.dynamics.batch import gravity_torques, inertia_matrix
from boolcomp.problem.spectra import (
    Spectra,
    Summand,
    derivative,
    grid,
    sparse,
    spectra_of,
    transform,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.problem.problem import Input
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.spectra import Complex

MOST_BYTES = 1 << 30  # of samples of M(q) and their transforms: eight turning joints
BYTES_AN_ENTRY = 64  # of M(q) at one point: twice as float64, three times as complex128


def torque_spectra(
    robot: Robot, q: tuple[Input, ...], qd: Sequence[Input], qdd: Sequence[Input]
) -> Spectra:
    """Return all torques as spectra over the positions, given the inputs of every joint."""
    n = robot.joints
    sizes = [
        (5 if axis.angle else 3) if parent else 1
        for axis, parent in zip(q, robot.parents, strict=True)
    ]
    needed = math.prod(sizes) * n * n * BYTES_AN_ENTRY
    if needed > MOST_BYTES:
        raise DataError(
            f"{robot.name}: the terms of {n} joints need {needed / 1e9:.3g} GB, and at most "
            f"{MOST_BYTES / 1e9:.2g} are used: terms are found for up to eight turning joints"
        )
    sampled = inertia_matrix(robot, grid(q, sizes)).reshape(*sizes, n, n)
    inertia, gravity = transform(q, sampled), _gravity(robot, q)
    scale = float(max(np.abs(inertia).max(), np.abs(gravity).max(), 1e-300))
    outputs = [
        [
            Summand(factor, sparse(q, coefficient, scale))
            for factor, coefficient in (
                *_velocity_summands(inertia, q, qd, qdd, i),
                ((), gravity[..., i]),
            )
        ]
        for i in range(n)
    ]
    return spectra_of(q, outputs, scale)


def gravity_spectra(robot: Robot, q: tuple[Input, ...]) -> Spectra:
    """Return the torques of an arm at rest as spectra over the positions."""
    gravity = _gravity(robot, q)
    scale = float(max(np.abs(gravity).max(), 1e-300))
    outputs = [[Summand((), sparse(q, gravity[..., i], scale))] for i in range(robot.joints)]
    return spectra_of(q, outputs, scale)


def _gravity(robot: Robot, q: Sequence[Input]) -> Complex:
    sizes = [3] * robot.joints
    return transform(q, gravity_torques(robot, grid(q, sizes)).reshape(*sizes, robot.joints))


def _velocity_summands(
    inertia: Complex, q: Sequence[Input], qd: Sequence[Input], qdd: Sequence[Input], i: int
) -> Iterator[tuple[tuple[Input, ...], Complex]]:
    """Yield what torque i has of accelerations, of squares and of products of speeds."""
    n = len(q)
    for j in range(n):
        yield (qdd[j],), inertia[..., i, j]
    pairs = [(j, j) for j in range(n)] + [(j, k) for j in range(n) for k in range(j + 1, n)]
    for j, k in pairs:
        symbol = derivative(q, inertia[..., i, j], k) + derivative(q, inertia[..., i, k], j)
        symbol = (symbol - derivative(q, inertia[..., j, k], i)) / 2
        yield (qd[j], qd[k]), symbol if j == k else 2 * symbol
