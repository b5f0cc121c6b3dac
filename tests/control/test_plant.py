"""The arm that is simulated: against a textbook, scipy's DOP853, Pinocchio, and its energy."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from control.textbook import energy, moved
from pinocchio_model import pinocchio_model

import boolcomp as bc
from boolcomp.measure import plant_of
from boolcomp.problem import Robot

START = np.array([0.4, -0.9, 0.3, -0.5])
PUSH = np.array([60.0, -12.0])


def run_plant(robot: Robot, state: np.ndarray, torque: np.ndarray, step: float, steps: int) -> None:
    plant = plant_of(robot)
    plant.moved(state, torque, step, steps, plant.forward.room(state.shape[1]))


def test_an_arm_moves_as_scipy_says_of_a_textbook_arm() -> None:
    state = START[:, None].copy()
    run_plant(bc.load_robot("machado-2r"), state, PUSH[:, None], 1e-3, 500)
    assert np.abs(state[:, 0] - moved(START, PUSH, 0.5)).max() < 1e-10


@pytest.mark.parametrize(("integrator", "order"), [("runge-kutta", 4), ("adams-moulton", 2)])
def test_halved_steps_divide_the_error_by_a_power_of_two(integrator: str, order: int) -> None:
    plant, errors = plant_of(bc.load_robot("machado-2r"), integrator=integrator), []
    exact = moved(START, PUSH, 0.5)
    for steps in (25, 50, 100):
        state = START[:, None].copy()
        plant.moved(state, PUSH[:, None], 0.5 / steps, steps, plant.forward.room(1))
        errors.append(np.abs(state[:, 0] - exact).max())
    for one, other in pairwise(errors):
        assert np.log2(one / other) == pytest.approx(order, abs=0.35)


def test_adams_moulton_takes_the_corrector_of_its_predictor() -> None:
    plant = plant_of(bc.load_robot("machado-2r"), integrator="adams-moulton")
    state, room = START[:, None].copy(), plant.forward.room(1)

    def slope(y: np.ndarray) -> np.ndarray:
        qdd = plant.forward.evaluate(y[:2, None], y[2:, None], PUSH[:, None])[:, 0]
        return np.concatenate([y[2:], qdd])

    y, h = START.copy(), 0.01
    f = before = slope(y)
    for _ in range(3):
        guess = slope(y + h * (1.5 * f - 0.5 * before))
        before, y = f, y + h / 2 * (f + guess)
        f = slope(y)
    plant.moved(state, PUSH[:, None], h, 3, room)
    assert state[:, 0] == pytest.approx(y, abs=1e-12)


def test_what_friction_takes_is_what_the_energy_lacks() -> None:
    robot = bc.load_robot("machado-2r")
    lossy = replace(
        robot,
        links=tuple(
            replace(
                link,
                viscous_friction=2.0,
                coulomb_friction=(0.5, 0.3),
                gear_ratio=-2.0,
                rotor_inertia=link.rotor_inertia / 4,
            )
            for link in robot.links
        ),
    )
    plant, state = plant_of(lossy), START[:, None].copy()
    before, lost, room = energy(START[:2], START[2:]), 0.0, plant.forward.room(1)
    within = [0.02 * link.velocity.magnitude for link in lossy.links]

    def power() -> float:
        total = 0.0
        for speed, v in zip(state[2:, 0], within, strict=True):
            sign = np.tanh(speed / v)
            total += speed * (8.0 * speed + 0.8 * sign + 0.2 * sign**2)
        return float(total)

    for _ in range(1000):  # Simpson's rule over every step
        ends = power()
        plant.moved(state, np.zeros((2, 1)), 5e-4, 1, room)
        middle = power()
        plant.moved(state, np.zeros((2, 1)), 5e-4, 1, room)
        lost += (ends + 4 * middle + power()) * 1e-3 / 6
    assert lost > 1.0
    assert abs(before - lost - energy(state[:2, 0], state[2:, 0])) < 1e-5 * lost


@pytest.mark.parametrize("name", ["puma560", "scara", "panda"])
def test_accelerations_are_those_of_pinocchio(name: str) -> None:
    import pinocchio as pin

    robot = bc.load_robot(name)
    model, rng = pinocchio_model(robot), np.random.default_rng(3)
    data, n = model.createData(), robot.joints
    q, qd, torque = (rng.uniform(-1, 1, (n, 3)) for _ in range(3))
    torque *= 10
    plant = plant_of(robot, has_friction=False)
    found = plant.forward.evaluate(q, qd, torque)
    for k in range(3):
        exact = pin.aba(model, data, q[:, k], qd[:, k], torque[:, k])
        assert np.abs(found[:, k] - exact).max() < 1e-9 * np.abs(exact).max()


def test_stiff_friction_takes_shorter_steps_and_stays_stable() -> None:
    robot = bc.load_robot("machado-2r")
    stiff = replace(
        robot,
        links=tuple(replace(link, coulomb_friction=(150.0, 150.0)) for link in robot.links),
    )
    plant = plant_of(stiff)
    steps = plant.steps(0.02)
    assert steps > plant_of(robot).steps(0.02) == 20
    state = np.array([[0.0], [0.0], [0.01], [0.0]])
    plant.moved(state, np.array([[115.15], [49.0]]), 0.02 / steps, steps, plant.forward.room(1))
    assert np.abs(state).max() < 0.02


def test_a_joint_that_moves_no_inertia_is_named() -> None:
    robot = bc.load_robot("machado-2r")
    first, last = robot.links
    empty = replace(last, mass=0.0, inertia=(0.0,) * 6, rotor_inertia=0.0)
    with pytest.raises(bc.DataError, match="joint 2 moves no inertia"):
        plant_of(replace(robot, links=(first, empty)))
