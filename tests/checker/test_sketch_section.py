"""From origin to sketch: what is said by two programs is the same, and every change is noticed."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from checker.certified import section, shipped, sketched, with_line
from limited import random_limited, with_ranges
from samples import branched_robot, general_robot, random_robot

from boolcomp.checker import (
    LoadFiles,
    NotCoveredError,
    check_origin,
    check_sketch,
    differences,
    signature,
)
from boolcomp.compact import Formulation
from boolcomp.problem import (
    formats,
    inverse_dynamics,
    load_robot,
    parse_function,
    parse_robot,
    robot_problem,
    with_words,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "functions"
SMALL = 1e-6  # of a step: 11 digits of coefficients


def verdict(load: LoadFiles) -> list[bool | None]:
    """Return whether the robot's and the sketch's steps hold."""
    return [step.holds for step in (*check_origin(load), *check_sketch(load))]


def note(load: LoadFiles) -> str:
    """Return all that is said of steps that do not hold."""
    steps = (*check_origin(load), *check_sketch(load))
    return " ".join(step.note for step in steps if step.holds is not True)


def off(load: LoadFiles) -> dict[str, float]:
    """Return the difference of every output, in steps."""
    found = differences(load.section("origin"), load.section("sketch"))
    return {one.name: one.steps for one in found}


def same(load: LoadFiles, *, within: float = SMALL) -> None:
    assert verdict(load) == [True, True], note(load)
    assert max(off(load).values()) < within


@pytest.mark.parametrize("form", [
    Formulation(), Formulation(chained=True), Formulation(accelerations=True, exact=True),
    Formulation(speeds=False, shared=False), Formulation(tabled=True),
])  # fmt: skip
@pytest.mark.parametrize("robot", ["machado-2r", "elbow-3r"])
def test_every_form_of_a_sketch_is_the_robots_function(robot: str, form: Formulation) -> None:
    same(sketched(robot_problem(load_robot(robot)), form))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_arms_with_stops_sliding_joints_and_branches_are_covered(seed: int) -> None:
    for robot in (random_limited(3, seed), random_robot(seed, 3), general_robot(seed, 2),
                  branched_robot(seed, 3), load_robot("puma560")):  # fmt: skip
        same(sketched(robot_problem(robot)), within=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("of", [
    "gravity", "bias", "inertia", "forward-kinematics", "jacobian", "derivatives",
    "computed-torque", "pd-gravity", "inverse-dynamics:load=0..5",
    "inverse-dynamics:load=0..5:wrench=20,5",
])  # fmt: skip
def test_other_functions_of_robots_are_covered(of: str) -> None:
    same(sketched(robot_problem(load_robot("machado-2r"), of)))
    for robot in (random_robot(7, 3), general_robot(7, 2), branched_robot(7, 3)):
        if not robot.branched or robot.tool or "wrench" not in of:  # which needs a tip
            same(sketched(robot_problem(robot, of)), within=1e-3)


def test_angles_over_any_range_and_cells_at_zero_are_covered() -> None:
    robot = with_ranges("machado-2r", q2=(-1.0, 1.7), word2=(-1.0, 1.7))
    words = formats("words", {"q1": "0..2pi", "qd1": "tread", "tau": "tread"})
    same(sketched(with_words(robot_problem(robot), words)))


def test_a_joint_that_stands_still_is_its_value() -> None:
    robot = with_ranges("elbow-3r", q2=(0.5, 0.5), qd2=(0.0, 0.0), qdd2=(0.0, 0.0))
    load = sketched(robot_problem(robot))
    assert verdict(load) == [True, True], note(load)
    other = with_line(load, "origin", "input q2 0.5 0.5", "input q2 0.6 0.6")
    assert "the range of q2 is 0.6" in note(other)


def test_dry_friction_is_covered() -> None:
    arm = load_robot("machado-2r")
    links = tuple(replace(link, coulomb_friction=(8.0, 6.0)) for link in arm.links)
    for of in ("", ":smoothing=0.1", ":smoothing=0.1,0.3"):
        problem = robot_problem(replace(arm, links=links), f"inverse-dynamics-with-friction{of}")
        load = sketched(problem)
        same(load)
        other = with_line(load, "origin", "coulomb_friction = [8, 6]", "coulomb_friction = [8, 7]")
        assert "tau1 is another function" in note(other) or "could not be identified" in note(other)


def test_a_difference_is_the_largest_that_states_show() -> None:
    load = sketched(robot_problem(load_robot("machado-2r")))
    found = off(with_line(load, "sketch", " 1.96 ", " 1.9601 "))
    # 32 · 0.0001 cos(q1 + q2) steps of torque 2, half of it of torque 1
    assert (found["tau2"], found["tau1"]) == pytest.approx((0.0032, 0.0016), rel=1e-9)


def robot_rows() -> list[int]:
    """Return rows of the shipped arm's origin with a number that its torques may depend on."""
    lines = shipped().section("origin").lines
    numbers = (i for i, x in enumerate(lines) if x.startswith("|") and re.search(r"\d", x))
    return [i for i in numbers if "torque_range" not in lines[i]]  # this is what a word says


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:robot.*no body has:boolcomp.base.errors.DataWarning")
def test_a_changed_number_of_the_robot_is_noticed_or_what_it_changes_is_counted() -> None:
    load, robot, counted = shipped(), load_robot("machado-2r"), 0
    for row in robot_rows():
        lines = list(load.section("origin").lines)
        lines[row] = re.sub(
            r"(?<![\w-])\d+\.?\d*", lambda x: repr(float(x[0]) * 1.01 + 0.01), lines[row], count=1
        )
        changed = replace(load, sections={**load.sections, "origin": section("\n".join(lines))})
        if verdict(changed) == [True, True]:
            other = parse_robot("\n".join(x[2:] for x in lines if x.startswith("|")))
            states = robot_problem(robot).draw(300, row)
            moved = inverse_dynamics(other, *states) - inverse_dynamics(robot, *states)
            most = (np.abs(moved).max(axis=0) / [1.5625, 0.78125]).max()
            assert most <= max(off(changed).values()) + 1e-9, lines[row]
            counted += 1
    assert 0 < counted < len(robot_rows())


