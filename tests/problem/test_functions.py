"""Functions of a robot: their references against Pinocchio and differences, terms against those."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
import pytest
from limited import with_ranges
from pinocchio_model import after_joint, pinocchio_model
from samples import problem_of, random_robot

from boolcomp.common.errors import UsageError
from boolcomp.problem.choices import KD, KP
from boolcomp.problem.dynamics import bias_torques, gravity_torques, inverse_dynamics
from boolcomp.problem.functions import (
    FUNCTIONS,
    NAMES,
    USUAL,
    function_of,
    robot_problem,
    with_friction,
)
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import PartHint, SumHint
from boolcomp.problem.robot import Robot, load_robot, robot_names, with_payload
from boolcomp.terms import evaluate_terms, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

STEP = 1e-6
PLAIN = [name for name, one in FUNCTIONS.items() if not (one.prepared or one.stepwise)]
ARMS = [
    pytest.param(robot, id=robot.name, marks=[pytest.mark.slow] if robot.joints > 3 else [])
    for robot in (*map(load_robot, robot_names()), *(random_robot(k) for k in range(8)))
]
SMALL = [load_robot("machado-2r"), load_robot("elbow-3r"), random_robot(0, 2), random_robot(2, 3)]


def outputs_of(problem: Problem, *arrays: Floats) -> dict[str, Floats]:
    """Return every output by name, those that are constant among them."""
    found = dict(zip(problem.returned.members, problem.reference(*arrays).T, strict=True))
    return found | {name: np.full(len(arrays[0]), value) for name, value in problem.constants}


def tip(robot: Robot, q: Floats) -> tuple[pin.SE3, Floats]:
    """Return the last frame by Pinocchio, and the geometric Jacobian of its place."""
    model = pinocchio_model(robot)
    data = model.createData()
    joint = model.njoints - 1
    placement = after_joint(robot.links[-1])
    if robot.tool is not None:
        turned = pin.rpy.rpyToMatrix(*robot.tool.rotation)
        placement = placement * pin.SE3(turned, np.array(robot.tool.origin))
    frame = model.addFrame(pin.Frame("tip", joint, placement, pin.FrameType.OP_FRAME))
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    pin.updateFramePlacements(model, data)
    jacobian = pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL_WORLD_ALIGNED)
    return data.oMf[frame], jacobian


@pytest.fixture(name="rough_ranges")
def ranges_from_few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search what outputs reach in no time, where a test does not read their ranges."""
    for name, value in (("SAMPLES", 200), ("BEST", 1), ("FINE", 0.25)):
        monkeypatch.setattr(f"boolcomp.problem.robotfunction.{name}", value)


@pytest.mark.usefixtures("rough_ranges")
@pytest.mark.parametrize("robot", ARMS)
def test_forward_kinematics_and_jacobian_are_pinocchios(robot: Robot) -> None:
    poses, slopes = (robot_problem(robot, of) for of in ("forward-kinematics", "jacobian"))
    (q,) = poses.draw(4, 1)
    pose, slope = outputs_of(poses, q), outputs_of(slopes, q)
    for k, state in enumerate(q):
        frame, jacobian = tip(robot, state)
        for axis, value in zip("xyz", frame.translation, strict=True):
            assert pose[f"p{axis}"][k] == pytest.approx(value, abs=1e-9)
        for (i, j), value in np.ndenumerate(frame.rotation):
            assert pose[f"r{i + 1}{j + 1}"][k] == pytest.approx(value, abs=1e-9)
        for (i, j), value in np.ndenumerate(jacobian):
            assert slope[f"j{i + 1}{j + 1}"][k] == pytest.approx(value, abs=1e-8)


