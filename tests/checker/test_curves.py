"""Functions that users write, curves of them: what is the same is found, what is not is not."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from checker.sections import section, sketched, with_line
from checker.test_sketch_section import largest, note, verdict
from flint import arb

from boolcomp.checker.functions.curves import Functions
from boolcomp.checker.functions.waves import Variable, number, precise
from boolcomp.checker.steps import NotCoveredError
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot import load_robot
from boolcomp.problem.written.functionfile import parse_function

if TYPE_CHECKING:
    from boolcomp.checker.folder import LoadFiles

EXAMPLES = Path(__file__).parents[2] / "examples" / "functions"
WORD = "range = [-1, 1]\nbits = 8"
ANGLE = "angle = true\nbits = 8"
INPUTS = {"x": WORD, "z": WORD, "a": ANGLE, "b": ANGLE}
COVERED = [
    "x*x*x - 2*x + 0.3", "sin(2*x + 1)*z", "sin(a + 2*b)*x + cos(a)", "tanh(2*x + z) + abs(x)",
    "sqrt(x*x + z*z + 0.5)", "x/(z + 2)", "exp(-x*x)*atan(3*z)", "tanh(sin(a))", "log(x + 2)",
    "maximum(x, z)", "clip(x + z, -1, 1)", "exp(tanh(x) + 0.5*z)",
]  # fmt: skip


def written(expression: str) -> LoadFiles:
    """Return what a certificate says of a function up to its sketch."""
    read = [name for name in INPUTS if re.search(rf"\b{name}\b", expression)]
    inputs = "".join(f"[inputs.{name}]\n{INPUTS[name]}\n" for name in read)
    text = f'name = "f"\n{inputs}[outputs.y]\nexpression = "{expression}"\n'
    return sketched(parse_function(text))[0]


@pytest.mark.parametrize("expression", COVERED)
def test_functions_of_users_are_their_sketches(expression: str) -> None:
    load = written(expression)
    assert verdict(load) == [True, True], note(load)
    assert largest(load) < 1e-6


@pytest.mark.parametrize("name", ["gelu", "park", "thermistor"])
def test_examples_are_their_sketches(name: str) -> None:
    load, _ = sketched(parse_function((EXAMPLES / f"{name}.toml").read_text()))
    assert verdict(load) == [True, True], note(load)


@pytest.mark.parametrize("expression", ["sign(x)*z", "atan2(z + 2, x + 3)"])
def test_what_jumps_or_is_no_sum_of_known_functions_is_not_covered(expression: str) -> None:
    load = written(expression)
    assert verdict(load) == [None, None]
    assert "is no function that the checker knows" in note(load)


@pytest.mark.parametrize(("expression", "old", "new"), [
    ("tanh(2*x + z)", "tanh", "atan"),
    ("sqrt(x*x + z*z + 0.5)", "sqrt", "exp"),
    ("x/(z + 2)", "step 2.0", "step 2.5"),
    ("exp(-x*x)*atan(3*z)", "step 3.0", "step 3.1"),
    ("sin(2*x + 1)*z", "step 1.0", "step 1.01"),
    ("log(x + 2)", "log", "sqrt"),
    ("x*x*x - 2*x + 0.3", "step 0.3", "step 0.4"),
])  # fmt: skip
def test_another_function_is_never_taken_for_the_same(expression: str, old: str, new: str) -> None:
    changed = with_line(written(expression), "origin", old, new)
    assert verdict(changed)[1] is not True


def test_a_step_that_changes_little_is_counted() -> None:
    load = written("sin(2*x + 1)*z")
    moved = with_line(load, "origin", "step 1.0", f"step {1 + 1e-7!r}")
    (line,) = (x for x in load.section("sketch").lines if x.startswith("y = "))
    step = float(line.split()[3])
    assert verdict(moved) == [True, True]
    # No less than what the function changes at its steepest, no more than its slope allows.
    assert 1e-7 / step * 0.99 < largest(moved) < 1e-7 / step * 1.1


def test_a_curve_that_stands_still_within_reach_is_not_covered() -> None:
    load = written("tanh(2*x + z)")
    (line,) = (x for x in load.section("sketch").lines if "curve" in x)
    low, high = line.split(" | ")[0].split()[-2:]
    assert verdict(with_line(load, "sketch", f"{low} {high}", f"{low} 2.9")) == [True, None]
    assert verdict(with_line(load, "sketch", f"{low} {high}", "-2.9 3.1")) == [True, None]
    assert verdict(with_line(load, "sketch", f"{low} {high}", "-3.0 3.0")) == [True, True]
    cut = with_line(load, "sketch", f"{low} {high}", "-3.0 2.9999999")
    assert verdict(cut) == [True, True]
    assert largest(cut) > largest(load) + 1e-7


def test_dry_friction_is_covered() -> None:
    arm = load_robot("machado-2r")
    links = tuple(replace(link, coulomb_friction=(8.0, 6.0)) for link in arm.links)
    rough = replace(arm, links=links)
    for of in ("", ":smoothing=0.1", ":smoothing=0.1,0.3"):
        load, _ = sketched(robot_problem(rough, f"inverse-dynamics-with-friction{of}"))
        assert verdict(load) == [True, True], note(load)
        assert largest(load) < 1e-6
        other = with_line(load, "origin", "coulomb_friction = [8, 6]", "coulomb_friction = [8, 7]")
        assert "tau1 is another function" in note(other) or "not known" in note(other)


@pytest.mark.parametrize(("kind", "slope"), [
    ("sin", 1.0), ("tanh", 1.0), ("exp", 20.0856), ("inverse", 1.0), ("log", 1.0), ("sqrt", 0.5),
])  # fmt: skip
def test_what_an_argument_is_off_goes_through_the_largest_slope(kind: str, slope: float) -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=1.0, high=3.0)])
        x, away = space.value("x"), arb(2) ** -30
        one = space.apply("div", [number(1), x]) if kind == "inverse" else space.apply(kind, [x])
        moved = x + number(away)
        other = (
            space.apply("div", [number(1), moved])
            if kind == "inverse"
            else space.apply(kind, [moved])
        )
        off = float(space.most(one - other).mid() / away)
    assert off == pytest.approx(slope, rel=1e-4)


def test_an_angle_that_is_nearly_a_whole_multiple_is_that_and_what_it_is_off() -> None:
    with precise():
        space = Functions([Variable("a", angle=True, low=-2.0, high=1.0)])
        away = arb(2) ** -25
        near = space.apply("sin", [space.angle("a").times(2 + away)])
        off = space.most(near - space.apply("sin", [space.angle("a").times(2)]))
    assert float((off / away).mid()) == pytest.approx(2.0, rel=1e-4)


def test_where_a_sum_lies_is_found_product_by_product() -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=-2.0, high=1.0),
                           Variable("z", angle=False, low=1.0, high=3.0)])  # fmt: skip
        x, z = space.value("x"), space.value("z")
        for made, ends in ((x * x, (0, 4)), (x * z, (-6, 3)), (z * z, (1, 9)), (x * x * x, (-8, 1)),
                           (-(x * x) * z + number(1), (-11, 1))):  # fmt: skip
            assert tuple(float(end.mid()) for end in space.reached(made)) == ends


def test_a_function_without_a_value_is_not_covered() -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=-1.0, high=1.0)])
        for kind in ("log", "sqrt"):
            with pytest.raises(NotCoveredError, match="may be anything"):
                space.apply(kind, [space.value("x")])
        with pytest.raises(NotCoveredError, match="inverse"):
            space.apply("div", [number(1), space.value("x")])


def test_steps_of_an_origin_are_read_or_refused() -> None:
    load = written("x/(z + 2)")
    for old, new in (("step add 1 2", "step add 1 9"), ("step add 1 2", "step ad 1 2"),
                     ("output y 4", "output y 9"), ("step 2.0", "step nan")):  # fmt: skip
        assert "is no line of an origin" in note(with_line(load, "origin", old, new))
    assert section("a\nb").lines == ("a", "b")


def test_a_sum_of_angles_is_known_but_for_whole_turns() -> None:
    turn = f"-{math.pi!r} {math.pi!r}"
    head = "".join(f"input {x} {turn} angle word {turn} 8 of 0 wraps\n" for x in "ab")
    curve = "curve s2 1.0 0.0 1.0 -inf inf angle | x | "
    nodes = f"s0 = input a angle\ns1 = input b angle\ns2 = turns | 1 s0 | 1 s1\ns3 = {curve}"
    for kind, holds in (("tanh", None), ("sin", True)):
        origin = section(f"{head}step add 0 1\nstep {kind} 2\noutput y 3")
        text = section(f"{nodes}{kind} 0\ns4 = sum 0.0 | 1.0 s3\ny = 0.0 1.0 s4")
        load = replace(written("x*x"), sections={"origin": origin, "sketch": text})
        assert verdict(load) == [True, holds], note(load)
