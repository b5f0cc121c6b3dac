"""Whether a certificate speaks of a file: of all that ship, and of files written in other ways."""

from pathlib import Path
from typing import Any

import pytest
from checker.certified import section

from boolcomp.checker import ClaimSource, LoadFiles, check_same, signature
from boolcomp.problem import load_robot, parse_robot, problem_of, robot_problem
from boolcomp.proof import origin_text

ROOT = Path(__file__).resolve().parent.parent.parent
ROBOTS = sorted((ROOT / "robots").glob("*.toml"))
FUNCTIONS = sorted((ROOT / "examples" / "functions").glob("*.toml"))
UNKNOWN = ("scara",)  # a square root whose argument is not seen to stay above zero


def compared(problem: Any, text: str) -> Any:
    """Return what the checker says of a problem's origin beside a file."""
    lines = origin_text(problem, {one.name: 6 for one in problem.inputs})
    outputs = [{"name": one.name, "unit": one.unit} for one in problem.outputs]
    inputs = [{"name": one.name, "unit": one.unit} for one in problem.inputs]
    document = {"name": problem.name, "inputs": inputs}
    load = LoadFiles(0, document, {"outputs": outputs}, None, None, {"origin": section(lines)})
    (step,) = check_same(load, ClaimSource(text, "file"))
    return step


@pytest.mark.parametrize("path", ROBOTS, ids=lambda path: path.stem)
def test_every_robot_that_ships_is_that_of_its_file_and_of_no_other(path: Path) -> None:
    problem = robot_problem(load_robot(path.stem))
    found = compared(problem, path.read_text("utf-8"))
    assert found.holds, found.note
    other = ROBOTS[ROBOTS.index(path) - 1]
    assert compared(problem, other.read_text("utf-8")).holds is False


@pytest.mark.parametrize("path", FUNCTIONS, ids=lambda path: path.stem)
def test_every_function_is_that_of_its_file(path: Path) -> None:
    found = compared(problem_of(path), path.read_text("utf-8"))
    assert found.holds is (None if path.stem in UNKNOWN else True), found.note


INPUT_A, INPUT_Q = '[inputs.a]\nrange = [-1, 2]\nunit = "V"\n', "[inputs.q]\nangle = true\n"
FUNCTION = f"""
name = "some"
{INPUT_A}{INPUT_Q}[inputs.b]
range = [0.5, 1.5]
[let]
k = 0.25
c = "minimum(a, k) * cos(2*q + pi/4) + a**3 / 3"
[outputs.y]
expression = "maximum(1/b, c) + tanh(a)"
[outputs.z]
expression = "-sqrt(b) * sin(q) + 2**-1 * a + abs(a) - exp(b)"
unit = "m"
"""


@pytest.mark.parametrize(("old", "new", "said"), [
    ("", "", ""),
    ("k = 0.25", "k = 0.2501", "y is another function"),
    ("+ abs(a)", "- abs(a)", "z is another function"),
    ("range = [-1, 2]", "range = [-1, 3]", "a lies in -1.0 .. 2.0"),
    ('unit = "m"', 'unit = "km"', "the units of its outputs"),
    ('unit = "V"', 'unit = "mV"', "the unit of a is 'V'"),
    ("angle = true", "range = [-1, 1]", "q lies in"),
    ('name = "some"', 'name = "other"', "it is 'some'"),
    ("[outputs.y]", "[outputs.x]", "its outputs are"),
    ("sqrt(b)", "sqroot(b)", "the checker does not support 'sqroot'"),
    ("sqrt(b)", "sqrt(d)", "is an unknown name"),
    ('name = "some"', "name = ", "not a function file"),
    (f"{INPUT_A}{INPUT_Q}", f"{INPUT_Q}{INPUT_A}", "its inputs are ['a', 'q', 'b']"),
])  # fmt: skip
def test_a_function_is_that_of_a_file_or_the_difference_is_told(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    (tmp_path / "some.toml").write_text(FUNCTION)
    problem = problem_of(tmp_path / "some.toml")
    found = compared(problem, FUNCTION.replace(old, new) if old else FUNCTION)
    assert said in found.note
    assert bool(found.holds) == (not old)


WAYS = """
name = "ways"
gravity = [0, 0, -9.81]
tool_origin = [0.1, 0, 0.2]
tool_rotation = [1, 1, 0, 0.5]
[payload]
mass = 0.5
center_of_mass = [0.01, 0.02, 0.03]
inertia = [0.001, 0.002, 0.0025, 0.0001, 0, 0]
[[joint]]
type = "revolute"
a = 0.3
alpha = 1.5708
d = 0
mass = 2
center_of_mass = [-0.1, 0, 0]
inertia = [0.01, 0.01, 0.01]
coulomb_friction = 0.3
position_range = ["-2pi/3", "2*pi/3"]
velocity_range = [-1, 1]
acceleration_range = [-2, 2]
torque_range = [-20, 20]
[[joint]]
type = "prismatic"
origin = [0, 0.1, 0]
axis = [0, 3, 4]
mass = 1
center_of_mass = [0, 0, 0.1]
inertia = [0.01, 0.01, 0.01]
position_range = [0, 0.5]
velocity_range = [-1, 1]
acceleration_range = [-2, 2]
torque_range = [-30, 30]
"""


@pytest.mark.parametrize(("old", "new", "holds"), [
    ("", "", True), ("mass = 0.5", "mass = 0.4999", False),
    ("0.0001, 0, 0]", "0, 0.0001, 0]", False),
    ("axis = [0, 3, 4]", "axis = [0, 6, 8]", True),
    ("alpha = 1.5708", 'alpha = "pi/2"', True),
    ("[1, 1, 0, 0.5]", "[1, 1, 0, 0.6]", False),
    ("coulomb_friction = 0.3", "coulomb_friction = [0.3, 0.2]", False),
    ("position_range = [0, 0.5]", "position_range = [0, 0.25]", False),
])  # fmt: skip
def test_robot_files_may_say_the_same_in_other_ways(old: str, new: str, holds: bool) -> None:  # noqa: FBT001
    problem = robot_problem(parse_robot(WAYS))
    found = compared(problem, WAYS.replace(old, new) if old else WAYS)
    assert found.holds is holds, found.note


@pytest.mark.parametrize("function", [
    "inverse-dynamics", "gravity", "bias", "inertia", "forward-kinematics", "jacobian",
    "derivatives", "computed-torque", "pd-gravity", "inverse-dynamics:load=0..2",
    "inverse-dynamics-with-friction", "inverse-dynamics:load=0..2:wrench=20,5",
])  # fmt: skip
@pytest.mark.parametrize("name", ["elbow-3r", "scara"])
def test_names_units_and_ranges_are_those_of_the_compiler(name: str, function: str) -> None:
    robot = load_robot(name)
    problem, known = robot_problem(robot, function), signature(function, str(robot))
    assert {g.name: g.members for g in problem.groups} == known.groups
    assert {one.name: one.unit for one in problem.inputs} == known.units
    assert {x.name: (x.range.low, x.range.high) for x in problem.inputs} == known.ranges
    names = [one.name for one in problem.outputs]
    assert [name for name in known.outputs if name in names] == names
    assert all(one.unit == known.outputs[one.name] for one in problem.outputs)
    assert (problem.name, problem.returned.name, problem.plural, problem.places) == (
        known.name, known.returned, known.plural, "joints",
    )  # fmt: skip