@pytest.mark.usefixtures("rough_ranges")
@pytest.mark.parametrize("robot", ARMS)
def test_inertia_and_bias_are_pinocchios(robot: Robot) -> None:
    inertias, bias = robot_problem(robot, "inertia"), robot_problem(robot, "bias")
    q, qd = bias.draw(4, 1)
    found, model = outputs_of(inertias, q), pinocchio_model(robot)
    torques = outputs_of(bias, q, qd)
    data = model.createData()
    for k in range(len(q)):
        upper = np.triu(pin.crba(model, data, q[k]))
        for i in range(robot.joints):
            for j in range(i, robot.joints):
                scale = np.abs(upper).max()
                assert found[f"m{i + 1}{j + 1}"][k] == pytest.approx(upper[i, j], abs=1e-8 * scale)
        theirs = pin.nonLinearEffects(model, data, q[k], qd[k])
        mine = [torques[f"tau{i + 1}"][k] for i in range(robot.joints)]
        assert mine == pytest.approx(list(theirs), abs=1e-9 * (1 + np.abs(theirs).max()))


@pytest.mark.parametrize("robot", SMALL, ids=lambda robot: robot.name)
def test_derivatives_are_slopes_of_newton_euler(robot: Robot) -> None:
    problem = robot_problem(robot, "derivatives")
    state = problem.draw(5, 2)
    found = outputs_of(problem, *state)
    for place, letters in enumerate(("q", "qd")):
        for j in range(robot.joints):
            step = STEP * np.eye(robot.joints)[j]
            moved = [
                [x + sign * step if k == place else x for k, x in enumerate(state)]
                for sign in (1, -1)
            ]
            ahead, behind = (inverse_dynamics(robot, *arrays) for arrays in moved)
            for i in range(robot.joints):
                slope = (ahead[:, i] - behind[:, i]) / (2 * STEP)
                assert found[f"dtau{i + 1}_d{letters}{j + 1}"] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("robot", SMALL, ids=lambda robot: robot.name)
def test_controllers_are_what_their_formulas_say(robot: Robot) -> None:
    problem = robot_problem(robot, "computed-torque")
    q, qd, qddr, e, de = problem.draw(20, 3)
    expected = inverse_dynamics(robot, q, qd, qddr + KP * e + KD * de)
    assert problem.reference(q, qd, qddr, e, de) == pytest.approx(expected, abs=1e-9)
    problem = robot_problem(robot, "pd-gravity")
    q, e, de = problem.draw(20, 3)
    expected = gravity_torques(robot, q) + KP * e + KD * de
    assert problem.reference(q, e, de) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("of", PLAIN)
@pytest.mark.parametrize("robot", SMALL, ids=lambda robot: robot.name)
def test_terms_of_every_function_add_up_to_it(robot: Robot, of: str) -> None:
    problem = robot_problem(robot, of)
    arrays = problem.draw(40, 4)
    exact, columns = problem.reference(*arrays), problem.columns(arrays)
    for k, terms in enumerate(split(problem).outputs):
        assert evaluate_terms(terms, columns) == pytest.approx(
            exact[:, k], abs=1e-9 * np.abs(exact).max()
        )


@pytest.mark.parametrize("of", ["bias", "forward-kinematics", "inertia", "derivatives"])
def test_joints_that_are_held_are_no_variables(of: str) -> None:
    robot = with_ranges(random_robot(3, 3), q2=(0.4, 0.4))
    problem = robot_problem(robot, of)
    arrays = problem.draw(20, 4)
    exact, columns = problem.reference(*arrays), problem.columns(arrays)
    for k, terms in enumerate(split(problem).outputs):
        assert "q2" not in {v.name for term in terms for v in term.variables}
        found = evaluate_terms(terms, columns)
        assert found == pytest.approx(exact[:, k], abs=1e-9 * np.abs(exact).max())


def test_viscous_friction_is_compiled_in() -> None:
    arm = load_robot("machado-2r")
    robot = replace(arm, links=tuple(replace(x, viscous_friction=0.7) for x in arm.links))
    problem = robot_problem(robot, with_friction(USUAL))
    q, qd, qdd = problem.draw(20, 3)
    expected = inverse_dynamics(robot, q, qd, qdd) + 0.7 * qd
    assert problem.reference(q, qd, qdd) == pytest.approx(expected, abs=1e-9)
    terms = [str(term) for several in split(problem).outputs for term in several]
    assert [text for text in terms if text.startswith("0.7")] == ["0.7 qd1", "0.7 qd2"]


