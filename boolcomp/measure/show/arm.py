"""An arm to be drawn: where its joints are as steps of calculation, and how one looks at it.

Of every joint there are its axis, its place, and the elbow: how far its link goes along the axis
before it turns aside (d of Denavit and Hartenberg, or what a slide has moved). Then comes the tip.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.problem.dynamics.kinematics import chain_places
from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.tape import Tape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]

DRAWN = 2000  # postures that say how large an arm is
FLAT = 1e-9  # of its size: an arm that moves in a plane
WIDTH, HEIGHT = 640.0, 480.0  # of the picture
ARM_ROOM = 0.92  # of it, for the arm at its longest
TURNED, RAISED = -0.9, 0.35  # rad: where one stands who looks at an arm that is not flat


@dataclass(frozen=True, slots=True)
class View:
    """Where the picture's right and up point in the world, and what lies in its middle.

    `flat` is whether the arm moves in this plane alone; `scale` is pixels a metre.
    """

    flat: bool
    right: tuple[float, ...]
    up: tuple[float, ...]
    middle: tuple[float, ...]
    scale: float


def arm_steps(robot: Robot) -> Straight:
    """Return the steps from q1, q2, … to nine numbers a joint, and three of the tip."""
    tape = Tape()
    algebra = Folding(tape)
    q = [tape.input(f"q{k}") for k in range(1, robot.joints + 1)]
    joints, tip = chain_places(robot, algebra, q)
    found: list[Any] = []
    for link, (axis, place), x in zip(robot.links, joints, q, strict=True):
        along = algebra.constant(0.0 if link.pose is not None else link.d)
        elbow = place + axis.scaled(along if link.revolute else along + x)
        found += [*axis, *place, *elbow]
    found += [*tip]
    return tape.finish([(f"p{k}", x) for k, x in enumerate(found)])


def view_of(robot: Robot, steps: Straight) -> View:
    """Return how one looks at an arm: onto the plane in which it moves, else from one side."""
    low = np.array([link.position.low for link in robot.links])
    high = np.array([link.position.high for link in robot.links])
    postures = np.random.default_rng(0).uniform(low, high, (DRAWN, robot.joints))
    columns = dict(zip((f"q{k}" for k in range(1, robot.joints + 1)), postures.T, strict=True))
    found = np.stack(steps.evaluate([columns[name] for name in steps.inputs]), axis=1)
    axes, places = _parted(found)
    down = np.array(robot.gravity, np.float64)
    middle = places[:, 0].mean(axis=0)
    size = float(np.abs(places - middle).max()) or 1.0
    normal = axes[0, 0]
    turning = [k for k, link in enumerate(robot.links) if link.revolute]
    heights = places @ normal
    parallel = all(np.abs(np.cross(axes[:, k], normal)).max() < FLAT for k in turning)
    flat = bool(turning) and parallel and float(np.ptp(heights)) < FLAT * size
    if turning and flat:
        up = -down - normal * (-down @ normal)
        if np.linalg.norm(up) < FLAT:
            up = _across(normal)
        up /= np.linalg.norm(up)
        right = np.cross(up, normal)
    else:
        up = -down / np.linalg.norm(down) if np.linalg.norm(down) else np.array([0.0, 0.0, 1.0])
        right = _across(up)
        middle = (places.reshape(-1, 3).max(axis=0) + places.reshape(-1, 3).min(axis=0)) / 2
    reach = float(np.linalg.norm(places - middle, axis=-1).max()) or 1.0
    scale = ARM_ROOM * min(WIDTH, HEIGHT) / 2 / reach
    return View(flat, _numbers(right), _numbers(up), _numbers(middle), scale)


def _numbers(vector: Floats) -> tuple[float, ...]:
    return tuple(map(float, vector))


def _parted(found: Floats) -> tuple[Floats, Floats]:
    """Return axes, and all places (joints, then elbows, then the tip)."""
    joints = found[:, :-3].reshape(len(found), -1, 3, 3)
    tip = found[:, None, -3:]
    return joints[:, :, 0], np.concatenate([joints[:, :, 1], joints[:, :, 2], tip], axis=1)


def _across(axis: Floats) -> Floats:
    """Return a direction across an axis: x where it may be."""
    for one in np.eye(3):
        across = one - axis * (one @ axis)
        if np.linalg.norm(across) > 0.5:
            return np.asarray(across / np.linalg.norm(across))
    raise AssertionError("three axes cannot all be parallel to one")


def arm_values(robot: Robot, view: View) -> dict[str, Any]:
    """Return what the script needs to draw an arm."""
    return {
        "flat": view.flat,
        "right": view.right,
        "up": view.up,
        "middle": view.middle,
        "scale": view.scale,
        "base": _base(robot),
        "width": WIDTH,
        "height": HEIGHT,
        "turned": TURNED,
        "raised": RAISED,
        "joints": [
            {"revolute": link.revolute, "parent": parent}
            for link, parent in zip(robot.links, robot.parents, strict=True)
        ],
    }


def _base(robot: Robot) -> tuple[float, float, float]:
    """Return where an arm stands: what its first joints hang on."""
    return (0.0, 0.0, 0.0) if robot.base is None else robot.base.origin


def still(robot: Robot, view: View, steps: Straight, posture: dict[str, float]) -> str:
    """Return an arm at a posture as the inside of an SVG: what one sees before scripts run."""
    found = np.array([steps.evaluate([posture[name] for name in steps.inputs])], np.float64)
    _, places = _parted(found.reshape(1, -1))
    points = _projected(view, places[0])
    joints = robot.joints
    lines = []
    base = _projected(view, np.array([_base(robot)]))[0]
    for k, parent in enumerate(robot.parents):
        start = base if parent == 0 else points[joints + parent - 1]
        lines.append(_line("link", [start, points[k], points[joints + k]]))
    lines.append(_line("link", [points[2 * joints - 1], points[-1]]))
    dots = [f'<circle class="joint" cx="{x:.1f}" cy="{y:.1f}" r="9"/>' for x, y in points[:joints]]
    x, y = points[-1]
    return "\n".join([*lines, *dots, f'<circle class="end" cx="{x:.1f}" cy="{y:.1f}" r="6"/>'])


def _line(kind: str, points: list[Floats]) -> str:
    return f'<polyline class="{kind}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'


def _projected(view: View, places: Floats) -> Floats:
    """Return places as pixels; the script looks from the same side (arm.js)."""
    right, up = np.array(view.right), np.array(view.up)
    if not view.flat:
        across = np.cross(up, right)
        ahead = math.cos(TURNED) * across - math.sin(TURNED) * right
        right = math.cos(TURNED) * right + math.sin(TURNED) * across
        up = math.cos(RAISED) * up + math.sin(RAISED) * ahead
    away = places - np.array(view.middle)
    x = WIDTH / 2 + view.scale * (away @ right)
    y = HEIGHT / 2 - view.scale * (away @ up)
    return np.stack([x, y], axis=1)
