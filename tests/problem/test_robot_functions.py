"""Functions that are no sums of waves, or may be chosen: friction, control, loads, inverses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
import pytest
from limited import with_ranges
from pinocchio_model import pinocchio_model

import boolcomp as bc
from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics import gravity_torques, inverse_dynamics
from boolcomp.problem.expressions.straight import Straight
from boolcomp.problem.functions import FRICTION, USUAL, function_name, function_of, robot_problem
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import Pose, Robot, load_robot, with_payload
from boolcomp.terms import evaluate_terms, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

ARM, ELBOW = load_robot("machado-2r"), load_robot("elbow-3r")
FORWARD = ["machado-2r", "elbow-3r", "desk-3r", "planar-3r", "roarm-m2", "scara"]
WRISTS = ["puma560", "j2s6"]


def with_dry_friction(forwards: float, backwards: float) -> Robot:
    """Return the paper's arm with dry friction in both joints."""
    links = tuple(replace(link, coulomb_friction=(forwards, backwards)) for link in ARM.links)
    return replace(ARM, links=links)


def of_terms(problem: Problem, *arrays: Floats) -> Floats:
    """Return outputs by terms, with the factors that are prepared calculated first."""
    terms, columns = split(problem), problem.columns(arrays)
    if terms.prepared is not None:
        made = terms.prepared.evaluate([columns[name] for name in terms.prepared.inputs])
        names = (one.name for one in terms.prepared.outputs)
        columns |= dict(zip(names, made, strict=True))
    return np.stack([evaluate_terms(several, columns) for several in terms.outputs], axis=1)


# friction -----------------------------------------------------------------------------------------


def test_dry_friction_is_a_tanh_with_a_size_for_each_direction() -> None:
    arm = with_dry_friction(8.0, 6.0)
    problem = robot_problem(arm, f"{FRICTION}:smoothing=0.1,0.3")
    q, qd, qdd = problem.draw(200, 3)
    s = np.tanh(qd / [0.1, 0.3])
    dry = np.where(s > 0, 8.0, 6.0) * s
    dry += (s * s - np.abs(s)) * 1.0  # (8 - 6) / 2: half the difference, times the square
    expected = inverse_dynamics(arm, q, qd, qdd) + dry
    assert problem.reference(q, qd, qdd) == pytest.approx(expected, abs=1e-9)


def test_smoothed_friction_is_the_signs_at_ten_times_the_smoothing() -> None:
    problem = robot_problem(ELBOW, FRICTION)
    q, qd, qdd = problem.draw(300, 3)
    fast = np.abs(qd).min(axis=1) > 0.2 * max(x.velocity.magnitude for x in ELBOW.links)
    signed = inverse_dynamics(ELBOW, q, qd, qdd, friction=True)
    assert fast.sum() > 50
    assert problem.reference(q, qd, qdd)[fast] == pytest.approx(signed[fast], abs=1e-6)
    assert "tanh(qd/v)" in problem.notes[0]


def test_the_sign_of_dry_friction_is_a_factor_that_is_prepared() -> None:
    problem = robot_problem(with_dry_friction(8.0, 6.0), FRICTION)
    terms = split(problem)
    assert not terms.plain
    assert [str(term) for term in terms.outputs[0] if "dry" in str(term)] == ["1 dry1"]
    with pytest.raises(UsageError, match="compact mode compiles it"):
        terms.required()


# control ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["control", "control:kp=40,9:kd=14,6"])
def test_control_is_inverse_dynamics_of_the_command(of: str) -> None:
    kp, kd = (np.array([40.0, 9.0]), np.array([14.0, 6.0])) if ":" in of else (100.0, 20.0)
    problem = robot_problem(ARM, of)
    q, qd, qr, qdr, qddr = problem.draw(3000, 5)
    qr = q + 0.03 * qr  # where the command is not held
    command = qddr + kd * (qdr - qd) + kp * (qr - q)
    expected = inverse_dynamics(ARM, q, qd, np.clip(command, -1, 1))
    assert (np.abs(command) < 1).sum() > 100
    assert problem.reference(q, qd, qr, qdr, qddr) == pytest.approx(expected, abs=1e-9)


def test_the_difference_of_two_angles_wraps_and_is_led_through_zero_half_a_turn_away() -> None:
    problem = robot_problem(ARM, "control")
    zeros = np.zeros((5, 2))
    q = np.array([[3.1, 0], [-3.1, 0], [0.2, 0], [0.2, 0], [0, 0]])
    qr = np.array([[-3.1, 0], [3.1, 0], [0.2 + np.pi, 0], [0.2 - np.pi, 0], [2.0, 0]])
    found = problem.reference(q, zeros, qr, zeros, zeros) - gravity_torques(ARM, q)
    inertia = 25.75  # of joint 1, arm stretched: M11 at q2 = 0
    assert found[:, 0] == pytest.approx([inertia, -inertia, 0, 0, inertia], abs=1e-6)


