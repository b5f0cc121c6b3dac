"""What may be asked of a robot: outputs by name, as sums of waves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb

from boolcomp.checker.functions.dynamics import Arm, Vector, cross, dot
from boolcomp.checker.functions.waves import number
from boolcomp.checker.robot import NOTHING, hold, product, read_robot, spread
from boolcomp.checker.steps import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.checker.functions.curves import Functions
    from boolcomp.checker.functions.waves import Space, Sum
    from boolcomp.checker.robot import Robot, Rows

FRICTION = "inverse-dynamics-with-friction"
KP, KD = 100, 20  # gains of control laws


def outputs(function: str, text: str, space: Functions, payload: float = 0.0) -> dict[str, Sum]:
    """Return all outputs of a function of a robot; what is no sum of waves is not covered.

    A `payload` (kg), or a load as an input, is a point mass at the tip, in the last link's axes.
    """
    name, *choices = function.split(":")
    loaded = [one for one in choices if one.startswith("load=")]
    smooth = [one[10:] for one in choices if one.startswith("smoothing=")]
    if len(choices) > len(loaded) + len(smooth) or name not in (FRICTION, *FUNCTIONS):
        raise NotCoveredError(f"{function} is no function that the checker knows")
    robot = read_robot(text, space)
    tip = [row[3].parts.get(0, arb(0)).real for row in robot.tool]
    for mass in [number(payload), *(space.value("mass") for _ in loaded)]:
        hold(robot.joints[-1], [[x * mass for x in row] for row in spread(arb(1), [*tip, arb(1)])])
    if name == FRICTION:
        given = [float(x) for x in smooth[0].split(",")] if smooth else []
        return _with_friction(robot, space, given * (1 if given[1:] else len(robot.joints)))
    return FUNCTIONS[name](robot, space)


def _inputs(arm: Arm, letters: str) -> Vector:
    return [arm.space.value(f"{letters}{k + 1}") for k in range(arm.size)]


def _torques(arm: Arm, speeds: Vector | None, rates: Vector | None) -> dict[str, Sum]:
    zeros = [NOTHING] * arm.size
    found = (arm.torque(i, speeds or zeros, rates or zeros) for i in range(arm.size))
    return {f"tau{i}": one for i, one in enumerate(found, 1)}


def _dynamics(robot: Robot, space: Space) -> dict[str, Sum]:
    arm = Arm(robot, space)
    return _torques(arm, _inputs(arm, "qd"), _inputs(arm, "qdd"))


def _with_friction(robot: Robot, space: Functions, smooth: list[float]) -> dict[str, Sum]:
    """Return torques with viscous friction, and dry friction whose sign is tanh(q̇ / v)."""
    arm = Arm(robot, space)
    found, speeds = _dynamics(robot, space), _inputs(arm, "qd")
    for k, (name, joint, speed) in enumerate(zip(found, robot.joints, speeds, strict=True)):
        found[name] = found[name] + speed.times(joint.viscous)
        if any(joint.dry):
            usual = 0.02 * (max(abs(end) for end in joint.speeds) or 1.0)
            sign = space.apply("tanh", [speed.times(1 / arb(smooth[k] if smooth else usual))])
            mean, half = (joint.dry[0] + joint.dry[1]) / 2, (joint.dry[0] - joint.dry[1]) / 2
            found[name] = found[name] + sign.times(mean) + (sign * sign).times(half)
    return found


def _bias(robot: Robot, space: Space) -> dict[str, Sum]:
    arm = Arm(robot, space)
    return _torques(arm, _inputs(arm, "qd"), None)


def _gravity(robot: Robot, space: Space) -> dict[str, Sum]:
    return _torques(Arm(robot, space), None, None)


def _inertia(robot: Robot, space: Space) -> dict[str, Sum]:
    arm = Arm(robot, space)
    joints = range(1, arm.size + 1)
    return {f"m{i}{j}": arm.inertia(i - 1, j - 1) for i in joints for j in joints if i <= j}


def _computed_torque(robot: Robot, space: Space) -> dict[str, Sum]:
    arm = Arm(robot, space)
    given = zip(*(_inputs(arm, letters) for letters in ("qddr", "de", "e")), strict=True)
    return _torques(arm, _inputs(arm, "qd"), [a + b.times(KD) + c.times(KP) for a, b, c in given])


def _pd_gravity(robot: Robot, space: Space) -> dict[str, Sum]:
    arm = Arm(robot, space)
    given = zip(_gravity(robot, space).items(), _inputs(arm, "e"), _inputs(arm, "de"), strict=True)
    return {name: one + e.times(KP) + de.times(KD) for (name, one), e, de in given}


def _slopes(robot: Robot, space: Space) -> dict[str, Sum]:
    found, joints = _dynamics(robot, space), range(1, len(robot.joints) + 1)
    return {
        f"d{name}_d{letters}{j}": space.derivative(one, f"{letters}{j}")
        for letters in ("q", "qd")
        for name, one in found.items()
        for j in joints
    }


def _frames(robot: Robot) -> tuple[list[Rows], Rows]:
    """Return every joint's frame before it moves, and that of the tip, in the world."""
    befores, afters = [], [robot.base]
    for joint in robot.joints:
        befores.append(product(afters[joint.parent], joint.place))
        afters.append(product(befores[-1], joint.motion))
    return befores, product(afters[-1], robot.tool)


def _tip_pose(robot: Robot, _: Space) -> dict[str, Sum]:
    tip = _frames(robot)[1]
    found = {f"p{axis}": row[3] for axis, row in zip("xyz", tip, strict=True)}
    return found | {f"r{i + 1}{j + 1}": tip[i][j] for i in range(3) for j in range(3)}


def _jacobian(robot: Robot, _: Space) -> dict[str, Sum]:
    befores, tip = _frames(robot)
    found: dict[str, Sum] = {}
    moving, k = set[int](), len(robot.joints)
    while k:
        moving.add(k)
        k = robot.joints[k - 1].parent
    for k, (joint, frame) in enumerate(zip(robot.joints, befores, strict=True), 1):
        axis = [dot(row[:3], joint.axis) for row in frame]
        arm = [tip[i][3] - frame[i][3] for i in range(3)]
        turning = [*cross(axis, arm), *axis] if joint.revolute else [*axis, *[NOTHING] * 3]
        column = turning if k in moving else [NOTHING] * 6
        found |= {f"j{row}{k}": one for row, one in enumerate(column, 1)}
    return found


FUNCTIONS: dict[str, Callable[[Robot, Space], dict[str, Sum]]] = {
    "inverse-dynamics": _dynamics,
    "gravity": _gravity,
    "bias": _bias,
    "inertia": _inertia,
    "computed-torque": _computed_torque,
    "pd-gravity": _pd_gravity,
    "derivatives": _slopes,
    "forward-kinematics": _tip_pose,
    "jacobian": _jacobian,
}