def test_friction_belongs_to_inverse_dynamics() -> None:
    with pytest.raises(UsageError, match="friction belongs to inverse-dynamics, not to gravity"):
        with_friction("gravity")


def test_an_unknown_function_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"'gravitty' \(did you mean 'gravity'"):
        robot_problem(load_robot("machado-2r"), "gravitty")


def test_the_usual_function_is_inverse_dynamics() -> None:
    robot = load_robot("machado-2r")
    assert robot_problem(robot) == problem_of(robot)
    assert [robot_problem(robot, of).name for of in NAMES[:3]] == [
        "machado-2r", "machado-2r-gravity", "machado-2r-inverse-dynamics-with-friction",
    ]  # fmt: skip


def test_what_never_changes_is_no_output() -> None:
    problem = robot_problem(load_robot("machado-2r"), "forward-kinematics")
    assert problem.returned.members == ("px", "py", "r11", "r12", "r21", "r22")
    assert dict(problem.constants) == {
        "pz": 0.0, "r13": 0.0, "r23": 0.0, "r31": 0.0, "r32": 0.0, "r33": 1.0,
    }  # fmt: skip
    assert str(split(problem)).splitlines()[:2] == [
        "px = px1",
        "  px1 = 1 cos q1 + 0.8 cos(q1 + q2)",
    ]


def test_equal_outputs_are_made_once() -> None:
    problem = robot_problem(load_robot("machado-2r"), "forward-kinematics")
    assert problem.parts == (PartHint(2, 5, 1), PartHint(3, 4, -1))  # r11 = r22, r12 = -r21


def test_a_function_that_never_changes_is_refused() -> None:
    arm = load_robot("machado-2r")
    slider = replace(arm.links[0], type="prismatic", position=Interval(0.0, 1.0))
    robot = replace(arm, name="slider", links=(slider,))
    with pytest.raises(UsageError, match="inertia of slider never changes"):
        robot_problem(robot, "inertia")


@pytest.mark.parametrize("of", PLAIN)
def test_ranges_hold_what_is_found_or_are_the_robots_own(of: str) -> None:
    robot = load_robot("elbow-3r")
    problem = robot_problem(robot, of)
    reached = np.abs(problem.reference(*problem.draw(5000, 8))).max(axis=0)
    for output, reach in zip(problem.outputs, reached, strict=True):
        assert reach <= 2 * output.range.high
        if not output.name.startswith("tau"):
            assert reach <= output.range.high < 3 * reach


def test_a_controllers_words_add_up_to_an_acceleration() -> None:
    problem = robot_problem(load_robot("machado-2r"), "computed-torque")
    assert problem.sums[:3] == (
        SumHint("commands", "qddr1", "de1", 1, KD), SumHint("commands", "qddr1+de1", "e1", 1, KP),
        SumHint("commands", "qddr2", "de2", 1, KD),
    )  # fmt: skip
    assert problem.input("e1").range == Interval(-1 / KP, 1 / KP)
    assert problem.input("de1").unit == "rad/s"


def test_a_load_at_the_tip_counts_in_every_function_of_forces() -> None:
    robot = load_robot("machado-2r")
    problem = robot_problem(with_payload(robot, 2.0), "bias")
    q, qd = problem.draw(5, 1)
    assert problem.reference(q, qd) == pytest.approx(bias_torques(with_payload(robot, 2.0), q, qd))
    assert problem.key != robot_problem(robot, "bias").key


def test_the_name_of_a_problem_says_its_function() -> None:
    assert function_of("puma560-stops-gravity", "puma560-stops") == "gravity"
    assert function_of("puma560-stops", "puma560") == USUAL
    assert function_of("zero-gravity", "zero-gravity") == USUAL
