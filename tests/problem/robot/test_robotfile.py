"""Robot files: what they hold, the sentence that every mistake gets, and numbers no arm has."""

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states, terms_of

import boolcomp as bc
from boolcomp.base import DataWarning
from boolcomp.problem import (
    Pose,
    Robot,
    parse_robot,
    with_payload,
)

HEAD = 'name = "one"\ngravity = [0, 0, -9.81]\n'
JOINT = """
[[joint]]
type = "revolute"
a = 0.5
alpha = "pi/2"
d = 0
mass = 2
center_of_mass = [-0.25, 0, 0]
inertia = [0, 0.04, 0.04]
position_range = ["-pi", "pi"]
velocity_range = [-1, 1]
acceleration_range = [-1, 1]
torque_range = [-8, 8]
"""
GOOD = HEAD + JOINT
FRAME = 'a = 0.5\nalpha = "pi/2"\nd = 0\n'
GENERAL = GOOD.replace(FRAME, "origin = [0, 1, 0]\naxis = [0, 0, 2]\n")
ARM = bc.load_robot("machado-2r")


@pytest.mark.parametrize("name", bc.robot_names())
def test_shipped_robots_load_without_warning_and_print_as_files(name: str) -> None:
    robot = bc.load_robot(name)
    assert robot.name == name
    assert parse_robot(str(robot)) == robot == robot.mechanism


@pytest.mark.filterwarnings("ignore::boolcomp.base.errors.DataWarning")
@given(st.sampled_from([random_robot, general_robot, branched_robot]), st.integers(0, 10_000))
def test_any_robot_is_read_as_it_was_written(make: Callable[[int], Robot], seed: int) -> None:
    assert parse_robot(str(make(seed))) == make(seed)


AXES = [
    (1, 0, 0),
    (0, -2, 0),
    (1, 2, -3),
    (0, 1, 1e-9),
    *np.random.default_rng(5).normal(size=(9, 3)),
]


@pytest.mark.parametrize("turn", [1e-9, 1.0, 1.5, -math.pi / 2, math.pi / 2, math.pi, 4.0])
def test_four_numbers_of_a_rotation_are_an_axis_and_an_angle(turn: float) -> None:
    for axis in map(np.array, AXES):
        numbers = ", ".join(map(repr, [*axis.tolist(), turn]))
        pose = (
            parse_robot(GENERAL.replace("axis =", f"rotation = [{numbers}]\naxis =")).links[0].pose
        )
        assert pose is not None
        expected = pin.AngleAxis(turn, axis / np.linalg.norm(axis)).toRotationMatrix()
        assert np.allclose(pin.rpy.rpyToMatrix(*pose.rotation), expected, rtol=0, atol=1.2e-15)


ENTRY = st.floats(-5, 5, allow_subnormal=False).map(lambda x: round(x, 4))


