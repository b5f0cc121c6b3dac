"""Functions of robots: references beside Pinocchio and differences, terms beside references."""

from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from limited import with_ranges
from numpy.typing import NDArray
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, random_robot

import boolcomp as bc
from boolcomp.base import UsageError
from boolcomp.problem import (
    Interval,
    Pose,
    Problem,
    Robot,
    Straight,
    function_name,
    robot_problem,
    with_payload,
)
from boolcomp.terms import FORMS, evaluate_terms, split

Floats = NDArray[np.float64]

USUAL, FRICTION = "inverse-dynamics", "inverse-dynamics-with-friction"
PLAIN = ["gravity", "bias", "inertia", "reactions", "forward-kinematics", "jacobian", "derivatives",
         "inverse-dynamics:wrench=20,5",
         "computed-torque", "pd-gravity", FRICTION]  # fmt: skip
ARM, ELBOW = bc.load_robot("machado-2r"), bc.load_robot("elbow-3r")
SMALL = [ARM, ELBOW, random_robot(0, 2), random_robot(2, 3)]
ARMS = [
    pytest.param(robot, id=robot.name, marks=[pytest.mark.slow] if robot.joints > 3 else [])
    for robot in (
        *map(bc.load_robot, bc.robot_names()),
        *(random_robot(k) for k in range(4)),
        *(branched_robot(k, 6) for k in range(3)),
    )
]


def outputs_of(problem: Problem, *arrays: Floats) -> dict[str, Floats]:
    """Return every output by name, those that are constant among them."""
    found = dict(zip(problem.returned.members, problem.reference(*arrays).T, strict=True))
    return found | {name: np.full(len(arrays[0]), value) for name, value in problem.constants}


def of_terms(problem: Problem, *arrays: Floats, form: Any = "grouped") -> Floats:
    """Return outputs by terms, with the factors that are prepared calculated first."""
    terms, columns = split(problem, form), problem.columns(arrays)
    if terms.prepared is not None:
        made = terms.prepared.evaluate([columns[name] for name in terms.prepared.inputs])
        names = (one.name for one in terms.prepared.outputs)
        columns |= dict(zip(names, made, strict=True))
    return np.stack([evaluate_terms(several, columns) for several in terms.outputs], axis=1)


def with_friction(dry: tuple[float, float], viscous: float = 0.0) -> Robot:
    """Return the paper's arm with friction in both joints."""
    links = (replace(x, coulomb_friction=dry, viscous_friction=viscous) for x in ARM.links)
    return replace(ARM, links=tuple(links))


