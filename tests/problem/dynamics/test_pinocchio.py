"""The recurrence against Pinocchio, a program nobody here wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states

from boolcomp.problem.dynamics import gravity_torques, inertia_matrix, inverse_dynamics
from boolcomp.problem.dynamics.batch import evaluated_states
from boolcomp.problem.dynamics.kinematics import forward_kinematics, jacobian
from boolcomp.problem.robot import load_robot, robot_names

if TYPE_CHECKING:
    from boolcomp.problem.robot import Robot


def compare(robot: Robot, seed: int) -> None:
    model = pinocchio_model(robot)
    data = model.createData()
    q, qd, qdd = random_states(robot, 5, seed)
    wrench = np.random.default_rng(seed).uniform(-5, 5, 6)
    ours = inverse_dynamics(robot, q, qd, qdd)
    pushed = inverse_dynamics(robot, q, qd, qdd, wrench=wrench)
    inertia, gravity = inertia_matrix(robot, q), gravity_torques(robot, q)
    forces = pin.StdVec_Force()
    for _ in range(model.njoints - 1):
        forces.append(pin.Force.Zero())
    # What the tip exerts on its surroundings comes back on it with the other sign.
    tip = after_joint(robot.links[-1])
    tip = tip * placed(robot.tool) if robot.tool else tip
    forces.append(tip.act(pin.Force(-wrench)))
    for k in range(len(q)):
        theirs = pin.rnea(model, data, q[k], qd[k], qdd[k])
        scale = 1 + np.abs(theirs).max()
        assert np.allclose(ours[k], theirs, rtol=0, atol=1e-10 * scale)
        with_force = pin.rnea(model, data, q[k], qd[k], qdd[k], forces)
        assert np.allclose(pushed[k], with_force, rtol=0, atol=1e-10 * scale)
        upper = np.triu(pin.crba(model, data, q[k]))
        scale = 1 + np.abs(upper).max()
        assert np.allclose(np.triu(inertia[k]), upper, rtol=0, atol=1e-10 * scale)
        weight = pin.computeGeneralizedGravity(model, data, q[k])
        assert np.allclose(gravity[k], weight, rtol=0, atol=1e-10 * (1 + np.abs(weight).max()))


@pytest.mark.parametrize("seed", range(60))
def test_random_robots_agree_to_ten_digits(seed: int) -> None:
    compare(random_robot(seed), seed)


@pytest.mark.parametrize("seed", range(60))
def test_random_robots_in_general_frames_agree_to_ten_digits(seed: int) -> None:
    compare(general_robot(seed), seed)


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_on_a_base_askew_agree_to_ten_digits(seed: int) -> None:
    compare(branched_robot(seed, 2 + seed % 7), seed)


def test_most_of_the_random_trees_branch() -> None:
    assert sum(branched_robot(seed, 2 + seed % 7).branched for seed in range(40)) > 25


@pytest.mark.parametrize("seed", range(10))
def test_the_tip_of_a_tree_is_that_of_its_last_joint(seed: int) -> None:
    robot = branched_robot(seed, 6)
    assert robot.tool is not None
    model = pinocchio_model(robot)
    data = model.createData()
    q = random_states(robot, 1, seed)[0]
    pin.forwardKinematics(model, data, q[0])
    tip = data.oMi[6] * after_joint(robot.links[-1]) * placed(robot.tool)
    pose = evaluated_states(forward_kinematics, robot, q)[0]
    assert np.allclose(pose[:3], tip.translation, rtol=0, atol=1e-12)
    assert np.allclose(pose[3:].reshape(3, 3), tip.rotation, rtol=0, atol=1e-12)
    place = after_joint(robot.links[-1]) * placed(robot.tool)
    frame = model.addFrame(pin.Frame("tip", 6, place, pin.OP_FRAME))
    data, world = model.createData(), pin.LOCAL_WORLD_ALIGNED
    slopes = pin.computeFrameJacobian(model, data, q[0], frame, world)
    ours = evaluated_states(jacobian, robot, q)[0].reshape(6, 6)
    assert np.allclose(ours, slopes, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", robot_names())
def test_shipped_robots_agree_to_ten_digits(name: str) -> None:
    compare(load_robot(name), 7)


def test_the_sixty_random_robots_have_one_to_seven_joints_and_sliding_ones() -> None:
    robots = [random_robot(seed) for seed in range(60)]
    assert {robot.joints for robot in robots} == set(range(1, 8))
    assert sum(any(not link.revolute for link in robot.links) for robot in robots) >= 20
