"""Newton-Euler and kinematics: published figures, closed forms, and Pinocchio on random arms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states

from boolcomp.base import UsageError
from boolcomp.problem import (
    Folding,
    Operations,
    Tape,
    evaluated_states,
    exact_cosine,
    exact_sine,
    forward_kinematics,
    gravity_torques,
    inertia_matrix,
    inverse_dynamics,
    jacobian,
    load_robot,
    newton_euler,
    robot_names,
)

if TYPE_CHECKING:
    from boolcomp.problem import Robot

RIGHT, EIGHTH = math.pi / 2, math.pi / 4
REST = (0, 0, 0, 0, 0, 0)
# Torques of the Robotics Toolbox's PUMA 560, computed by two or more independent programs.
PUMA = [
    (REST, 0, (0, 37.48366665, 0.24892875, 0, 0, 0)),
    ((0, RIGHT, -RIGHT, 0, 0, 0), 0, (0, -0.77523525, 0.24892875, 0, 0, 0)),
    ((0, EIGHTH, -math.pi, 0, EIGHTH, 0), 1, (-1.391074371083, 33.422798967693, 5.283111268052,
                                              0.001223081816, 0.030632278489, 0.000148284271)),
]  # fmt: skip


@pytest.mark.parametrize(("q", "speed", "tau"), PUMA)
def test_torques_of_the_puma_are_the_published_ones_to_the_printed_digits(
    q: tuple[float, ...], speed: float, tau: tuple[float, ...]
) -> None:
    found = inverse_dynamics(load_robot("puma560"), q, [speed] * 6, REST)
    assert np.allclose(found, tau, rtol=0, atol=2e-9)


def test_torques_of_the_papers_arm_are_its_closed_form() -> None:
    q, qd, qdd = random_states(load_robot("machado-2r"), 200)
    c1, c2, c12 = np.cos(q[:, 0]), np.cos(q[:, 1]), np.cos(q[:, 0] + q[:, 1])
    s2 = np.sin(q[:, 1])
    t1 = (15.75 + 10 * c2) * qdd[:, 0] + (4 + 5 * c2) * qdd[:, 1]
    t1 += -5 * s2 * qd[:, 1] ** 2 - 10 * s2 * qd[:, 0] * qd[:, 1] + 66.15 * c1 + 49 * c12
    t2 = (4 + 5 * c2) * qdd[:, 0] + 9 * qdd[:, 1] + 5 * s2 * qd[:, 0] ** 2 + 49 * c12
    found = inverse_dynamics(load_robot("machado-2r"), q, qd, qdd)
    assert np.allclose(found, np.stack([t1, t2], axis=1), rtol=0, atol=1e-12)


ROBOTS = [
    *(random_robot(seed) for seed in range(12)), *(general_robot(seed) for seed in range(12)),
    *(branched_robot(seed, 2 + seed % 7) for seed in range(12)), *map(load_robot, robot_names()),
]  # fmt: skip


def near(ours: np.ndarray, theirs: np.ndarray) -> bool:
    return np.allclose(ours, theirs, rtol=0, atol=1e-10 * (1 + np.abs(theirs).max()))


def place_of_tip(robot: Robot) -> pin.SE3:
    """Return where the tip is in the frame of the last joint."""
    place = after_joint(robot.links[-1])
    return place * placed(robot.tool) if robot.tool else place


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_forces_inertia_and_gravity_are_pinocchios_to_ten_digits(robot: Robot) -> None:
    model = pinocchio_model(robot)
    data = model.createData()
    q, qd, qdd = random_states(robot, 3, 7)
    wrench = np.random.default_rng(7).uniform(-5, 5, 6)
    ours = inverse_dynamics(robot, q, qd, qdd)
    pushed = inverse_dynamics(robot, q, qd, qdd, wrench=wrench)
    inertia, gravity = inertia_matrix(robot, q), gravity_torques(robot, q)
    forces = pin.StdVec_Force()
    for _ in range(model.njoints - 1):
        forces.append(pin.Force.Zero())
    # What the tip exerts on its surroundings comes back on it with the other sign.
    forces.append(place_of_tip(robot).act(pin.Force(-wrench)))
    for k in range(len(q)):
        assert near(ours[k], pin.rnea(model, data, q[k], qd[k], qdd[k]))
        assert near(pushed[k], pin.rnea(model, data, q[k], qd[k], qdd[k], forces))
        assert near(np.triu(inertia[k]), np.triu(pin.crba(model, data, q[k])))
        assert near(inertia[k], inertia[k].T)
        assert near(gravity[k], pin.computeGeneralizedGravity(model, data, q[k]))


def test_the_random_robots_are_of_all_kinds() -> None:
    robots = ROBOTS[:36]
    assert {robot.joints for robot in robots} == set(range(1, 9))
    assert sum(any(not link.revolute for link in robot.links) for robot in robots) >= 20
    assert sum(robot.branched for robot in robots) >= 8


@pytest.mark.parametrize("seed", range(3))
def test_the_tip_of_a_tree_is_that_of_its_last_joint(seed: int) -> None:
    robot = branched_robot(seed, 6)
    model = pinocchio_model(robot)
    frame = model.addFrame(pin.Frame("tip", 6, place_of_tip(robot), pin.OP_FRAME))
    data, q = model.createData(), random_states(robot, 1, seed)[0]
    slopes = pin.computeFrameJacobian(model, data, q[0], frame, pin.LOCAL_WORLD_ALIGNED)
    pin.framesForwardKinematics(model, data, q[0])
    pose = evaluated_states(forward_kinematics, robot, q)[0]
    assert np.allclose(pose[:3], data.oMf[frame].translation, rtol=0, atol=1e-12)
    assert np.allclose(pose[3:].reshape(3, 3), data.oMf[frame].rotation, rtol=0, atol=1e-12)
    ours = evaluated_states(jacobian, robot, q)[0].reshape(6, 6)
    assert np.allclose(ours, slopes, rtol=0, atol=1e-12)


def test_friction_opposes_motion_only_where_it_is_asked_for() -> None:
    robot = load_robot("puma560")
    q, qd, qdd = random_states(robot, 50)
    still = np.zeros_like(q)
    rubbed = inverse_dynamics(robot, q, qd, qdd, friction=True) - inverse_dynamics(
        robot, q, qd, qdd
    )
    gear = abs(robot.links[0].gear_ratio)
    coulomb = np.where(qd[:, 0] > 0, 0.395, -0.435) * gear
    assert np.allclose(rubbed[:, 0], 1.48e-3 * gear**2 * qd[:, 0] + coulomb)
    at_rest = inverse_dynamics(robot, q, still, qdd, friction=True)
    assert np.array_equal(at_rest, inverse_dynamics(robot, q, still, qdd))
    assert not inverse_dynamics(robot, q, still, still, gravity=False).any()


def test_friction_of_one_direction_is_felt_in_that_alone() -> None:
    arm = load_robot("machado-2r")
    arm = replace(arm, links=tuple(replace(x, coulomb_friction=(0.3, 0.0)) for x in arm.links))
    q, qd, qdd = random_states(arm, 50)
    rubbed = inverse_dynamics(arm, q, qd, qdd, friction=True) - inverse_dynamics(arm, q, qd, qdd)
    assert np.allclose(rubbed, np.where(qd > 0, 0.3, 0.0), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["machado-2r", "puma560"])
def test_samples_do_not_depend_on_the_block_they_are_in(name: str) -> None:
    robot = load_robot(name)
    q, qd, qdd = random_states(robot, 20_000)
    all_at_once = inverse_dynamics(robot, q, qd, qdd)
    assert np.array_equal(inverse_dynamics(robot, q[5000:], qd[5000:], qdd[5000:]),
                          all_at_once[5000:])  # fmt: skip
    alone = inverse_dynamics(robot, q[-1], qd[-1], qdd[-1])
    assert alone.shape == (robot.joints,)
    assert np.allclose(alone, all_at_once[-1], rtol=1e-12, atol=1e-12)


def test_wrong_shapes_are_sentences() -> None:
    robot = load_robot("machado-2r")
    with pytest.raises(UsageError, match=r"qd has shape \(3,\): machado-2r takes \(2,\) or"):
        inverse_dynamics(robot, [0, 0], [0, 0, 0], [0, 0])
    with pytest.raises(UsageError, match=r"as many samples each, not q 2, qd 1"):
        inverse_dynamics(robot, [[0, 0], [0, 0]], [[0, 0]], [0, 0])


class Floats:
    """Another algebra: plain floats, without folding."""

    constant = staticmethod(float)
    sine, cosine = staticmethod(exact_sine), staticmethod(exact_cosine)


def test_the_recurrence_runs_over_any_algebra() -> None:
    robot, state = load_robot("machado-2r"), ([0.3, -0.7], [0.4, 0.9], [-0.5, 0.2])
    torques = [103.12139402, 42.50450909]
    assert newton_euler(robot, Floats(), *state) == pytest.approx(torques, abs=1e-8)  # type: ignore[arg-type]  # no signs are asked for
    for folding in (False, True):
        tape = Tape()
        words = [[tape.input(f"{name}{k}") for k in range(2)] for name in ("q", "qd", "qdd")]
        found = newton_euler(robot, Folding(tape) if folding else tape, *words)
        program = tape.finish([(f"tau{k}", torque) for k, torque in enumerate(found)])
        columns = [np.array([x]) for several in state for x in several]
        assert np.ravel(program.evaluate(columns)) == pytest.approx(torques, abs=1e-8)


def test_right_angles_have_exact_sines() -> None:
    assert [exact_sine(k * math.pi / 2) for k in range(-2, 3)] == [0, -1, 0, 1, 0]
    assert [exact_cosine(k * math.pi / 2) for k in range(-2, 3)] == [-1, 0, 1, 0, -1]
    assert exact_sine(0.3) == math.sin(0.3)


def test_operations_add_kind_by_kind_and_print_what_there_is() -> None:
    total = Operations(12, 9) + Operations(additions=1, divisions=2, roots=3, functions=4)
    assert (total, total.total) == (Operations(12, 10, 2, 3, 4), 31)
    assert str(Operations(12, 9)) == "12 mul 9 add"
    assert str(Operations(divisions=1, roots=2, functions=3)) == "1 div 2 root 3 fun"
    assert str(Operations()) == "0"
