"""Newton-Euler and kinematics: published figures, closed forms, and Pinocchio on random arms."""

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states, terms_of

import boolcomp as bc
from boolcomp.base import UsageError
from boolcomp.problem import (
    Operations,
    Robot,
    load_robot,
    robot_problem,
)

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
    found = bc.inverse_dynamics(bc.load_robot("puma560"), q, [speed] * 6, REST)
    assert np.allclose(found, tau, rtol=0, atol=2e-9)


def test_torques_of_the_papers_arm_are_its_closed_form() -> None:
    q, qd, qdd = random_states(bc.load_robot("machado-2r"), 200)
    c1, c2, c12 = np.cos(q[:, 0]), np.cos(q[:, 1]), np.cos(q[:, 0] + q[:, 1])
    s2 = np.sin(q[:, 1])
    t1 = (15.75 + 10 * c2) * qdd[:, 0] + (4 + 5 * c2) * qdd[:, 1]
    t1 += -5 * s2 * qd[:, 1] ** 2 - 10 * s2 * qd[:, 0] * qd[:, 1] + 66.15 * c1 + 49 * c12
    t2 = (4 + 5 * c2) * qdd[:, 0] + 9 * qdd[:, 1] + 5 * s2 * qd[:, 0] ** 2 + 49 * c12
    found = bc.inverse_dynamics(bc.load_robot("machado-2r"), q, qd, qdd)
    assert np.allclose(found, np.stack([t1, t2], axis=1), rtol=0, atol=1e-12)


ROBOTS = [
    *(random_robot(seed) for seed in range(12)), *(general_robot(seed) for seed in range(12)),
    *(branched_robot(seed, 2 + seed % 7) for seed in range(12)),
    *map(bc.load_robot, bc.robot_names()),
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
    ours = bc.inverse_dynamics(robot, q, qd, qdd)
    pushed = bc.inverse_dynamics(robot, q, qd, qdd, wrench=wrench)
    gravity = bc.inverse_dynamics(robot, q, 0, 0)
    forces = pin.StdVec_Force()
    for _ in range(model.njoints - 1):
        forces.append(pin.Force.Zero())
    # What the tip exerts on its surroundings comes back on it with the other sign.
    forces.append(place_of_tip(robot).act(pin.Force(-wrench)))
    for k in range(len(q)):
        assert near(ours[k], pin.rnea(model, data, q[k], qd[k], qdd[k]))
        assert near(pushed[k], pin.rnea(model, data, q[k], qd[k], qdd[k], forces))
        columns = bc.inverse_dynamics(robot, [q[k]] * robot.joints, 0, np.eye(robot.joints))
        assert near(np.triu((columns - gravity[k]).T), np.triu(pin.crba(model, data, q[k])))
        assert near(gravity[k], pin.computeGeneralizedGravity(model, data, q[k]))


def test_the_random_robots_are_of_all_kinds() -> None:
    robots = ROBOTS[:36]
    assert {robot.joints for robot in robots} == set(range(1, 9))
    assert sum(any(not link.revolute for link in robot.links) for robot in robots) >= 20
    assert sum(robot.branched for robot in robots) >= 8


def test_friction_opposes_motion_only_where_it_is_asked_for() -> None:
    robot = bc.load_robot("puma560")
    q, qd, qdd = random_states(robot, 50)
    still = np.zeros_like(q)
    rubbed = bc.inverse_dynamics(robot, q, qd, qdd, friction=True) - bc.inverse_dynamics(
        robot, q, qd, qdd
    )
    gear = abs(robot.links[0].gear_ratio)
    coulomb = np.where(qd[:, 0] > 0, 0.395, -0.435) * gear
    assert np.allclose(rubbed[:, 0], 1.48e-3 * gear**2 * qd[:, 0] + coulomb)
    at_rest = bc.inverse_dynamics(robot, q, still, qdd, friction=True)
    assert np.array_equal(at_rest, bc.inverse_dynamics(robot, q, still, qdd))
    assert not bc.inverse_dynamics(robot, q, still, still, gravity=False).any()


def test_friction_of_one_direction_is_felt_in_that_alone() -> None:
    arm = bc.load_robot("machado-2r")
    arm = replace(arm, links=tuple(replace(x, coulomb_friction=(0.3, 0.0)) for x in arm.links))
    q, qd, qdd = random_states(arm, 50)
    rubbed = bc.inverse_dynamics(arm, q, qd, qdd, friction=True) - bc.inverse_dynamics(
        arm, q, qd, qdd
    )
    assert np.allclose(rubbed, np.where(qd > 0, 0.3, 0.0), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["machado-2r", "puma560"])
def test_samples_do_not_depend_on_the_block_they_are_in(name: str) -> None:
    robot = bc.load_robot(name)
    q, qd, qdd = random_states(robot, 20_000)
    all_at_once = bc.inverse_dynamics(robot, q, qd, qdd)
    assert np.array_equal(bc.inverse_dynamics(robot, q[5000:], qd[5000:], qdd[5000:]),
                          all_at_once[5000:])  # fmt: skip
    alone = bc.inverse_dynamics(robot, q[-1], qd[-1], qdd[-1])
    assert alone.shape == (robot.joints,)
    assert np.allclose(alone, all_at_once[-1], rtol=1e-12, atol=1e-12)


def test_terms_are_the_same_however_strong_gravity_is() -> None:
    arm, texts = load_robot("elbow-3r"), []
    for strength in (1.0, 1e7):
        x, y, z = arm.gravity
        strong = replace(arm, gravity=(strength * x, strength * y, strength * z))
        texts.append([[term.factor_text for term in terms] for terms in terms_of(strong).outputs])
    assert texts[0] == texts[1]


UPRIGHT = "at right angles to the"


@pytest.mark.parametrize(("name", "turned", "message"), [
    ("puma560", {0: 1.3}, f"parallel second and third axes, {UPRIGHT} first"),
    ("puma560", {1: 0.2, 2: -RIGHT - 0.2}, "parallel second and third axes"),
    ("puma560", {3: 1.3}, f"a fifth axis {UPRIGHT} fourth and the sixth"),
    ("puma560", {4: -1.3}, f"a fifth axis {UPRIGHT} fourth and the sixth"),
    ("machado-2r", {0: RIGHT}, "the axes of its joints are not parallel"),
    ("machado-2r", {0: 0.001}, "the axes of its joints are not parallel"),
])  # fmt: skip
def test_an_arm_whose_axes_do_not_lie_as_needed_has_no_inverse_kinematics(
    name: str, turned: dict[int, float], message: str
) -> None:
    arm = load_robot(name)
    links = [
        replace(link, alpha=turned.get(place, link.alpha)) for place, link in enumerate(arm.links)
    ]
    with pytest.raises(UsageError, match=message):
        robot_problem(replace(arm, links=tuple(links)), "inverse-kinematics")


def test_operations_add_kind_by_kind_and_print_what_there_is() -> None:
    total = Operations(12, 9) + Operations(additions=1, divisions=2, roots=3, functions=4)
    assert (total, total.total) == (Operations(12, 10, 2, 3, 4), 31)
    assert str(Operations(12, 9)) == "12 mul 9 add"
    assert str(Operations(divisions=1, roots=2, functions=3)) == "1 div 2 root 3 fun"
    assert str(Operations()) == "0"
