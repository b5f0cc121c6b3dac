"""Newton-Euler: outside figures, physics, and shapes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from samples import random_robot, random_states

from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics import (
    bias_torques,
    gravity_torques,
    inertia_matrix,
    inverse_dynamics,
)
from boolcomp.problem.dynamics.batch import BLOCK
from boolcomp.problem.robot import load_robot, robot_names

RIGHT, EIGHTH = math.pi / 2, math.pi / 4
REST = (0, 0, 0, 0, 0, 0)
# Torques of the Robotics Toolbox's PUMA 560, computed by two or more independent programs.
PUMA = [
    (REST, 0, (0, 37.48366665, 0.24892875, 0, 0, 0)),
    ((0, RIGHT, -RIGHT, 0, 0, 0), 0, (0, -0.77523525, 0.24892875, 0, 0, 0)),
    ((0, 0, -RIGHT, 0, 0, 0), 0, (0, 46.006938, 8.7722001, 0, 0.0282528, 0)),
    ((0, EIGHTH, -math.pi, 0, EIGHTH, 0), 0, (0, 31.6398803784, 6.035138023, 0, 0.0282528, 0)),
    (
        (0, EIGHTH, -math.pi, 0, EIGHTH, 0),
        1,
        (
            -1.391074371083,
            33.422798967693,
            5.283111268052,
            0.001223081816,
            0.030632278489,
            0.000148284271,
        ),
    ),
]


@pytest.mark.parametrize(("q", "speed", "tau"), PUMA)
def test_puma_torques_agree_with_published_ones_to_the_printed_digits(
    q: tuple[float, ...], speed: float, tau: tuple[float, ...]
) -> None:
    found = inverse_dynamics(load_robot("puma560"), q, [speed] * 6, REST)
    assert np.allclose(found, tau, rtol=0, atol=2e-9)


def test_the_papers_arm_agrees_with_its_closed_form() -> None:
    q, qd, qdd = random_states(load_robot("machado-2r"), 200)
    c1, c2, c12 = np.cos(q[:, 0]), np.cos(q[:, 1]), np.cos(q[:, 0] + q[:, 1])
    s2 = np.sin(q[:, 1])
    t1 = (15.75 + 10 * c2) * qdd[:, 0] + (4 + 5 * c2) * qdd[:, 1]
    t1 += -5 * s2 * qd[:, 1] ** 2 - 10 * s2 * qd[:, 0] * qd[:, 1] + 66.15 * c1 + 49 * c12
    t2 = (4 + 5 * c2) * qdd[:, 0] + 9 * qdd[:, 1] + 5 * s2 * qd[:, 0] ** 2 + 49 * c12
    found = inverse_dynamics(load_robot("machado-2r"), q, qd, qdd)
    assert np.allclose(found, np.stack([t1, t2], axis=1), rtol=0, atol=1e-12)


def test_the_papers_arm_agrees_with_the_reference_sample() -> None:
    found = inverse_dynamics(load_robot("machado-2r"), [0.3, -0.7], [0.4, 0.9], [-0.5, 0.2])
    assert np.allclose(found, [103.12139402, 42.50450909], rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_torques_are_inertia_times_acceleration_plus_bias(seed: int) -> None:
    robot = random_robot(seed)
    q, qd, qdd = random_states(robot, 30, seed)
    inertia = inertia_matrix(robot, q)
    rebuilt = (inertia @ qdd[:, :, None])[:, :, 0] + bias_torques(robot, q, qd)
    assert np.allclose(rebuilt, inverse_dynamics(robot, q, qd, qdd), rtol=1e-10, atol=1e-8)
    assert np.allclose(inertia, np.swapaxes(inertia, 1, 2), rtol=1e-10, atol=1e-9)
    assert (np.linalg.eigvalsh(inertia) > 0).all()


@pytest.mark.parametrize("seed", range(10))
def test_power_is_the_change_of_energy(seed: int) -> None:
    """τ·q̇ = d/dt (½ q̇ᵀMq̇) + G·q̇ along q(t) = q + q̇t + ½q̈t², by central differences."""
    robot = random_robot(seed)
    q, qd, qdd = random_states(robot, 20, seed)
    step = 1e-5

    def kinetic(t: float) -> np.ndarray:
        speed = qd + qdd * t
        inertia = inertia_matrix(robot, q + qd * t + qdd * t**2 / 2)
        return np.asarray(np.einsum("ni,nij,nj->n", speed, inertia, speed) / 2)

    change = (kinetic(step) - kinetic(-step)) / (2 * step)
    power = (inverse_dynamics(robot, q, qd, qdd) * qd).sum(axis=1)
    potential = (gravity_torques(robot, q) * qd).sum(axis=1)
    scale = np.abs(power).max() + np.abs(change).max()
    assert np.allclose(power, change + potential, rtol=0, atol=1e-6 * scale)


def test_gravity_is_the_torque_at_rest() -> None:
    robot = load_robot("puma560")
    q, _, _ = random_states(robot, 50)
    zero = np.zeros_like(q)
    assert np.allclose(gravity_torques(robot, q), inverse_dynamics(robot, q, zero, zero))
    assert not inverse_dynamics(robot, q, zero, zero, gravity=False).any()


def test_friction_opposes_motion_only_when_asked_for() -> None:
    robot = load_robot("puma560")
    q, qd, qdd = random_states(robot, 50)
    free = inverse_dynamics(robot, q, qd, qdd)
    rubbed = inverse_dynamics(robot, q, qd, qdd, friction=True) - free
    link = robot.links[0]
    gear = abs(link.gear_ratio)
    speed = qd[:, 0]
    coulomb = np.where(speed > 0, 0.395, -0.435) * gear
    assert np.allclose(rubbed[:, 0], 1.48e-3 * gear**2 * speed + coulomb)
    still = np.zeros_like(q)
    at_rest = inverse_dynamics(robot, q, still, qdd, friction=True)
    assert np.array_equal(at_rest, inverse_dynamics(robot, q, still, qdd))


def test_a_force_at_the_tip_of_a_straight_arm_acts_with_its_lever() -> None:
    robot = replace(load_robot("planar-3r"), gravity=(0.0, 0.0, 0.0))
    rest = np.zeros(3)
    upwards = inverse_dynamics(robot, rest, rest, rest, wrench=[0, 7, 0, 0, 0, 0])
    assert np.allclose(upwards, [7 * 2.3, 7 * 1.3, 7 * 0.5])
    twist = inverse_dynamics(robot, rest, rest, rest, wrench=[0, 0, 0, 0, 0, 3])
    assert np.allclose(twist, [3, 3, 3])


@pytest.mark.parametrize("name", robot_names())
def test_samples_do_not_depend_on_the_block_they_are_in(name: str) -> None:
    robot = load_robot(name)
    q, qd, qdd = random_states(robot, BLOCK + 3)
    all_at_once = inverse_dynamics(robot, q, qd, qdd)
    for k in (0, BLOCK - 1, BLOCK, BLOCK + 2):
        alone = inverse_dynamics(robot, q[k], qd[k], qdd[k])
        assert alone.shape == (robot.joints,)
        assert np.allclose(alone, all_at_once[k], rtol=1e-12, atol=1e-12)


def test_wrong_shapes_are_sentences() -> None:
    robot = load_robot("machado-2r")
    with pytest.raises(UsageError, match=r"qd has shape \(3,\): machado-2r takes \(2,\) or"):
        inverse_dynamics(robot, [0, 0], [0, 0, 0], [0, 0])
    with pytest.raises(UsageError, match=r"as many samples each, not q 2, qd 1"):
        inverse_dynamics(robot, [[0, 0], [0, 0]], [[0, 0]], [0, 0])