def test_no_torque_of_control_jumps() -> None:
    problem = robot_problem(ARM, "control")
    q = np.stack([np.linspace(-np.pi, np.pi, 200_001), np.zeros(200_001)], axis=1)
    zeros = np.zeros_like(q)
    found = problem.reference(q, zeros, zeros, zeros, zeros)[:, 0]
    assert np.abs(np.diff(found)).max() < 0.2


def test_where_a_joint_has_stops_the_difference_goes_between_them() -> None:
    arm = with_ranges(ARM, q2=(-2.5, 2.5))
    problem = robot_problem(arm, "control:kp=0.1:kd=1")
    one, zeros = np.array([[0.0, -2.4]]), np.zeros((1, 2))
    other = np.array([[0.0, 2.4]])
    expected = inverse_dynamics(arm, one, zeros, [[0.0, 0.48]])
    assert problem.reference(one, zeros, other, zeros, zeros) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "of", ["control", "control:kp=2:load=0..3", f"{FRICTION}:load=1..2", "gravity:load=0..5"]
)
def test_terms_with_prepared_factors_add_up(of: str) -> None:
    problem = robot_problem(with_dry_friction(8.0, 6.0), of)
    arrays = problem.draw(50, 4)
    assert of_terms(problem, *arrays) == pytest.approx(problem.reference(*arrays), abs=1e-9)


# loads --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["machado-2r", "puma560", "scara"])
def test_a_load_as_an_input_is_a_point_mass_at_the_tip(name: str) -> None:
    robot = load_robot(name)
    problem = robot_problem(robot, f"{USUAL}:load=0..5")
    q, qd, qdd, mass = problem.draw(4, 1)
    found = problem.reference(q, qd, qdd, mass)
    for k, kilograms in enumerate(mass[:, 0]):
        model = pinocchio_model(with_payload(robot, float(kilograms)))
        theirs = pin.rnea(model, model.createData(), q[k], qd[k], qdd[k])
        assert found[k] == pytest.approx(theirs, abs=1e-9 * (1 + np.abs(theirs).max()))
    assert problem.groups[-1].members == ("mass",)
    assert problem.input("mass").range == Interval(0.0, 5.0)


def test_terms_of_a_load_are_narrow_enough_for_tables() -> None:
    texts = [str(term) for term in split(robot_problem(ARM, "gravity:load=0..5")).outputs[1]]
    assert texts == ["7.84 cos(q1 + q2) mass", "49 cos(q1 + q2)"]


# forward dynamics ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORWARD)
def test_forward_dynamics_are_pinocchios(name: str) -> None:
    robot = load_robot(name)
    problem, model = robot_problem(robot, "forward-dynamics"), pinocchio_model(robot)
    q, qd, tau = problem.draw(10, 1)
    theirs = np.array([
        pin.aba(model, model.createData(), *state) for state in zip(q, qd, tau, strict=True)
    ])  # fmt: skip
    scale = np.abs(theirs).max()
    assert problem.reference(q, qd, tau) == pytest.approx(theirs, abs=1e-11 * scale)
    assert isinstance(problem.form(), Straight)


def test_forward_dynamics_of_more_than_three_coupled_joints_are_refused() -> None:
    with pytest.raises(UsageError, match="at most 3 joints are coupled by their inertia; of this"):
        robot_problem(load_robot("puma560"), "forward-dynamics")


# inverse kinematics -------------------------------------------------------------------------------


def upright() -> Robot:
    """Return an arm of two links in the base's plane of x and z, whose second joint turns back."""
    first = replace(ARM.links[0], a=0.0, pose=Pose((0.1, 0.0, 0.3), (0.0, 0.0, 0.0)))
    second = replace(ARM.links[1], a=0.0, pose=Pose((0.5, 0.0, 0.2), (0.0, 0.0, 0.0)))
    links = (replace(first, axis=(0.0, 1.0, 0.0)), replace(second, axis=(0.0, -1.0, 0.0)))
    return replace(ARM, links=links, tool=Pose((0.3, 0.0, -0.1), (0.0, 0.0, 0.0)))


def turned() -> Robot:
    """Return the paper's arm with angles of its own at zero, the second axis turned over."""
    first = replace(ARM.links[0], theta=0.4, alpha=np.pi)
    return replace(ARM, links=(first, replace(ARM.links[1], theta=1.0, a=0.5)))