NO_LINE = "no line of a sketch"


@pytest.mark.parametrize(("where", "old", "new", "said"), [
    ("sketch", "s2 = turns | 1 s0 | 1 s1", "s2 = turns | 1 s0 | -1 s1", "another function"),
    ("sketch", "waves s2 | 1 ", "waves s2 | 2 ", "another function"),
    ("sketch", "s4 = input qd1", "s4 = input qd9", "qd9 is no input"),
    ("sketch", "s4 = input qd1", "s4 = input q1", "q1 is no input with such a word"),
    ("sketch", "tau1 = 0.0", "tau3 = 0.0", "tau3 is no output"),
    ("sketch", "s2 = turns", "s2 = trns", NO_LINE),
    ("sketch", "1 1.96 0.0", "1 nan 0.0", NO_LINE),
    ("sketch", "tau1 = 0.0 1.5625 s17", "tau1 = 0.0 1.5625 s16", NO_LINE),
    ("origin", 'type = "revolute"', 'type = "revolve"', "not a robot file"),
    ("origin", "mass = 6.25", "mas = 6.25", "unknown key 'mas'"),
    ("origin", "velocity_range = [-1, 1]", "velocity_range = [-2, 1]", "the range of qd1 is -1."),
    ("origin", "function inverse-dynamics", "function forward-dynamics",
     "does not support the function forward-dynamics"),
    ("origin", "word -1.0 1.0 10", "word -1.0 1.0 11", "another function"),
    ("origin", "input qd1", "inptu qd1", "is no line of an origin"),
])  # fmt: skip
def test_a_wrong_origin_or_sketch_is_refused(where: str, old: str, new: str, said: str) -> None:
    changed = with_line(shipped(), where, old, new)
    assert verdict(changed) != [True, True]
    assert said in note(changed)


@pytest.mark.parametrize("function", ["control", "reactions"])
def test_a_function_that_the_checker_does_not_support_is_not_checked(function: str) -> None:
    load = sketched(robot_problem(load_robot("machado-2r"), function))
    steps = [*check_origin(load), *check_sketch(load)]
    assert [(one.method, one.holds) for one in steps] == [("not checked", None)] * 2
    said = f"the checker does not support the function {function}"
    assert all(said in one.note for one in steps)
    with pytest.raises(NotCoveredError, match=said):
        signature(function, str(load_robot("machado-2r")))


