"""The checker's own dynamics: Pinocchio, which nobody here wrote, says the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
import pytest
from checker.certified import section
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states

from boolcomp.checker import origin
from boolcomp.checker.functions.waves import precise
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot import load_robot
from boolcomp.proof.certificate.origin import origin_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from boolcomp.problem.robot import Robot

    Floats = NDArray[np.float64]

MAKERS = [random_robot, general_robot, branched_robot]
FRICTION = "inverse-dynamics-with-friction"


def value(space: Any, of: Any, at: Mapping[str, float]) -> float:
    """Return a sum at a state."""
    found = 0j
    for key, c in of.parts.items():
        factors = (
            complex(np.exp(1j * k * at[one.name])) if one.angle else at[one.name] ** k
            for one, k in space.exponents(key)
        )
        found += complex(c) * math.prod(factors)
    assert abs(found.imag) < 1e-9 * (1 + abs(found.real))
    return float(found.real)


def outputs(robot: Robot, of: str, *state: Floats) -> dict[str, float]:
    """Return what the checker says of a function of a robot at a state."""
    problem = robot_problem(robot, of)
    text = section(origin_text(problem, {one.name: 8 for one in problem.inputs}))
    names = [one.name for one in problem.inputs]
    at = dict(zip(names, map(float, np.concatenate(state)), strict=True))
    with precise():
        space, found = origin.function_of(text)
    return {name: value(space, one, at) for name, one in found.items()}


def agree(ours: Floats | list[float], theirs: Floats) -> None:
    """Hold two vectors together to ten digits."""
    assert np.allclose(ours, theirs, rtol=0, atol=1e-10 * (1 + np.abs(theirs).max()))


@pytest.mark.parametrize(
    "robot", [load_robot("puma560"), *(make(seed, 4) for make in MAKERS for seed in range(2))]
)
def test_torques_of_chains_and_trees_in_any_frames_are_pinocchios(robot: Robot) -> None:
    model, state = pinocchio_model(robot), [x[0] for x in random_states(robot, 1, 9)]
    found = outputs(robot, "inverse-dynamics", *state)
    agree(list(found.values()), pin.rnea(model, model.createData(), *state))


@pytest.mark.parametrize("make", MAKERS)
def test_gravity_bias_inertia_and_the_tip_are_pinocchios(make: Callable[..., Robot]) -> None:
    robot = make(7, 3)
    model, (q, qd, _) = pinocchio_model(robot), (x[0] for x in random_states(robot, 1, 2))
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    tip = data.oMi[robot.joints] * after_joint(robot.links[-1])
    tip = tip * placed(robot.tool) if robot.tool else tip
    for of, state, theirs in (
        ("gravity", [q], pin.computeGeneralizedGravity(model, data, q)),
        ("bias", [q, qd], pin.rnea(model, data, q, qd, 0 * q)),
        ("inertia", [q], pin.crba(model, data, q)[np.triu_indices(3)]),
        ("forward-kinematics", [q], np.concatenate([tip.translation, tip.rotation.ravel()])),
    ):
        agree(list(outputs(robot, of, *state).values()), theirs)


@pytest.mark.parametrize("robot", [random_robot(3, 3), general_robot(3, 3), branched_robot(0, 3)])
def test_the_jacobian_is_how_the_tip_moves(robot: Robot) -> None:
    step, (q, _, _) = 1e-6, (x[0] for x in random_states(robot, 1, 4))
    found = list(outputs(robot, "jacobian", q).values())
    columns = np.reshape(found, (3, 6))  # one joint after another
    for joint in range(3):
        moved = step * np.eye(3)[joint]
        ahead, behind = (
            np.array(list(outputs(robot, "forward-kinematics", q + m).values()))
            for m in (moved, -moved)
        )
        rate, rotation = (ahead - behind) / (2 * step), (ahead + behind)[3:].reshape(3, 3) / 2
        spin = rate[3:].reshape(3, 3) @ rotation.T
        turning = [spin[2, 1], spin[0, 2], spin[1, 0]]
        assert columns[joint] == pytest.approx([*rate[:3], *turning], abs=1e-7)


def test_slopes_are_differences_of_torques() -> None:
    robot, step = load_robot("elbow-3r"), 1e-6
    state = [x[0] for x in random_states(robot, 1, 8)]
    slopes = outputs(robot, "derivatives", *state)
    for letters, place in (("q", 0), ("qd", 1)):
        for joint in range(3):
            ends = []
            for sign in (1, -1):
                moved = [np.array(x) for x in state]
                moved[place][joint] += sign * step
                ends.append(outputs(robot, "inverse-dynamics", *moved))
            for name, ahead in ends[0].items():
                slope = (ahead - ends[1][name]) / (2 * step)
                assert slopes[f"d{name}_d{letters}{joint + 1}"] == pytest.approx(slope, abs=1e-5)


def test_a_load_is_a_mass_at_the_tool() -> None:
    robot = general_robot(5, 3)
    model, (q, qd, qdd) = pinocchio_model(robot), (x[0] for x in random_states(robot, 1, 6))
    at = placed(robot.tool) if robot.tool else pin.SE3.Identity()
    held = pin.Inertia(2.5, np.zeros(3), np.zeros((3, 3)))
    model.appendBodyToJoint(robot.joints, held, after_joint(robot.links[-1]) * at)
    found = outputs(robot, "inverse-dynamics:load=0..5", q, qd, qdd, np.array([2.5]))
    agree(list(found.values()), pin.rnea(model, model.createData(), q, qd, qdd))


def test_laws_of_control_are_made_of_torques() -> None:
    robot = load_robot("machado-2r")
    q, qd, a, e, de = np.random.default_rng(3).uniform(-1, 1, (5, 2))
    wanted = outputs(robot, "inverse-dynamics", q, qd, a + 100 * e + 20 * de)
    agree(list(outputs(robot, "computed-torque", q, qd, a, e, de).values()),
          np.array(list(wanted.values())))  # fmt: skip
    weight = np.array(list(outputs(robot, "gravity", q).values()))
    agree(list(outputs(robot, "pd-gravity", q, e, de).values()), weight + 100 * e + 20 * de)


def test_friction_is_at_the_motor_and_its_sign_is_smoothed() -> None:
    arm = load_robot("machado-2r")
    text = origin_text(robot_problem(arm), {"q": 8, "qd": 8, "qdd": 8})
    text = text.replace("gear_ratio = 1", "gear_ratio = -3").replace("inverse-dynamics", FRICTION)
    text = text.replace("viscous_friction = 0", "viscous_friction = 0.25")
    space, found = origin.function_of(section(text))
    state = dict.fromkeys(space.variables, 0.0)
    still, moving = (value(space, found["tau2"], {**state, "qd2": speed}) for speed in (0.0, 1.0))
    assert moving - still == pytest.approx(0.25 * 9)
    rough = text.replace("coulomb_friction = [0, 0]", "coulomb_friction = [2, 1]")
    rough = rough.replace(FRICTION, f"{FRICTION}:smoothing=0.5,0.25")
    space, found = origin.function_of(section(rough))
    name = next(name for name in space.variables if name.startswith("tanh"))
    ends = space.variables[name][1].low, space.variables[name][1].high
    assert ends == pytest.approx((np.tanh(-1 / 0.5), np.tanh(1 / 0.5)), abs=1e-9)
    dry = [value(space, found["tau1"], {**state, name: sign}) for sign in (0.0, 1.0, -1.0)]
    assert [x - dry[0] for x in dry[1:]] == pytest.approx([2 * 3, -1 * 3])
