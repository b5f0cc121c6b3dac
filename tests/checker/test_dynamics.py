"""The checker's own dynamics: Pinocchio, which nobody here wrote, gives the same values."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from checker.certified import section, value
from numpy.typing import NDArray
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states

from boolcomp.checker.problem import function_of
from boolcomp.checker.robot import precise
from boolcomp.problem import Robot, load_robot, robot_problem
from boolcomp.proof import origin_text

Floats = NDArray[np.float64]

ROBOTS = [random_robot, general_robot, branched_robot]


def outputs(robot: Robot, of: str, *state: Floats) -> list[float]:
    """Return the checker's values of a function of a robot at a state."""
    problem = robot_problem(robot, of)
    text = section(origin_text(problem, {one.name: 8 for one in problem.inputs}))
    names = [one.name for one in problem.inputs]
    at = dict(zip(names, map(float, np.concatenate(state)), strict=True))
    with precise():
        space, found = function_of(text)
    return [value(space, one, at) for one in found.values()]


def agree(ours: list[float], theirs: Floats) -> None:
    """Hold two vectors together to ten digits."""
    assert np.allclose(ours, theirs, rtol=0, atol=1e-10 * (1 + np.abs(theirs).max()))


@pytest.mark.parametrize("seed", [0, 4])
@pytest.mark.parametrize("make", ROBOTS)
def test_torques_of_chains_and_trees_are_pinocchios(
    make: Callable[[int, int], Robot], seed: int
) -> None:
    robot = make(seed, 4)
    model, (q, qd, qdd) = pinocchio_model(robot), (x[0] for x in random_states(robot, 1, seed))
    theirs = pin.rnea(model, model.createData(), q, qd, qdd)
    agree(outputs(robot, "inverse-dynamics", q, qd, qdd), theirs)


def test_torques_of_the_puma_with_a_load_are_pinocchios() -> None:
    robot = load_robot("puma560")
    model, (q, qd, qdd) = pinocchio_model(robot), (x[0] for x in random_states(robot, 1, 9))
    at = placed(robot.tool) if robot.tool else pin.SE3.Identity()
    held = pin.Inertia(2.5, np.zeros(3), np.zeros((3, 3)))
    model.appendBodyToJoint(robot.joints, held, after_joint(robot.links[-1]) * at)
    theirs = pin.rnea(model, model.createData(), q, qd, qdd)
    agree(outputs(robot, "inverse-dynamics:load=0..5", q, qd, qdd, np.array([2.5])), theirs)


@pytest.mark.parametrize("make", ROBOTS)
def test_torques_with_a_wrench_are_pinocchios(make: Callable[[int, int], Robot]) -> None:
    robot = make(3, 3)
    model, (q, qd, qdd) = pinocchio_model(robot), (x[0] for x in random_states(robot, 1, 5))
    force, moment = np.random.default_rng(6).uniform(-20, 20, (2, 3))
    at = after_joint(robot.links[-1])
    at = at * placed(robot.tool) if robot.tool else at
    push = pin.StdVec_Force([pin.Force.Zero() for _ in range(robot.joints + 1)])
    push[robot.joints] = at.act(pin.Force(-force, -moment))
    theirs = pin.rnea(model, model.createData(), q, qd, qdd, push)
    agree(outputs(robot, "inverse-dynamics:wrench=20,5", q, qd, qdd, force, moment), theirs)


@pytest.mark.parametrize("make", ROBOTS)
def test_gravity_bias_inertia_and_the_tip_are_pinocchios(make: Callable[[int, int], Robot]) -> None:
    robot = make(7, 3)
    model, (q, qd, _) = pinocchio_model(robot), (x[0] for x in random_states(robot, 1, 2))
    data = model.createData()
    agree(outputs(robot, "gravity", q), pin.computeGeneralizedGravity(model, data, q))
    agree(outputs(robot, "bias", q, qd), pin.rnea(model, data, q, qd, 0 * q))
    agree(outputs(robot, "inertia", q), pin.crba(model, data, q)[np.triu_indices(3)])
    pin.forwardKinematics(model, data, q)
    tip = data.oMi[robot.joints] * after_joint(robot.links[-1])
    tip = tip * placed(robot.tool) if robot.tool else tip
    pose = np.concatenate([tip.translation, tip.rotation.ravel()])
    agree(outputs(robot, "forward-kinematics", q), pose)