def test_a_sketch_too_large_to_expand_is_refused() -> None:
    squares = [f"s{k} = powers s{k - 1} | 0.0 | 0.0 | 1.0" for k in range(1, 40)]
    text = "\n".join(["s0 = input qd1", *squares, "s40 = sum 0.0 | 1.0 s39", "tau1 = 0.0 1.0 s40"])
    load = shipped()
    grown = replace(load, sections={**load.sections, "sketch": section(text)})
    assert "too many to expand" in note(grown)


KINDS = {"x": "range = [-1, 1]", "z": "range = [-1, 1]", "a": "angle = true", "b": "angle = true"}


def written(expression: str) -> LoadFiles:
    """Return what a certificate says of a function up to its sketch."""
    read = [name for name in KINDS if re.search(rf"\b{name}\b", expression)]
    inputs = "".join(f"[inputs.{name}]\n{KINDS[name]}\nbits = 8\n" for name in read)
    return sketched(parse_function(f'name = "f"\n{inputs}[outputs.y]\nexpression = "{expression}"'))


@pytest.mark.parametrize("expression", [
    "x*x*x - 2*x + 0.3", "sin(2*x + 1)*z", "sin(a + 2*b)*x + cos(a)", "tanh(2*x + z) + abs(x)",
    "sqrt(x*x + z*z + 0.5)", "x/(z + 2)", "exp(-x*x)*atan(3*z)", "tanh(sin(a))", "log(x + 2)",
    "maximum(x, z)", "clip(x + z, -1, 1)", "exp(tanh(x) + 0.5*z)",
])  # fmt: skip
def test_functions_of_users_are_their_sketches(expression: str) -> None:
    same(written(expression))


@pytest.mark.parametrize("name", ["gelu", "park", "thermistor"])
def test_examples_are_their_sketches(name: str) -> None:
    load = sketched(parse_function((EXAMPLES / f"{name}.toml").read_text()))
    assert verdict(load) == [True, True], note(load)


@pytest.mark.parametrize("expression", ["sign(x)*z", "atan2(z + 2, x + 3)"])
def test_a_function_that_jumps_or_has_other_curves_is_not_covered(expression: str) -> None:
    load = written(expression)
    assert verdict(load) == [None, None]
    assert "the checker does not support" in note(load)


@pytest.mark.parametrize(("expression", "old", "new"), [
    ("tanh(2*x + z)", "tanh", "atan"), ("sqrt(x*x + z*z + 0.5)", "sqrt", "exp"),
    ("x/(z + 2)", "step 2.0", "step 2.5"), ("exp(-x*x)*atan(3*z)", "step 3.0", "step 3.1"),
    ("sin(2*x + 1)*z", "step 1.0", "step 1.01"), ("log(x + 2)", "log", "sqrt"),
    ("x*x*x - 2*x + 0.3", "step 0.3", "step 0.4"),
])  # fmt: skip
def test_another_function_is_never_taken_for_the_same(expression: str, old: str, new: str) -> None:
    assert verdict(with_line(written(expression), "origin", old, new))[1] is not True


def test_a_step_that_changes_little_is_counted() -> None:
    load = written("sin(2*x + 1)*z")
    moved = with_line(load, "origin", "step 1.0", f"step {1 + 1e-7!r}")
    (line,) = (x for x in load.section("sketch").lines if x.startswith("y = "))
    step = float(line.split()[3])
    assert verdict(moved) == [True, True]
    # No less than what the function changes at its steepest, no more than its slope allows.
    assert 1e-7 / step * 0.99 < off(moved)["y"] < 1e-7 / step * 1.1


@pytest.mark.parametrize(("old", "new"), [
    ("step add 1 2", "step add 1 9"), ("step add 1 2", "step ad 1 2"),
    ("output y 4", "output y 9"), ("step 2.0", "step nan"),
])  # fmt: skip
def test_a_step_that_is_none_is_refused(old: str, new: str) -> None:
    changed = with_line(written("x/(z + 2)"), "origin", old, new)
    assert "is no line of an origin" in note(changed)