@pytest.mark.parametrize("elbow", ["up", "down"])
@pytest.mark.parametrize("robot", [ARM, turned(), upright()], ids=["paper", "turned", "upright"])
def test_forward_kinematics_lead_back_from_inverse_ones(robot: Robot, elbow: str) -> None:
    problem = robot_problem(robot, function_name("inverse-kinematics", elbow=elbow))
    names = [one.name for one in problem.inputs]
    (point,) = problem.draw(10_000, 1)
    there = robot_problem(robot, "forward-kinematics")
    back = there.reference(problem.reference(point))
    places = [there.returned.members.index(name) for name in names]
    missed = np.abs(back[:, places] - point).max(axis=1)
    assert (missed < 1e-9).mean() > 0.6  # of a square the workspace is a ring
    outside = missed > 1e-3
    tip, centre = back[outside][:, places], problem.bounds()[0] / 2 + problem.bounds()[1] / 2
    (a, b), (x, y) = (tip - centre).T, (point[outside] - centre).T
    assert np.abs(a * y - b * x).max() < 1e-4  # stretched, or folded, towards it


def test_an_elbow_is_up_or_down() -> None:
    point = np.array([[1.0, 0.5]])
    up, down = (
        robot_problem(ARM, f"inverse-kinematics{end}").reference(point)[0]
        for end in ("", ":elbow=down")
    )
    assert up[1] == pytest.approx(-down[1])
    assert np.sin(up[0]) > np.sin(down[0])  # the end of the first link


@pytest.mark.parametrize("name", WRISTS)
@pytest.mark.parametrize("elbow", ["up", "down"])
def test_an_arm_with_a_wrist_comes_where_it_is_wanted(name: str, elbow: str) -> None:
    robot = load_robot(name)
    problem = robot_problem(robot, function_name("inverse-kinematics", elbow=elbow))
    point, rpy = problem.draw(10_000, 2)
    model = pinocchio_model(robot)
    data, found = model.createData(), problem.reference(point, rpy)
    there = robot_problem(robot, "forward-kinematics").reference(found)
    missed = np.abs(there[:, :3] - point).max(axis=1)
    assert (missed < 1e-9).mean() > 0.15  # of a cube
    for k in range(50):
        wanted: Any = pin.rpy.rpyToMatrix(*rpy[k])
        pin.forwardKinematics(model, data, found[k])
        assert there[k, 3:] == pytest.approx(wanted.ravel(), abs=1e-9)


@pytest.mark.parametrize(("name", "why"), [
    ("ur5e", "the last three axes meet in a point"),
    ("stanford", "all of them turn"),
    ("elbow-3r", "two parallel joints that turn, and of six"),
    ("panda", "two parallel joints that turn, and of six"),
])  # fmt: skip
def test_arms_without_a_closed_form_are_refused(name: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        robot_problem(load_robot(name), "inverse-kinematics")


# choices ------------------------------------------------------------------------------------------


def test_a_name_says_what_is_chosen_and_nothing_usual() -> None:
    name = function_name("control", kp="50.0, 40", kd=20, load="0..5")
    assert name == "control:kp=50,40:load=0..5"
    assert function_name(name) == name
    assert function_of(f"machado-2r-{name}", "machado-2r") == name
    assert function_name("inverse-kinematics", elbow="up") == "inverse-kinematics"
    assert function_name(USUAL, friction=True, smoothing=[0.5]) == f"{FRICTION}:smoothing=0.5"


@pytest.mark.parametrize(("of", "choices", "message"), [
    ("gravity", {"kp": 3}, "gravity has no kp .a gain kp.: it has load"),
    ("jacobian", {"load": "0..5"}, "jacobian has no load .*: it has no choices"),
    ("control", {"kd": 0}, "kd 0: give one number above zero"),
    ("control", {"kd": "x"}, "kd 'x': give one number above zero"),
    ("gravity", {"load": "5..2"}, "load-range '5..2': give a range of kg that rises"),
    ("control:kpp=3", {}, "'kpp=3' is no choice .did you mean 'kp'"),
    ("control:kp=3:kp=4", {}, "kp is chosen twice"),
    ("inverse-kinematics", {"elbow": "left"}, "elbow 'left': up or down"),
])  # fmt: skip
def test_what_cannot_be_chosen_is_wrong_usage(of: str, choices: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        function_name(of, **choices)


def test_python_takes_the_same_choices() -> None:
    with pytest.raises(UsageError, match="gravity has no elbow"):
        bc.compile("machado-2r", of="gravity", elbow="up")
    with pytest.raises(UsageError, match=r"load-range .*: give a range of kg that rises"):
        bc.compile("machado-2r", of="gravity", load_range=(5, 2))
    with pytest.raises(UsageError, match="a int is no function"):
        bc.compile("machado-2r", of=3)  # type: ignore[arg-type]  # what a user may do


def test_choices_of_each_joint_are_as_many_as_joints() -> None:
    with pytest.raises(UsageError, match="kp has 3 values: one for all joints of machado-2r, or 2"):
        robot_problem(ARM, "control:kp=1,2,3")
    with pytest.raises(UsageError, match="machado-2r has no coulomb_friction"):
        robot_problem(ARM, f"{FRICTION}:smoothing=1")
