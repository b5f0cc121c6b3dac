"""Sketches: the torques taken apart, in any form."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case, small_robot

from boolcomp.compact.sketch.build import Form, build_sketch
from boolcomp.compact.sketch.poly import quantities, signed_digits
from boolcomp.compact.sketch.sketch import Linear, Product, WordSum
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot import load_robot
from boolcomp.terms import split

if TYPE_CHECKING:
    from boolcomp.problem.problem import Problem

FORMS = [Form(*flags) for flags in itertools.product((False, True), repeat=4)]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("name", ["machado-2r", "planar-3r", "elbow-3r"])
def test_every_form_of_a_sketch_is_newton_euler(name: str, form: Form) -> None:
    arm = case(name, form=form)
    states = arm.states(50, seed=3)
    values = arm.sketch.evaluate(states.values)
    for joint, place in enumerate(arm.sketch.outputs):
        assert np.allclose(values[place], states.outputs[:, joint], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_sketches_of_random_arms_that_turn_and_slide_are_newton_euler(seed: int) -> None:
    arm = case(small_robot(seed, 1 + seed % 3))
    states = arm.states(50, seed=3)
    values = arm.sketch.evaluate(states.values)
    for joint, place in enumerate(arm.sketch.outputs):
        assert np.allclose(values[place], states.outputs[:, joint], atol=1e-5)


def test_coefficients_of_many_sliding_words_are_no_rounding_error() -> None:
    problem = robot_problem(load_robot("stanford"))
    sketch = build_sketch(split(problem), {x.name: 10 for x in problem.inputs}, problem.steps(8))
    words = quantities(problem, {x.name: 10 for x in problem.inputs})
    arrays = problem.draw(500, 3)
    columns = problem.columns(arrays)
    inputs = {
        name: (columns[name] - (one.range.centre if one.part is None else one.range.low + np.pi))
        / (one.step if one.part is None else 1.0)
        for name, one in words.items()
    }
    values = sketch.evaluate(inputs)
    exact = problem.in_steps(problem.reference(*arrays), problem.steps(8))
    assert np.stack([values[k] for k in sketch.outputs], axis=1) == pytest.approx(exact, abs=1e-6)


def test_the_2r_needs_one_product_for_each_factor_and_shares_what_torques_have_in_common() -> None:
    sketch = case("machado-2r", form=Form(speeds=True)).sketch
    sums = [node for node in sketch.nodes if isinstance(node, WordSum)]
    products = [a for node in sums for a in node.addends if isinstance(a, Product)]
    assert len(products) == 4


def test_a_sketch_has_a_text_of_one_line_a_node() -> None:
    sketch = case("machado-2r").sketch
    lines = str(sketch).splitlines()
    assert len(lines) == len(sketch.nodes) + 2
    assert lines[0] == "s0 = input q1 10 bits angle"


def test_signed_digits_add_up_to_the_number() -> None:
    for value in (1.0, 7.75, -0.3, 1e-7, 12345.678):
        assert abs(sum(signed_digits(value, abs(value) * 1e-6, 20)) - value) < abs(value) * 1e-5
    assert signed_digits(7.75, 1e-9) == (8.0, -0.25)


def test_a_controllers_command_is_multiplied_once() -> None:
    """What is added to an acceleration, gains and all, is one word before any product."""

    def products(problem: Problem) -> int:
        sketch = build_sketch(split(problem), {g.name: 10 for g in problem.groups}, [1.0, 1.0])
        sums = [node for node in sketch.nodes if isinstance(node, WordSum)]
        return sum(isinstance(x, Product) for node in sums for x in node.addends)

    arm = load_robot("machado-2r")
    controller = robot_problem(arm, "computed-torque")
    assert products(controller) == products(robot_problem(arm))
    assert products(replace(controller, sums=())) > products(controller)


@pytest.mark.parametrize("name", ["machado-2r", "elbow-3r"])
def test_an_output_that_holds_another_adds_it_in_its_own_steps(name: str) -> None:
    arm = case(name, form=Form(chained=True))
    parts = [hint for hint in arm.problem.parts if arm.steps[hint.whole] != arm.steps[hint.part]]
    assert parts
    for hint in parts:
        whole = arm.sketch.nodes[arm.sketch.outputs[hint.whole]]
        assert isinstance(whole, WordSum)
        held = [
            x for x in whole.addends if getattr(x, "node", None) == arm.sketch.outputs[hint.part]
        ]
        assert [abs(x.factor) for x in held] == [arm.steps[hint.part] / arm.steps[hint.whole]]
    states = arm.states(50, seed=3)
    values = arm.sketch.evaluate(states.values)
    for place, node in enumerate(arm.sketch.outputs):
        assert np.allclose(values[node], states.outputs[:, place], atol=1e-6)


@pytest.mark.parametrize("form", [Form(speeds=False), Form(), Form(speeds=False, chained=True)])
@pytest.mark.parametrize("name", ["machado-2r", "planar-3r", "elbow-3r"])
def test_no_sum_multiplies_the_same_word_twice(name: str, form: Form) -> None:
    for node in case(name, form=form).sketch.nodes:
        products = [a for a in getattr(node, "addends", ()) if isinstance(a, Product)]
        words = [word for one in products for word in {one.a, one.b}]
        assert len(words) == len(set(words))


def test_a_common_factor_of_two_speeds_is_multiplied_by_their_sum() -> None:
    sketch = case("machado-2r", form=Form(speeds=False)).sketch
    sums = [node for node in sketch.nodes if isinstance(node, WordSum)]
    assert sum(isinstance(a, Product) for node in sums for a in node.addends) == 5
    names = [getattr(node, "name", "") for node in sketch.nodes]
    speeds = {
        tuple(sorted((names[a.node], a.factor) for a in node.addends if isinstance(a, Linear)))
        for node in sums
        if all(isinstance(a, Linear) and names[a.node] in ("qd1", "qd2") for a in node.addends)
    }
    assert speeds == {(("qd1", 2.0), ("qd2", 1.0))}  # (2 qd1 + qd2) qd2 sin q2


@pytest.mark.parametrize(("length", "apart"), [(0.2, True), (0.35, False), (0.8, False)])
def test_a_constant_is_apart_from_what_varies_three_times_less(
    length: float, *, apart: bool
) -> None:
    """The inertia about the first joint is 11.75 + 6.25 r² + 12.5 r cos q2."""
    arm = load_robot("machado-2r")
    robot = replace(arm, links=(arm.links[0], replace(arm.links[1], a=length)))
    made = case(robot, form=Form(speeds=False, shared=False))
    names = [getattr(node, "name", "") for node in made.sketch.nodes]
    torque = made.sketch.nodes[made.sketch.outputs[0]]
    assert isinstance(torque, WordSum)
    alone = [a.factor for a in torque.addends if isinstance(a, Linear) and names[a.node] == "qdd1"]
    inertia = 11.75 + 6.25 * length**2
    assert (inertia >= 3 * 12.5 * length) is apart
    step = made.words["qdd1"].step / made.steps[0]
    assert alone == (pytest.approx([inertia * step]) if apart else [])
    states = made.states(50, seed=3)
    values = made.sketch.evaluate(states.values)
    for joint, place in enumerate(made.sketch.outputs):
        assert np.allclose(values[place], states.outputs[:, joint], atol=1e-6)
