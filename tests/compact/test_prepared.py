"""Sketches of terms some of whose factors are calculated first, and words that only add."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.errors.samples import draw
from boolcomp.compact.graph.logic import from_truth_tables, word_logic
from boolcomp.compact.graph.tables import columns_of, mux_network
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.compact.sketch.build import build_sketch
from boolcomp.compact.sketch.poly import quantities
from boolcomp.compact.sketch.sketch import AngleSum, Curve, Linear, Product, Sketch, WordSum
from boolcomp.compact.widths.forms import DIRECT, FORMS
from boolcomp.compact.widths.search import (
    SearchTask,
    screen,
    search_of,
)
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.functions import FRICTION, robot_problem
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Group, Input, Output, Problem
from boolcomp.problem.robot import load_robot
from boolcomp.terms import split

if TYPE_CHECKING:
    from boolcomp.logic.network import Network
    from boolcomp.logic.truthtable import TruthTable

ARM = load_robot("machado-2r")
DRY = replace(ARM, links=tuple(replace(x, coulomb_friction=(8.0, 6.0)) for x in ARM.links))
TURN = Interval(-np.pi, np.pi)


def sketched(of: str, form: int) -> tuple[Problem, Sketch]:
    """Return a function of an arm with dry friction, and its sketch at 8 bits."""
    problem = robot_problem(DRY, of)
    bits = {one.name: 10 for one in problem.inputs}
    return problem, build_sketch(split(problem), bits, problem.steps(8), FORMS[form])


@pytest.mark.parametrize("form", [0, 3, 5])
@pytest.mark.parametrize("of", [FRICTION, "control:kp=3,100", "control:load=0..2"])
def test_a_sketch_with_prepared_factors_computes_the_function(of: str, form: int) -> None:
    problem, sketch = sketched(of, form)
    words = quantities(problem, {one.name: 10 for one in problem.inputs})
    states = draw(problem, words, problem.steps(8), 400, 7)
    values = sketch.evaluate(states.values)
    found = np.stack([values[k] for k in sketch.outputs], axis=1)
    assert found == pytest.approx(states.outputs, abs=1e-5)


def test_dry_friction_is_one_table_a_joint_and_no_product() -> None:
    _, sketch = sketched(FRICTION, 0)
    plain = build_sketch(
        split(robot_problem(ARM)), dict.fromkeys(("q", "qd", "qdd"), 10),
        robot_problem(ARM).steps(8), FORMS[0],
    )  # fmt: skip
    assert sum(isinstance(node, Curve) for node in sketch.nodes) == 2
    assert len(sketch.nodes) == len(plain.nodes) + 2
    assert products(sketch) == products(plain)


def products(sketch: Sketch) -> int:
    """Return how many products its sums hold."""
    sums = [node for node in sketch.nodes if isinstance(node, WordSum)]
    return sum(isinstance(addend, Product) for node in sums for addend in node.addends)


def test_a_difference_of_angles_is_exact_and_is_not_multiplied_in_its_sum() -> None:
    _, sketch = sketched("control", 0)
    differences = [
        k
        for k, node in enumerate(sketch.nodes)
        if isinstance(node, AngleSum) and sorted(m for _, m in node.items) == [-1, 1]
    ]
    assert len(differences) == 2
    for place in differences:
        angle = sketch.nodes[place]
        assert isinstance(angle, AngleSum)
        assert angle.exact
        table = next(
            k for k, x in enumerate(sketch.nodes) if isinstance(x, Curve) and x.source == place
        )
        factors = [
            addend.factor
            for node in sketch.nodes
            if isinstance(node, WordSum)
            for addend in node.addends
            if isinstance(addend, Linear) and addend.node == table
        ]
        assert [np.frexp(abs(factor))[0] for factor in factors] == [0.5]


def wrapped_difference() -> Problem:
    """Return wrap(r - q) of two angles."""
    tape = Tape()
    one, other = tape.input("q"), tape.input("r")
    steps = tape.finish([("e", tape.function("wrap", other - one))])
    inputs = tuple(
        Input(name, TURN, "rad", TURN, TURN, angle=True, wraps=True) for name in ("q", "r")
    )

    def reference(q: np.ndarray, r: np.ndarray) -> np.ndarray:
        return np.asarray((r - q + np.pi) % (2 * np.pi) - np.pi)

    return Problem(
        "difference", "difference", inputs, (Output("e", "E", TURN, "rad"),),
        (Group("q", ("q",)), Group("r", ("r",))), Group("e", ("e",)), reference, lambda: steps,
    )  # fmt: skip


def test_the_difference_of_two_angles_costs_an_adder() -> None:
    problem = wrapped_difference()
    demand = usual_demand(8, {"words": 8}).completed(problem)
    task = SearchTask(split(problem), demand, np.array([1.0]), np.array([np.inf]))
    choice = screen(task, DIRECT)
    assert len(word_logic(search_of(task, DIRECT).graph(choice)).nodes) <= 2 * 8 + 2


def test_a_jump_at_zero_of_an_input_word_is_no_error() -> None:
    tape = Tape()
    steps = tape.finish([("y", tape.function("sign", tape.input("x")))])
    curve = Curve(0, steps, 1.0, 0.0, 1.0, -1.0, 1.0)
    x = np.linspace(-0.01, 0.01, 9)
    assert not curve.steepness(x, exact=True).any()
    assert curve.steepness(x).any()


def test_a_table_too_wide_for_synthesis_is_made_by_decision_diagrams() -> None:
    def never(table: TruthTable) -> Network:
        raise AssertionError(table)

    columns = columns_of([0, 0, 0, 1, 0, 1, 1, 1], 1)  # of three bits the majority
    made = from_truth_tables(never, widest=2)(3, columns)
    assert made == mux_network(3, columns)
    with pytest.raises(AssertionError):
        from_truth_tables(never, widest=3)(3, columns)


@pytest.mark.check
def test_logic_with_prepared_factors_holds_what_is_demanded() -> None:
    problem = robot_problem(DRY, FRICTION)
    built = build(split(problem), CompactChoices(usual_demand(4, effort=0.0), workers=ALONE))
    assert built.holds
    assert max(built.errors.rms) <= max(np.sqrt(built.compact.allowed)) * 1.001
