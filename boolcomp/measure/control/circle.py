"""A circle of the tip, in joint angles: by inverse kinematics of any arm.

Gauss-Newton for all points at once; what an arm could do otherwise and reach the same points, it
does as little as it can away from where it starts, so that the path closes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataError, UsageError, shown, suggestion
from boolcomp.problem.dynamics.batch import evaluated_states
from boolcomp.problem.dynamics.kinematics import forward_kinematics, jacobian

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]

POINTS = 256  # of the circle, exact; a sum of waves between them
DUST = 1e-13  # of the largest wave
STEPS, LONGEST_STEP = 200, 0.2  # rad or m
EXACT, REACHED = 1e-12, 1e-8  # m
SINGULAR = 1e-3  # of the largest singular value: no direction to go in
RADIUS = 0.05  # of how far joints' ranges would move the tip, were they all slopes
PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


@dataclass(frozen=True, slots=True, eq=False)
class ClosedPath:
    """Joint positions over a phase of 0 to 2π, as a sum of waves: smooth, and so are all slopes."""

    multiples: Floats
    waves: NDArray[np.complex128]  # (multiples, joints)

    def at(self, phase: Floats, order: int = 0) -> Floats:
        """Return (phases, joints): positions, or their derivatives of an order."""
        turned = np.exp(1j * phase[:, None] * self.multiples)
        slopes = self.waves * (1j * self.multiples[:, None]) ** order
        return np.ascontiguousarray((turned @ slopes).real)

    def slopes(self, order: int) -> Floats:
        """Return derivatives all around."""
        return self.at(np.linspace(0, 2 * math.pi, 4 * POINTS, endpoint=False), order)


def closed_path(places: Floats) -> ClosedPath:
    """Return the path through places at equal distances of phase; waves that are rounding go."""
    waves = np.fft.rfft(places, axis=0) / len(places)
    waves[1:] *= 2
    waves = waves[: len(places) // 2]
    kept = np.abs(waves).max(axis=1) > DUST * np.abs(waves).max()
    kept[0] = True
    return ClosedPath(np.flatnonzero(kept).astype(np.float64), waves[kept])


def circle(robot: Robot, at: Floats, radius: float | None, plane: str) -> ClosedPath:
    """Return the path of a circle that begins where the joints are `at`.

    Its plane is one that is named, or that in which the tip moves best from there.
    """
    first, second, reach = _plane(robot, at, plane)
    radius = radius or RADIUS * reach
    phase = np.linspace(0, 2 * math.pi, POINTS, endpoint=False)[:, None]
    offsets = radius * ((np.cos(phase) - 1) * first + np.sin(phase) * second)
    wanted = tip(robot, at[None]) + offsets
    found = np.repeat(at[None], POINTS, axis=0)
    for _ in range(STEPS):
        slopes = tip_slopes(robot, found)
        missing = wanted - tip(robot, found)
        inverse = np.linalg.pinv(slopes, rcond=SINGULAR)
        step = np.einsum("pjx,px->pj", inverse, missing)
        back = at - found
        step += back - np.einsum("pjx,pxk,pk->pj", inverse, slopes, back)
        longest = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
        found = found + step
        if longest.max() < EXACT:
            break
    if np.abs(wanted - tip(robot, found)).max() > REACHED:
        raise DataError(
            f"{robot.name}: a circle of radius {radius:g} m from {np.round(at, 3).tolist()} is out "
            "of reach: give another radius, place (at) or plane"
        )
    return closed_path(found)


def tip(robot: Robot, q: Floats) -> Floats:
    """Return where the tip is, (samples, 3), in m."""
    return evaluated_states(forward_kinematics, robot, q, kept=(0, 1, 2))


def tip_slopes(robot: Robot, q: Floats) -> Floats:
    """Return how the tip moves with the joints, (samples, 3, joints)."""
    rows = evaluated_states(jacobian, robot, q, kept=range(3 * robot.joints))
    return rows.reshape(len(q), 3, robot.joints)


def _plane(robot: Robot, at: Floats, plane: str) -> tuple[Floats, Floats, float]:
    """Return two directions, and how far the ranges of joints would move the tip along both."""
    halves = [min(link.position.width / 2, math.pi) for link in robot.links]
    slopes = tip_slopes(robot, at[None])[0] * halves
    if plane:
        if plane not in PLANES:
            hint = suggestion(plane, PLANES)
            raise UsageError(f"trajectory circle: plane {shown(plane)}{hint}: xy, xz or yz")
        first, second = (np.eye(3)[axis] for axis in PLANES[plane])
        return first, second, float(min(np.linalg.norm(slopes.T @ x) for x in (first, second)))
    left, sizes, _ = np.linalg.svd(slopes)
    if len(sizes) < 2 or sizes[1] < SINGULAR * sizes[0]:
        raise DataError(
            f"{robot.name}: the tip moves along a line there: no circle is in reach (at=…)"
        )
    best = left[:, :2].T
    signs = np.sign(best[np.arange(2), np.abs(best).argmax(axis=1)])
    return signs[0] * best[0], signs[1] * best[1], float(sizes[1])
