"""From robot to sketch: what is said by two programs is the same, and every change is noticed."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from checker.sections import section, shipped, sketched, with_line
from limited import random_limited, with_ranges
from samples import branched_robot, general_robot, random_robot

from boolcomp.checker import origin, sketch
from boolcomp.checker.claims.nodes import read_sketch
from boolcomp.checker.sketch import differences
from boolcomp.common.errors import DataError
from boolcomp.compact.sketch.build import Form
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot import load_robot, parse_robot
from boolcomp.problem.worded import with_words
from boolcomp.problem.wordformat import parse_format

if TYPE_CHECKING:
    from boolcomp.checker.folder import LoadFiles

SMALL = 1e-6  # of a step: 11 digits of coefficients


def verdict(load: LoadFiles) -> list[bool | None]:
    """Return whether the robot's and the sketch's steps hold."""
    return [step.holds for step in (*origin.check_origin(load), *sketch.check_sketch(load))]


def note(load: LoadFiles) -> str:
    """Return all that is said of steps that do not hold."""
    steps = (*origin.check_origin(load), *sketch.check_sketch(load))
    return " ".join(step.note for step in steps if step.holds is not True)


def largest(load: LoadFiles) -> float:
    """Return the largest difference of an output, in steps."""
    return max(x.steps for x in differences(load.section("origin"), load.section("sketch")))


@pytest.mark.parametrize("form", [Form(), Form(chained=True), Form(accelerations=True, exact=True),
                                  Form(speeds=False, shared=False), Form(tabled=True)])  # fmt: skip
@pytest.mark.parametrize("robot", ["machado-2r", "elbow-3r", "puma560"])
def test_every_form_of_a_sketch_is_the_robots_function(robot: str, form: Form) -> None:
    load, _ = sketched(robot_problem(load_robot(robot)), form)
    assert verdict(load) == [True, True], note(load)
    assert largest(load) < SMALL


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_arms_with_stops_sliding_joints_and_branches_are_covered(seed: int) -> None:
    for robot in (random_limited(3, seed), random_robot(seed, 3), general_robot(seed, 2),
                  branched_robot(seed, 3)):  # fmt: skip
        load, _ = sketched(robot_problem(robot))
        assert verdict(load) == [True, True], note(load)


OTHERS = ("gravity", "bias", "inertia", "forward-kinematics", "jacobian", "computed-torque",
          "pd-gravity", "inverse-dynamics:load=0..5")  # fmt: skip


@pytest.mark.parametrize("of", OTHERS)
def test_other_functions_of_a_robot_are_covered(of: str) -> None:
    load, _ = sketched(robot_problem(load_robot("machado-2r"), of))
    assert verdict(load) == [True, True], note(load)
    assert largest(load) < SMALL


def test_angles_over_any_range_and_cells_at_zero_are_covered() -> None:
    robot = with_ranges("machado-2r", q2=(-1.0, 1.7), word2=(-1.0, 1.7))
    words = {
        "q1": parse_format("0..2pi", "q1"),
        "qd1": parse_format("tread", "word"),
        "tau": parse_format("tread", "word"),
    }
    load, _ = sketched(with_words(robot_problem(robot), words))
    assert verdict(load) == [True, True], note(load)
    assert any(
        x.startswith("s1 = turning") or "turning 16" in x for x in load.section("sketch").lines
    )
    assert largest(load) < SMALL


def test_a_joint_that_stands_still_is_its_value() -> None:
    robot = with_ranges("elbow-3r", q2=(0.5, 0.5), qd2=(0.0, 0.0), qdd2=(0.0, 0.0))
    load, _ = sketched(robot_problem(robot))
    assert verdict(load) == [True, True], note(load)
    other = with_line(load, "origin", "input q2 0.5 0.5", "input q2 0.6 0.6")
    assert "q2 is said to lie in 0.6" in note(other)


def test_the_difference_is_no_less_than_what_states_show() -> None:
    load, made = sketched(robot_problem(load_robot("machado-2r")))
    changed = with_line(load, "sketch", " 1.96 ", " 1.9601 ")
    found = {
        x.name: x.steps for x in differences(load.section("origin"), changed.section("sketch"))
    }
    # 32 · 0.0001 cos(q1 + q2) steps of torque 2, half of it of torque 1
    assert found["tau2"] == pytest.approx(0.0032, rel=1e-9)
    assert found["tau1"] == pytest.approx(0.0016, rel=1e-9)
    assert made.outputs


@pytest.mark.slow
def test_a_linear_difference_counts_the_largest_value_of_its_input() -> None:
    load = shipped()
    changed = with_line(load, "sketch", " 0.0225 s8", " 0.02251 s8")
    found = {
        x.name: x.steps for x in differences(load.section("origin"), changed.section("sketch"))
    }
    assert found["tau2"] == pytest.approx(1e-5 * 512, rel=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:robot.*no body has:boolcomp.common.errors.DataWarning")
@pytest.mark.parametrize("k", range(36))
def test_a_robots_number_that_is_changed_is_noticed_or_what_it_changes_is_counted(k: int) -> None:
    load, robot = shipped(), load_robot("machado-2r")
    lines = list(load.section("origin").lines)
    rows = [i for i, x in enumerate(lines) if x.startswith("|") and re.search(r"\d", x)]
    row, more = rows[k % len(rows)], lambda found: repr(float(found[0]) * 1.01 + 0.01)
    lines[row] = re.sub(r"(?<![\w-])\d+\.?\d*", more, lines[row], count=1)
    changed = replace(load, sections={**load.sections, "origin": section("\n".join(lines))})
    if verdict(changed) != [True, True] or "torque_range" in lines[row]:
        return  # the range of a torque is what its word says
    other = parse_robot("\n".join(x[2:] for x in lines if x.startswith("|")))
    q, qd, qdd = robot_problem(robot).draw(300, k)
    moved = inverse_dynamics(other, q, qd, qdd) - inverse_dynamics(robot, q, qd, qdd)
    assert (np.abs(moved).max(axis=0) / [1.5625, 0.78125]).max() <= largest(changed) + 1e-9


@pytest.mark.parametrize("k", range(12))
def test_a_coefficient_that_is_changed_is_noticed(k: int) -> None:
    load = shipped()
    text = load.section("sketch").text
    numbers = [x for x in re.finditer(r"(?<=[ |])-?\d+\.\d+(?:e-?\d+)?", text) if float(x[0])]
    one = numbers[k * len(numbers) // 12]
    changed = f"{text[: one.start()]}{float(one[0]) * 1.02!r}{text[one.end() :]}"
    other = replace(load, sections={**load.sections, "sketch": section(changed)})
    assert verdict(other) == [True, False]
    assert "is another function" in note(other)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("s2 = turns | 1 s0 | 1 s1", "s2 = turns | 1 s0 | -1 s1", "another function"),
    ("waves s2 | 1 ", "waves s2 | 2 ", "another function"),
    ("powers s4 | 0.0 | 0.0 | 1.0", "powers s4 | 0.0 | 1.0", "another function"),
    ("s4 = input qd1", "s4 = input qd9", "qd9 is no input"),
    ("s4 = input qd1", "s4 = input q1", "q1 is no input with such a word"),
    ("tau1 = 0.0", "tau3 = 0.0", "tau3 is no output"),
    ("s2 = turns", "s2 = trns", "no line of a sketch"),
    ("waves s2", "waves s4", "no line of a sketch"),
    ("waves s2", "waves s9", "no line of a sketch"),
    ("1 1.96 0.0", "1 nan 0.0", "no line of a sketch"),
    ("1 1.96 0.0", "1 1.96", "no line of a sketch"),
    ("tau1 = 0.0 1.5625", "tau1 = 0.0 -1.5625", "no line of a sketch"),
    ("tau1 = 0.0 1.5625 s17", "tau1 = 0.0 1.5625 s16", "no line of a sketch"),
])  # fmt: skip
def test_what_is_wrong_in_a_sketch_is_said(old: str, new: str, said: str) -> None:
    changed = with_line(shipped(), "sketch", old, new)
    assert False in verdict(changed)
    assert said in note(changed)


@pytest.mark.parametrize(("old", "new", "said"), [
    ('type = "revolute"', 'type = "revolve"', "no robot that can be read"),
    ("mass = 6.25", "mas = 6.25", "is no key of it"),
    ("mass = 6.25", "mass = 6.5", "another function"),
    ("velocity_range = [-1, 1]", "velocity_range = [-2, 1]", "qd1 is said to lie in -1.0 .. 1.0"),
    ("function inverse-dynamics", "function gravity", "another function"),
    ("function inverse-dynamics", "function forward-dynamics", "no function that"),
    ("word -1.0 1.0 10", "word -1.0 1.0 11", "another function"),
    ("input qd1", "inptu qd1", "is no line of an origin"),
    ("input qd1", "input qd2", "is no line of an origin"),
])  # fmt: skip
def test_what_is_wrong_in_an_origin_is_said(old: str, new: str, said: str) -> None:
    changed = with_line(shipped(), "origin", old, new)
    assert verdict(changed) != [True, True]
    assert said in note(changed)


def test_what_is_not_covered_does_not_hold_and_says_why() -> None:
    load, _ = sketched(robot_problem(load_robot("machado-2r"), "control"))
    steps = [*origin.check_origin(load), *sketch.check_sketch(load)]
    assert [(one.method, one.holds) for one in steps] == [("not checked", None)] * 2
    assert all("no function that the checker knows" in one.note for one in steps)


def test_a_sketch_too_large_to_expand_is_refused() -> None:
    squares = [f"s{k} = powers s{k - 1} | 0.0 | 0.0 | 1.0" for k in range(1, 40)]
    text = "\n".join(["s0 = input qd1", *squares, "s40 = sum 0.0 | 1.0 s39", "tau1 = 0.0 1.0 s40"])
    load = shipped()
    grown = replace(load, sections={**load.sections, "sketch": section(text)})
    assert "too many to be expanded" in note(grown)


def test_numbers_of_a_sketch_are_read_as_they_were_written() -> None:
    load, made = sketched(robot_problem(load_robot("elbow-3r")))
    nodes = read_sketch(load.section("sketch")).nodes
    assert len(nodes) == len(made.nodes)
    written = [x for node in made.nodes for x in re.findall(r"\d\.\d{6,}", str(node))]
    text = load.section("sketch").text
    assert written
    assert all(x in text for x in written)
    with pytest.raises(DataError, match=r"certificate\.txt:1: 's0 = input'"):
        read_sketch(section("s0 = input"))
    assert np.isfinite(
        [x.steps for x in differences(load.section("origin"), load.section("sketch"))]
    ).all()