@pytest.fixture(name="rough_ranges")
def ranges_from_few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search what outputs reach in no time, where a test does not read their ranges."""
    for name, value in (("SAMPLES", 200), ("BEST", 1), ("FINE", 0.25)):
        monkeypatch.setattr(f"boolcomp.problem.functions.{name}", value)


@pytest.mark.usefixtures("rough_ranges")
@pytest.mark.parametrize("robot", ARMS)
def test_kinematics_inertia_and_bias_are_pinocchios(robot: Robot) -> None:
    model, last = pinocchio_model(robot), robot.joints
    place = after_joint(robot.links[-1]) * (
        placed(robot.tool) if robot.tool else pin.SE3.Identity()
    )
    frame = model.addFrame(pin.Frame("tip", last, place, pin.FrameType.OP_FRAME))
    data, bias = model.createData(), robot_problem(robot, "bias")
    q, qd = bias.draw(3, 1)
    torques = outputs_of(bias, q, qd)
    found = {
        of: outputs_of(robot_problem(robot, of), q)
        for of in ("forward-kinematics", "jacobian", "inertia")
    }

    def same(of: str, letter: str, k: int, matrix: Floats) -> None:
        scale = 1 + np.abs(matrix).max()
        for (i, j), value in np.ndenumerate(matrix):
            if (name := f"{letter}{i + 1}{j + 1}") in found[of]:
                assert found[of][name][k] == pytest.approx(value, abs=1e-8 * scale), name

    for k, state in enumerate(q):
        jacobian = pin.computeFrameJacobian(model, data, state, frame, pin.LOCAL_WORLD_ALIGNED)
        pin.framesForwardKinematics(model, data, state)
        same("jacobian", "j", k, jacobian)
        same("forward-kinematics", "r", k, data.oMf[frame].rotation)
        point = [found["forward-kinematics"][f"p{axis}"][k] for axis in "xyz"]
        assert point == pytest.approx(list(data.oMf[frame].translation), abs=1e-9)
        same("inertia", "m", k, np.triu(pin.crba(model, data, state)))
        assert len(found["inertia"]) == last * (last + 1) // 2
        theirs = pin.nonLinearEffects(model, data, state, qd[k])
        mine = [torques[f"tau{i + 1}"][k] for i in range(last)]
        assert mine == pytest.approx(list(theirs), abs=1e-9 * (1 + np.abs(theirs).max()))


@pytest.mark.parametrize("robot", SMALL, ids=lambda robot: robot.name)
def test_derivatives_are_slopes_of_newton_euler(robot: Robot) -> None:
    problem, tiny = robot_problem(robot, "derivatives"), 1e-6
    state = problem.draw(5, 2)
    found = outputs_of(problem, *state)
    for place, letters in enumerate(("q", "qd")):
        for j in range(robot.joints):
            step = tiny * np.eye(robot.joints)[j]
            moved = [
                [x + sign * step if k == place else x for k, x in enumerate(state)]
                for sign in (1, -1)
            ]
            ahead, behind = (bc.inverse_dynamics(robot, *arrays) for arrays in moved)
            for i in range(robot.joints):
                slope = (ahead[:, i] - behind[:, i]) / (2 * tiny)
                assert found[f"dtau{i + 1}_d{letters}{j + 1}"] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("robot", SMALL, ids=lambda robot: robot.name)
def test_controllers_are_what_their_formulas_say(robot: Robot) -> None:
    problem = robot_problem(robot, "computed-torque")
    q, qd, qddr, e, de = problem.draw(20, 3)
    expected = bc.inverse_dynamics(robot, q, qd, qddr + 100 * e + 20 * de)
    assert problem.reference(q, qd, qddr, e, de) == pytest.approx(expected, abs=1e-9)
    problem = robot_problem(robot, "pd-gravity")
    q, e, de = problem.draw(20, 3)
    expected = bc.inverse_dynamics(robot, q, 0, 0) + 100 * e + 20 * de
    assert problem.reference(q, e, de) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("of", PLAIN)
def test_ranges_hold_what_is_found_or_are_the_robots_own(of: str) -> None:
    problem = robot_problem(ELBOW, of)
    reached = np.abs(problem.reference(*problem.draw(5000, 8))).max(axis=0)
    for output, reach in zip(problem.outputs, reached, strict=True):
        assert reach <= 2 * output.range.high
        if not output.name.startswith("tau"):
            assert reach <= output.range.high < 3 * reach


@pytest.mark.slow
@pytest.mark.parametrize("of", [
    *PLAIN, "control", "control:kp=2:load=0..3", f"{FRICTION}:load=1..2", "gravity:load=0..5",
])  # fmt: skip
def test_terms_of_every_function_add_up_to_it(of: str) -> None:
    held = with_ranges(random_robot(3, 3), q2=(0.4, 0.4))
    robots = SMALL if ":" not in of else [ARM]
    for robot in (*robots, held, with_friction((8.0, 6.0), 0.7)):
        problem = robot_problem(robot, of)
        arrays = problem.draw(40, 4)
        exact = problem.reference(*arrays)
        assert of_terms(problem, *arrays) == pytest.approx(exact, abs=1e-9 * np.abs(exact).max())
        names = {x.name for terms in split(problem).outputs for t in terms for x in t.variables}
        assert robot is not held or "q2" not in names  # a joint that is held is no variable


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_terms_adds_up(form: str) -> None:
    for robot in (*SMALL, with_ranges(random_robot(5, 4), q2=(0.5, 0.5))):
        problem = robot_problem(robot, "gravity")
        (q,) = problem.draw(50, 1)
        exact = problem.reference(q)
        assert of_terms(problem, q, form=form) == pytest.approx(exact, abs=1e-9)


def test_what_never_changes_is_no_output_and_equal_outputs_are_made_once() -> None:
    problem = robot_problem(ARM, "forward-kinematics")
    assert problem.returned.members == ("px", "py", "r11", "r12", "r21", "r22")
    assert dict(problem.constants) == {
        "pz": 0.0, "r13": 0.0, "r23": 0.0, "r31": 0.0, "r32": 0.0, "r33": 1.0,
    }  # fmt: skip
    assert str(split(problem)).splitlines()[1] == "  px1 = 1 cos q1 + 0.8 cos(q1 + q2)"
    assert [*map(astuple, problem.parts)] == [(2, 5, 1), (3, 4, -1)]  # r11 = r22, r12 = -r21


def test_dry_friction_is_a_tanh_with_a_size_for_each_direction() -> None:
    arm = with_friction((8.0, 6.0))
    problem = robot_problem(arm, f"{FRICTION}:smoothing=0.1,0.3")
    q, qd, qdd = problem.draw(200, 3)
    s = np.tanh(qd / [0.1, 0.3])
    dry = np.where(s > 0, 8.0, 6.0) * s
    dry += (s * s - np.abs(s)) * 1.0  # (8 - 6) / 2: half the difference, times the square
    expected = bc.inverse_dynamics(arm, q, qd, qdd) + dry
    assert problem.reference(q, qd, qdd) == pytest.approx(expected, abs=1e-9)
    fast = with_ranges(arm, qd1=(-3.0, 3.0), qd2=(0.0, 0.0))  # a fiftieth, where a joint moves
    usual, said = (robot_problem(fast, f"{FRICTION}{x}") for x in ("", ":smoothing=0.06,0.02"))
    assert usual.reference(q, qd, qdd) == pytest.approx(said.reference(q, qd, qdd), abs=1e-9)


@pytest.mark.parametrize("of", ["control", "control:kp=40,9:kd=14,6"])
def test_control_is_inverse_dynamics_of_the_command(of: str) -> None:
    kp, kd = (np.array([40.0, 9.0]), np.array([14.0, 6.0])) if ":" in of else (100.0, 20.0)
    problem = robot_problem(ARM, of)
    q, qd, qr, qdr, qddr = problem.draw(3000, 5)
    qr = q + 0.03 * qr  # where the command is not held
    command = qddr + kd * (qdr - qd) + kp * (qr - q)
    expected = bc.inverse_dynamics(ARM, q, qd, np.clip(command, -1, 1))
    assert (np.abs(command) < 1).sum() > 100
    assert problem.reference(q, qd, qr, qdr, qddr) == pytest.approx(expected, abs=1e-9)


def test_the_difference_of_two_angles_wraps_and_is_led_through_zero_half_a_turn_away() -> None:
    problem, zeros = robot_problem(ARM, "control"), np.zeros((5, 2))
    q = np.array([[3.1, 0], [-3.1, 0], [0.2, 0], [0.2, 0], [0, 0]])
    qr = np.array([[-3.1, 0], [3.1, 0], [0.2 + np.pi, 0], [0.2 - np.pi, 0], [2.0, 0]])
    found = problem.reference(q, zeros, qr, zeros, zeros) - bc.inverse_dynamics(ARM, q, 0, 0)
    inertia = 25.75  # of joint 1, arm stretched: M11 at q2 = 0
    assert found[:, 0] == pytest.approx([inertia, -inertia, 0, 0, inertia], abs=1e-6)


def test_where_a_joint_has_stops_the_difference_goes_between_them() -> None:
    arm = with_ranges(ARM, q2=(-2.5, 2.5))
    problem = robot_problem(arm, "control:kp=0.1:kd=1")
    one, other, zeros = np.array([[0.0, -2.4]]), np.array([[0.0, 2.4]]), np.zeros((1, 2))
    expected = bc.inverse_dynamics(arm, one, zeros, [[0.0, 0.48]])
    assert problem.reference(one, zeros, other, zeros, zeros) == pytest.approx(expected, abs=1e-9)


def test_the_difference_of_two_places_of_a_sliding_joint_never_wraps() -> None:
    slide = replace(ARM.links[0], type="prismatic", position=Interval(0.0, 9.0))
    arm = replace(ARM, links=(slide, ARM.links[1]))
    problem, zeros = robot_problem(arm, "control:kp=0.1:kd=1"), np.zeros((3, 2))
    one, other = np.array([[0.0, 0], [6.5, 0], [2, 0]]), np.array([[4.5, 0], [0, 0], [2.5, 0]])
    expected = bc.inverse_dynamics(arm, one, zeros, 0.1 * (other - one))
    found = problem.reference(one, zeros, other, zeros, zeros)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", ["machado-2r", "elbow-3r", "roarm-m2", "scara"])
def test_forward_dynamics_are_pinocchios(name: str) -> None:
    robot = bc.load_robot(name)
    problem, model = robot_problem(robot, "forward-dynamics"), pinocchio_model(robot)
    states = problem.draw(10, 1)
    data = model.createData()
    theirs = np.array([pin.aba(model, data, *state) for state in zip(*states, strict=True)])
    scale = np.abs(theirs).max()
    assert problem.reference(*states) == pytest.approx(theirs, abs=1e-11 * scale)
    assert isinstance(problem.form(), Straight)


FIVE_ARMS = ["machado-2r", "puma560", "stanford", "scara", "panda"]


@pytest.mark.parametrize("name", FIVE_ARMS)
def test_reactions_are_the_joint_forces_of_pinocchio(name: str) -> None:
    robot = bc.load_robot(name)
    problem, model = robot_problem(robot, "reactions"), pinocchio_model(robot)
    data, states = model.createData(), problem.draw(1000, 1)
    theirs = []
    for q, qd, qdd in zip(*states, strict=True):
        pin.rnea(model, data, q, qd, qdd)
        row = []
        for k, (link, one) in enumerate(zip(robot.links, q, strict=True)):
            turned = (link.theta if link.pose is None else 0.0) + (one if link.revolute else 0.0)
            assert link.pose is None or link.axis == (0.0, 0.0, 1.0)
            back = pin.rpy.rpyToMatrix(0, 0, turned)  # to axes that do not turn with the joint
            force, moment = back @ data.f[k + 1].linear, back @ data.f[k + 1].angular
            if link.revolute:
                row += [*force, *moment[:2]]
            else:  # its frame slides; ours is fixed to the link before
                row += [*force[:2], *(moment + np.cross([0.0, 0.0, one], force))]
        theirs.append(row)
    names = [
        f"{letter}{k}{axis}"
        for k, link in enumerate(robot.links, 1)
        for letter in "fm"
        for axis in "xyz"
        if f"{letter}{axis}" != ("mz" if link.revolute else "fz")
    ]
    columns = dict(zip(names, np.array(theirs).T, strict=True))
    scale = np.abs(theirs).max()
    for output, ours in zip(problem.outputs, problem.reference(*states).T, strict=True):
        assert np.abs(ours - columns.pop(output.name)).max() < 1e-9 * scale
    for constant, value in problem.constants:
        assert columns.pop(constant) == pytest.approx(value, abs=1e-8 * scale)
    assert not columns


@pytest.mark.parametrize("name", FIVE_ARMS)
def test_a_wrench_at_the_tip_is_an_external_force_of_pinocchio(name: str) -> None:
    robot = bc.load_robot(name)
    problem, model = robot_problem(robot, "inverse-dynamics:wrench=20,5"), pinocchio_model(robot)
    data, states = model.createData(), problem.draw(1000, 1)
    assert [group.name for group in problem.groups[-2:]] == ["force", "moment"]
    assert [one.range.high for one in problem.inputs[-6:]] == [20.0] * 3 + [5.0] * 3
    tip = after_joint(robot.links[-1])
    if robot.tool is not None:
        tip = tip * placed(robot.tool)
    theirs = []
    for *state, force, moment in zip(*states, strict=True):
        push = pin.StdVec_Force([pin.Force.Zero() for _ in range(robot.joints + 1)])
        push[robot.joints] = tip.act(pin.Force(-force, -moment))
        theirs.append(pin.rnea(model, data, *state, push))
    scale = np.abs(theirs).max()
    assert problem.reference(*states) == pytest.approx(np.array(theirs), abs=1e-9 * scale)


def test_a_wrench_and_a_load_are_inputs_together() -> None:
    problem = robot_problem(ARM, "inverse-dynamics:load=0..2:wrench=20,5")
    *state, mass, force, moment = problem.draw(50, 1)
    loaded = [bc.inverse_dynamics(with_payload(ARM, float(m)), *(x[k] for x in state),
                                  wrench=[*force[k], *moment[k]])
              for k, m in enumerate(mass[:, 0])]  # fmt: skip
    assert problem.reference(*state, mass, force, moment) == pytest.approx(
        np.array(loaded), abs=1e-9
    )


@pytest.mark.parametrize(
    ("wrench", "message"),
    [
        ("20", "wrench '20' is not the two ranges of a wrench"),
        ((20.0, 0.0), "is not the two ranges"),
        ("20,five", "wrench"),
    ],
)
def test_a_wrench_needs_two_ranges(wrench: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        function_name("inverse-dynamics", wrench=wrench)


def test_a_wrench_needs_one_tip() -> None:
    with pytest.raises(UsageError, match="has no tip frame"):
        robot_problem(replace(branched_robot(1, 4), tool=None), "inverse-dynamics:wrench=20,5")


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
    up, down = (
        robot_problem(ARM, f"inverse-kinematics{end}").reference(np.array([[1.0, 0.5]]))[0]
        for end in ("", ":elbow=down")
    )
    assert up[1] == pytest.approx(-down[1])
    assert np.sin(up[0]) > np.sin(down[0])  # the end of the first link


@pytest.mark.parametrize(("name", "elbow"), [("puma560", "up"), ("j2s6", "down")])
def test_an_arm_with_a_wrist_comes_where_it_is_wanted(name: str, elbow: str) -> None:
    robot = bc.load_robot(name)
    problem = robot_problem(robot, function_name("inverse-kinematics", elbow=elbow))
    point, rpy = problem.draw(5000, 2)
    found = problem.reference(point, rpy)
    there = robot_problem(robot, "forward-kinematics").reference(found)
    missed = np.abs(there[:, :3] - point).max(axis=1)
    assert (missed < 1e-9).mean() > 0.15  # of a cube
    for k in range(50):
        wanted = pin.rpy.rpyToMatrix(*rpy[k])
        assert there[k, 3:] == pytest.approx(wanted.ravel(), abs=1e-9)


@pytest.mark.parametrize(("of", "choices", "message"), [
    ("gravitty", {}, "'gravitty'; did you mean 'gravity"),
    ("gravity", {"friction": True}, "friction belongs to inverse-dynamics, not to gravity"),
    ("gravity", {"kp": 3}, "gravity has no kp .a gain kp.; it has load"),
    ("jacobian", {"load": "0..5"}, "jacobian has no load .*; it has no choices"),
    ("control", {"kd": 0}, "kd 0 is no list of positive numbers; give one number above"),
    ("control", {"kd": "x"}, r"kd 'x' is not a list of numbers up to 1e\+06; give one number"),
    ("gravity", {"load": "5..2"}, r"payload '5..2' is not a range of kg"),
    ("control:kpp=3", {}, "'kpp=3' is no choice of function 'control:kpp=3'; did you mean"),
    ("control:kp=3:kp=4", {}, "function 'control:kp=3:kp=4' has kp twice"),
    ("inverse-kinematics", {"elbow": "left"}, "unknown elbow 'left'; elbows are up, down"),
])  # fmt: skip
def test_what_cannot_be_chosen_is_wrong_usage(of: str, choices: Any, message: str) -> None:
    with pytest.raises(bc.UsageError, match=message):
        function_name(of, **choices)


@pytest.mark.parametrize(("name", "of", "message"), [
    ("machado-2r", "control:kp=1,2,3", "kp has 3 values, but machado-2r has 2 joints; give one"),
    ("machado-2r", f"{FRICTION}:smoothing=1", "machado-2r has no coulomb_friction"),
    ("puma560", "forward-dynamics", "need an arm whose inertia couples at most 3 joints; that of"),
    ("ur5e", "inverse-kinematics", "need last three axes that meet in a point"),
    ("stanford", "inverse-kinematics", "six joints need revolute joints"),
    ("elbow-3r", "inverse-kinematics", "two parallel revolute joints, or six"),
    ("slider", "inertia", "inertia of slider never changes"),
])  # fmt: skip
def test_a_function_that_a_robot_has_not_is_refused(name: str, of: str, message: str) -> None:
    slider = replace(ARM.links[0], type="prismatic", position=Interval(0.0, 1.0))
    robot = replace(ARM, name=name, links=(slider,)) if name == "slider" else bc.load_robot(name)
    with pytest.raises(bc.UsageError, match=message):
        robot_problem(robot, of)


@pytest.mark.parametrize(("asked", "message"), [
    ({"of": "gravity", "elbow": "up"}, "gravity has no elbow"),
    ({"of": "gravity", "load_range": (5, 2)}, r"payload \(5, 2\) is not a range"),
    ({"of": 3}, "a int is no function"),
])  # fmt: skip
def test_python_takes_the_same_choices(asked: Any, message: str) -> None:
    with pytest.raises(bc.UsageError, match=message):
        bc.compile("machado-2r", **asked)


INPUTS = {"u": bc.angle(), "v": bc.angle(), "x": bc.word(-2, 1), "y": bc.word(0.5, 3)}


def leaf(rng: np.random.Generator, u: Any, v: Any, x: Any, y: Any) -> Any:
    """Return a number, an input, or a sine or cosine."""
    kind = rng.integers(4)
    if kind == 0:
        return float(rng.normal())
    if kind == 1:
        return (x, y)[rng.integers(2)]
    j, k = (int(x) for x in rng.integers(-2, 3, 2))
    angle = u * j + k * v - float(rng.choice([0.0, 0.7, np.pi / 2]))
    return bc.cos(angle) if kind == 2 else bc.sin(-angle)


def expression(rng: np.random.Generator, depth: int, words: tuple[Any, ...]) -> Any:
    """Return a random sum, difference or product of such."""
    if depth == 0:
        return leaf(rng, *words)
    one, two = (expression(rng, depth - 1, words) for _ in range(2))
    kind = rng.integers(4)
    return [one + two, one - two, 2.5 - -one * 3][kind] if kind < 3 else one * two


@pytest.mark.parametrize("seed", range(8))
def test_terms_of_random_expressions_add_up_to_them(seed: int) -> None:
    problem = bc.function_problem(
        lambda u, v, x, y: x + expression(np.random.default_rng(seed), 4, (u, v, x, y)),
        INPUTS, ["z"],
    )  # fmt: skip
    terms, arrays = split(problem), problem.draw(40, seed)
    assert terms.steps is None
    found = evaluate_terms(terms.outputs[0], problem.columns(arrays))
    exact = problem.reference(*arrays)[:, 0]
    assert found == pytest.approx(exact, abs=1e-10 * max(1.0, float(np.abs(exact).max())))


@pytest.fixture(name="crane", scope="module")
def a_crane() -> Problem:
    return bc.function_problem(
        lambda left, right, boom, pull: 3 + 2 * boom * bc.sin(left - right)
        - 0.5 * boom**2 * bc.cos(2 * left) + pull * (1.5 * bc.cos(right) - 0.25 * boom),
        {"left": bc.angle(), "right": bc.angle(), "boom": bc.word(0.5, 2), "pull": bc.word(-3, 3)},
        ["H"],
    )  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_function_adds_up_to_it(crane: Problem, form: Any) -> None:
    many = bc.function_problem(
        lambda q: 2 * bc.cos(4 * q) - bc.sin(5 * q), {"q": bc.angle()}, ["y"]
    )
    for problem in (crane, many):
        arrays = problem.draw(200, 1)
        (terms,) = split(problem, form).outputs
        found = evaluate_terms(terms, problem.columns(arrays))
        assert found == pytest.approx(problem.reference(*arrays)[:, 0], abs=1e-12)


@pytest.mark.check
@pytest.mark.parametrize("of", ["reactions", "inverse-dynamics:wrench=20,5"])
@pytest.mark.parametrize("mode", ["compact", "paper"])
def test_reactions_and_a_wrench_compile_with_errors_as_demanded(of: str, mode: str) -> None:
    problem = robot_problem(ARM, of)
    states = problem.draw(20_000, 5)
    more: Any = {"effort": 0, "rms_error": 0.6} if mode == "compact" else {}
    made = bc.compile(ARM, bits=4, mode=mode, of=of, processes=1, **more)
    steps = np.array([one.code.step for one in made.loads[0].outputs])
    errors = (made(*states) - problem.reference(*states)) / steps
    assert np.sqrt((errors**2).mean(axis=0)).max() < 0.62
    assert (np.abs(errors).max(axis=0) <= [x.bound for x in made.loads[0].outputs] / steps).all()