@given(st.tuples(*[ENTRY] * 6))
@example((0.0, 1.0, 1.0, 0.0, 0.0, 0.0))  # a rod
@example((1.0, 1.0, 1.0, 0.0, 0.0, 0.0))
@example((0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
@example((1e-200, 1e-200, 1e-200, 1e-200, 0.0, 0.0))  # whose squares vanish
def test_an_inertia_is_refused_or_doubted_by_its_eigenvalues(moments: tuple[float, ...]) -> None:
    xx, yy, zz, xy, yz, xz = moments
    least, middle, most = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    text = GOOD.replace("[0, 0.04, 0.04]", str(list(moments)))
    assume(abs(least) > 1e-6 or least == 0 or most < 1e-100)
    assume(abs(most - middle - least) > 1e-6 or most == middle + least or most < 1e-100)
    if least < -1e-100:
        with pytest.raises(bc.DataError, match="inertia: not positive semidefinite"):
            parse_robot(text)
    elif most - middle - least > 0.5 * most > 0:
        with pytest.warns(DataWarning, match=r"r.toml:11: joint\[1\].inertia: no body has"):
            parse_robot(text, "r.toml")
    elif most <= middle + least:
        parse_robot(text)


@pytest.mark.parametrize("moments", [(0, 1, 1), (1, 1, 2)])
def test_a_rod_and_a_disc_in_any_frame_are_no_reason_to_warn(moments: tuple[float, ...]) -> None:
    for seed in range(50):
        turn = pin.rpy.rpyToMatrix(*np.random.default_rng(seed).uniform(-3, 3, 3))
        (xx, xy, xz), (_, yy, yz), (*_, zz) = (turn @ np.diag(moments) @ turn.T).tolist()
        parse_robot(GOOD.replace("[0, 0.04, 0.04]", f"[{xx}, {yy}, {zz}, {xy}, {yz}, {xz}]"))


def test_a_doubt_that_is_stated_is_no_warning() -> None:
    parse_robot(GOOD.replace("[0, 0.04, 0.04]", "[0, 0.04, 0]") + 'doubt = "as published"\n')


NUMBER = "must be a number "
MISTAKES = [
    ("a = 0.5", "a = 0.5\norigin = [0, 0, 0]", "joint[1].a: given with origin; joints have a, a"),
    ("a = 0.5", "axis = [0, 0, 1]", "joint[1].alpha: given with axis; joints have a, alpha, d"),
    (FRAME, "axis = [0, 0, 1]\n", "joint[1].origin: missing"),
    (FRAME, "origin = [0, 0, 0]\naxis = [0, 0, 0]\n", "joint[1].axis: an axis must not be zero; g"),
    ("a = 0.5", "a == 0.5", "r.toml: not a TOML file: "),
    ("a = 0.5", "a = 0.5\na = 1", "not a TOML file: "),
    ("mass = 2", "mas = 2", "r.toml:9: joint[1].mas: unknown key; did you mean 'mass"),
    ("mass = 2\n", "", "r.toml:4: joint[1].mass: missing; use massless = true for a"),
    ("mass = 2", "mass = 0", "r.toml:9: joint[1].mass: must be positive, not 0"),
    ("mass = 2", "mass = nan", "joint[1].mass: must be finite"),
    ("mass = 2", "mass = true", "not True"),
    ("mass = 2", 'mass = "two"', "not 'two'"),
    ("mass = 2", "mass = 2\nmassless = true", "joint[1].mass: given for a link that is"),
    ("mass = 2", "massless = 1", "joint[1].massless: must be true or false, not 1"),
    ("a = 0.5\n", "", "r.toml:4: joint[1].a: missing"),
    ("[-1, 1]", "[1, -1]", "r.toml:13: joint[1].velocity_range: must rise, not go from 1 to -1"),
    ("[-8, 8]", "[8, 8]", "torque_range: must rise, not go from 8 to 8"),
    ("[-1, 1]", "[1]", "velocity_range: must be a list of 2 numbers, not [1]"),
    ("[-8, 8]", "[-4, 8]", "give [-8, 8]"),
    ("[0, 0.04, 0.04]", "[0, 0.04]", "inertia: must be a list of 3 or 6 numbers"),
    ('"revolute"', '"revolut"', "r.toml:5: joint[1].type: unknown joint type 'revolut'; use"),
    ('"revolute"', '"screw"', "r.toml:5: joint[1].type: unknown joint type 'screw'; use"),
    ('name = "one"\n', "", "r.toml: name: missing"),
    ('name = "one"', 'name = "a b"', "r.toml:1: name: 'a b' may hold letters, digits"),
    ('name = "one"', "name = 1", "name: must be text, not 1"),
    ("gravity = [0, 0, -9.81]", "gravity = 9.81", "r.toml:2: gravity: must be a list of 3"),
    ("gravity", "gravitas", "r.toml:2: gravitas: unknown key; did you mean 'gravity"),
    ("[[joint]]", "[[joints]]", "joints: unknown key; did you mean 'joint"),
    (JOINT, "", "at least one [[joint]]"),
    ("[[joint]]", "[foo]\n[[joint]]", "r.toml:4: foo: unknown key; keys are name, title, source,"),
    ("gravity", "payload.mass = 0\ngravity", "r.toml:2: payload.mass: must be positive, not 0"),
    ("[[joint]]", "[payload]\nmass = 0\n[[joint]]", "r.toml:5: payload.mass: must be positive"),
    ("d = 0\n", "d = 0\nrotor_inertia = -1\n", "rotor_inertia: must not be negative, not -1"),
    ("d = 0\n", "d = 0\ncoulomb_friction = [1]\n", "coulomb_friction: must be one number, or two"),
    ("d = 0\n", "d = 0\ncoulomb_friction = -1\n", "coulomb_friction: must not be negative"),
    *(("d = 0\n", f"d = 0\n{key} = {value}\n", key) for key in ("torque_limit", "encoder_step")
      for value in ("0", "-1", "true", "1e300")),
    *(("gravity", f"control_rate = {x}\ngravity", "control_rate") for x in ("0", "true", "1e300")),
    # numbers that no arm has
    ('"pi/2"', '"pi/0.0"', "r.toml:7: joint[1].alpha: must be finite, not 'pi/0.0'"),
    ('"pi/2"', '"pi/000"', "r.toml:7: joint[1].alpha: must be finite, not 'pi/000'"),
    ("a = 0.5", f"a = 1{'0' * 400}", "r.toml:6: joint[1].a: must be from -10000 to 10000 m, not"),
    ("a = 0.5", f"a = {'9' * 5000}", "r.toml: not a TOML file: "),
    ("a = 0.5", f"a = 0x{'f' * 5000}", "not an integer of about 60"),
    ("a = 0.5", f"a = {'[' * 900}{']' * 900}", "nested too deep"),
    ("a = 0.5", f"a = {'[' * 90}{']' * 90}", f"r.toml:6: joint[1].a: {NUMBER}"),
    ("a = 0.5", f"a{'.a' * 150} = 0.5", f"r.toml:6: joint[1].a: {NUMBER}"),
    ("a = 0.5", "a = 1e308", "joint[1].a: must be from -10000 to 10000 m, not 1e+308"),
    ("mass = 2", "mass = 1e8", "mass: must be from -1e+07 to 1e+07 kg"),
    ("mass = 2", "mass = 1e-300", "mass: must be at least 1e-09 kg, not 1e-300"),
    ("[-1, 1]", "[-1.5e308, 1.5e308]", "1e+06 rad/s, not"),
    ("[-1, 1]", "[1, 1.00000000001]", "velocity_range: must be at least 1e-09 wide"),
    ("[-8, 8]", "[-1e-13, 1e-13]", "torque_range: must be at least 1e-12 wide"),
    ("d = 0", "d = 0\ngear_ratio = 1e200", "gear_ratio: must be from -1e+06 to 1e+06, not"),
    ("d = 0", "d = 0\nd" + "x" * 9999 + " = 1", f"joint[1].d{'x' * 38}…{'x' * 20}: unknown key"),
    ('"revolute"', f'"{"r" * 9999}"', "unknown joint type 'rrr"),
    ('"one"', f'"{"n" * 999}"', "60 at most"),
]  # fmt: skip


@pytest.mark.parametrize(("good", "bad", "said"), MISTAKES)
def test_every_mistake_gets_a_sentence_with_its_place(good: str, bad: str, said: str) -> None:
    assert good in GOOD
    with pytest.raises(bc.DataError) as raised:
        parse_robot(GOOD.replace(good, bad, 1), "r.toml")
    assert said in str(raised.value)
    assert len(str(raised.value)) < 450  # where all keys are listed


@pytest.mark.parametrize("parent", ["2", "-1", "true", "1.0", '"one"'])
def test_a_parent_is_an_earlier_joint(parent: str) -> None:
    text = str(ARM).replace("[[joint]]\n", f"[[joint]]\nparent = {parent}\n", 1)
    with pytest.raises(
        bc.DataError, match=r"joint\[1\].parent: must be 0, the base, for the first"
    ):
        parse_robot(text)
    head, first, second = str(ARM).split("[[joint]]\n")
    text = f"{head}[[joint]]\n{first}[[joint]]\nparent = {parent}\n{second}"
    with pytest.raises(
        bc.DataError, match=r"joint\[2\].parent: must be .* joint, 1 to 1, or 0 for"
    ):
        parse_robot(text)


@pytest.mark.parametrize("ends", ["[-110, 110]", "[-13, 13]", "[85, 95]"])
def test_a_position_many_turns_away_is_a_warning(ends: str) -> None:
    text = GOOD.replace('["-pi", "pi"]', ends)
    with pytest.warns(DataWarning, match=r"r.toml:12: .*position_range: .* turns: is it in deg"):
        parse_robot(text, "r.toml")


@pytest.mark.parametrize(("name", "said"), [
    ("puma-560", "unknown robot 'puma-560'; did you mean 'puma560"),
    ("desk-4r", r"unknown robot 'desk-4r'; did you mean 'desk-4r\.toml'\?"),
    (Path("nowhere/machado.toml"), r"nowhere/machado\.toml: no such robot file; did you mean"),
])  # fmt: skip
def test_an_unknown_name_is_told_the_nearest_robot_or_file(
    name: str | Path, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desk-4r.toml").write_text(GOOD)
    with pytest.raises(bc.UsageError, match=said):
        bc.load_robot(name)


def test_a_robot_has_at_most_64_joints_and_its_file_256_kilobytes(tmp_path: Path) -> None:
    assert parse_robot(HEAD + JOINT * 64).joints == 64
    with pytest.raises(bc.DataError, match="robot:4: joint: 65 joints are too many; at most 64"):
        parse_robot(HEAD + JOINT * 65)
    (tmp_path / "r.toml").write_text(GOOD + "#" * 1_000_000)
    with pytest.raises(bc.DataError, match=r"r.toml: larger than 262144 bytes"):
        bc.load_robot(tmp_path / "r.toml")
    with pytest.raises(bc.DataError, match=r"r.toml: larger than"):
        parse_robot((tmp_path / "r.toml").read_text(), "r.toml")


def test_terms_of_too_many_joints_are_refused_before_anything_is_sampled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class SampledError(Exception):
        pass

    def sampled(*_: object) -> None:
        raise SampledError

    monkeypatch.setattr("boolcomp.problem.dynamics.inertia_matrix", sampled)
    for joints, said in ((10, r"terms of 10 joints need 12.5 GB"),
                         (9, r"terms of 9 joints need 2\.02 GB.*up to eight turning")):  # fmt: skip
        with pytest.raises(bc.DataError, match=said):
            terms_of(replace(ARM, links=(ARM.links[0],) * joints))
    with pytest.raises(SampledError):
        terms_of(replace(ARM, links=(ARM.links[0],) * 8))


TOOLED = replace(ARM, tool=Pose((0.1, 0.2, 0.3), (0.4, -0.5, 0.6)))


def held(robot: Robot, table: str) -> str:
    return str(robot).replace("[[joint]]", f"[payload]\n{table}\n[[joint]]", 1)


@pytest.mark.filterwarnings("ignore::boolcomp.base.errors.DataWarning")
@pytest.mark.parametrize("seed", range(5))
def test_a_held_body_has_the_torques_that_pinocchio_gives_it(seed: int) -> None:
    """Mass, centre and inertia in the tool's frame, appended to Pinocchio's last joint there."""
    robot = branched_robot(seed, 2 + seed % 5)
    moments, centre = [0.3, 0.4, 0.5, 0.02, -0.03, 0.04], [0.1, -0.2, 0.3]
    xx, yy, zz, xy, yz, xz = moments
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    assert robot.tool is not None
    place = after_joint(robot.links[-1]) * placed(robot.tool)
    text = held(robot, f"mass = 2.5\ncenter_of_mass = {centre}\ninertia = {moments}\n")
    for loaded, body in (
        (parse_robot(text), pin.Inertia(2.5, np.array(centre), tensor)),
        (with_payload(robot, 2.5), pin.Inertia(2.5, np.zeros(3), np.zeros((3, 3)))),
        (parse_robot(held(robot, "mass = 2.5\n")), pin.Inertia(2.5, np.zeros(3), 0 * tensor)),
    ):
        model = pinocchio_model(robot)
        model.appendBodyToJoint(robot.joints, body, place)
        data, (q, qd, qdd) = model.createData(), random_states(robot, 5, seed)
        ours = bc.inverse_dynamics(loaded, q, qd, qdd)
        theirs = np.array([pin.rnea(model, data, q[k], qd[k], qdd[k]) for k in range(5)])
        assert np.allclose(ours, theirs, rtol=0, atol=1e-10 * (1 + np.abs(theirs).max()))


@pytest.mark.parametrize(("table", "message"), [
    ("mas = 1\n", r"payload.mas: unknown key; did you mean 'mass'\?"),
    ("mass = 0\n", r":\d+: payload.mass: must be positive, not 0"),
    ("inertia = [1, 1, 1]\n", "payload.mass: missing"),
    ("mass = 1\ninertia = [-1, 1, 1]\n", "payload.inertia: not positive semidefin"),
    ("mass = 1e7\ncenter_of_mass = [9e3, 0, 0]\n", r"payload.\w+: together with the last"),
])  # fmt: skip
def test_mistakes_in_a_payload_are_named_with_their_key(table: str, message: str) -> None:
    with pytest.raises(bc.DataError, match=message):
        parse_robot(held(TOOLED, table))


def test_a_payload_is_a_table() -> None:
    problem = r"payload: must be a table, \[payload\]"
    with pytest.raises(bc.DataError, match=problem), warnings.catch_warnings():
        parse_robot(f"payload = 3\n{GOOD}")
