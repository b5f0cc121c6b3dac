"""Newton-Euler and kinematics: published figures, closed forms, and Pinocchio on random arms."""

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from graphs import error
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states, terms_of

import boolcomp as bc
from boolcomp.base import UsageError
from boolcomp.parallel import straight_line, task_graph
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


def test_terms_are_the_same_however_strong_gravity_is() -> None:
    arm, texts = load_robot("elbow-3r"), []
    for strength in (1.0, 1e7):
        x, y, z = arm.gravity
        strong = replace(arm, gravity=(strength * x, strength * y, strength * z))
        texts.append([[term.factor_text for term in terms] for terms in terms_of(strong).outputs])
    assert texts[0] == texts[1]


def tilted(*axis: float) -> Robot:
    """Return an arm whose axes are all this one, in the frames of their joints."""
    robot = general_robot(2, 3)
    return replace(robot, name=f"{axis}", links=tuple(replace(x, axis=axis) for x in robot.links))  # type: ignore[arg-type]


REGROUPED = [
    tilted(0.6, 0.0, 0.8), tilted(0.0, -0.6, 0.8), tilted(0.6, 0.8, 0.0),
    *(random_robot(seed, joints=4) for seed in range(4)), *map(branched_robot, range(4)),
    *map(bc.load_robot, ("panda", "so100", "indy7", "scara")),
]  # fmt: skip


@pytest.mark.parametrize("robot", REGROUPED, ids=lambda robot: robot.name)
def test_torques_are_newton_eulers(robot: Robot) -> None:
    assert error(robot, straight_line("regrouped", robot), random_states(robot, 5)) < 1e-11


@pytest.mark.parametrize(
    "axis",
    [(0, 1 - 1e-12, 0), (0, 1e-12 - 1, 0), (6e-17, 1.0, 6e-17), (1 - 1e-12, 0, 0), (0, 0, -1)],
)
def test_an_axis_that_rounding_moved_is_that_of_the_frame(axis: tuple[float, float, float]) -> None:
    robot = general_robot(1, 3)
    turned = replace(robot, links=tuple(replace(link, axis=axis) for link in robot.links))
    line = straight_line("regrouped", turned)
    assert error(turned, line, random_states(turned, 5)) < 1e-9
    x, y, z = (float(round(x)) for x in axis)
    exact = replace(robot, links=tuple(replace(link, axis=(x, y, z)) for link in robot.links))
    assert line.operations == straight_line("regrouped", exact).operations


def test_few_operations_are_needed() -> None:
    found = {
        name: straight_line("regrouped", bc.load_robot(name)).operations
        for name in ("machado-2r", "puma560", "stanford")
    }
    assert found["machado-2r"] == Operations(15, 11, functions=4)
    assert found["puma560"].total <= 183 + 149 + 10
    assert found["stanford"].total <= 154 + 121 + 8


def test_rounding_errors_of_point_masses_are_not_parameters() -> None:
    arm = bc.load_robot("j2s6")
    points = tuple(replace(link, inertia=(0.0,) * 6) for link in arm.links)
    line = straight_line("regrouped", replace(arm, links=points))
    assert line.operations == Operations(220, 176, functions=10)  # 233 and 194 with the errors


def test_links_without_mass_send_no_force() -> None:
    graph = task_graph("regrouped", bc.load_robot("puma560")).graph
    cost = {task.name: task.operations for task in graph.tasks}
    assert {name.partition("/")[2] for name in cost} == set("123456")
    assert cost["F/6"] == cost["f/6"] == cost["vd/6"] == Operations()
