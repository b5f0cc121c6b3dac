"""Sketches: outputs taken apart into sums and products of words compute what was asked for."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from compact.word_robots import Q, R, X, Y, Z, case, sketch_of, small_robot, tape_problem
from limited import with_ranges
from numpy.typing import NDArray
from samples import problem_of as arm_problem

from boolcomp.base.errors import UsageError
from boolcomp.compact.errors import StateMaker, States
from boolcomp.compact.limits import FORMS
from boolcomp.compact.sketch import (
    Curve,
    Linear,
    Product,
    Quantity,
    Sketch,
    SourceWord,
    Waves,
    WordSum,
    quantities,
)
from boolcomp.compact.sketch_terms import Formulation, build_sketch
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.functions import FRICTION, robot_problem
from boolcomp.problem.problem import Problem, with_words
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.robot.model import Robot
from boolcomp.problem.tape import Tape
from boolcomp.problem.words import Interval, WordFormat
from boolcomp.terms.extract import split

Floats = NDArray[np.float64]


def outputs_of(sketch: Sketch, states: States) -> Floats:
    values = sketch.evaluate(states.values)
    return np.stack([values[k] for k in sketch.outputs], axis=1)


PI = math.pi
ARMS = {
    "part": with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9)),
    "exact": with_ranges("machado-2r", q2=(-2.0, 2.5), word2=(-2.0, 2.5)),
    "two exact": with_ranges("elbow-3r", q2=(-2, 2.5), q3=(0, 1), word2=(-2, 2.5), word3=(0, 1)),
    "speeds of a turn": with_ranges("machado-2r", qd1=(-PI, PI), qd2=(0, PI), qdd1=(-PI, PI)),
    "single": with_ranges("elbow-3r", q2=(0.4, 0.4), qd1=(0.5, 0.5)),
}
PLAIN, EXACT = Formulation(), Formulation(speeds=False, exact=True)
SKETCHED: list[tuple[Robot | str, Formulation]] = [
    *(("elbow-3r", Formulation(*flags)) for flags in itertools.product((False, True), repeat=4)),
    *(("machado-2r", form) for form in (PLAIN, EXACT, Formulation(chained=True))),
    *((arm, form) for arm in ARMS.values() for form in (PLAIN, EXACT)),
    *((small_robot(seed, 1 + seed % 3), PLAIN) for seed in range(4)),
]


@pytest.mark.parametrize(("arm", "form"), SKETCHED)
def test_a_sketch_of_an_arm_is_newton_euler(arm: Robot | str, form: Formulation) -> None:
    made = case(arm, form=form)
    robot = load_robot(arm) if isinstance(arm, str) else arm
    exact = inverse_dynamics(robot, *made.problem.draw(50, 4)) / np.asarray(made.steps)
    assert outputs_of(made.sketch, made.states(50, seed=4)) == pytest.approx(exact, abs=1e-5)


def products(sketch: Sketch) -> int:
    """Return how many products its sums hold."""
    sums = [node for node in sketch.nodes if isinstance(node, WordSum)]
    return sum(isinstance(addend, Product) for node in sums for addend in node.addends)


@pytest.mark.parametrize(
    ("form", "count"), [(Formulation(speeds=True), 4), (Formulation(speeds=False), 5)]
)
def test_the_2r_needs_one_product_for_each_factor(form: Formulation, count: int) -> None:
    assert products(case("machado-2r", form=form).sketch) == count


@pytest.mark.parametrize(("last", "said"), [
    (WordSum((Product(0, 1, 0.75),), 0.0), "a product's factor is no power of two"),
    (WordSum((Linear(2, 1.0),), 0.0), "node 2 reads a later node"),
    (Waves(0, ((1, 1.0, 0.0),)), "an output is no sum"),
])  # fmt: skip
def test_what_no_sketch_may_hold_is_refused(last: Any, said: str) -> None:
    words = (SourceWord("x", 3, angle=False), SourceWord("y", 3, angle=False))
    with pytest.raises(ValueError, match=said):
        Sketch((*words, last), (2,))


def test_an_input_of_one_value_has_no_word() -> None:
    words = quantities(arm_problem(ARMS["single"]), {"q": 6, "qd": 6, "qdd": 6})
    assert {"q1", "q2", "q3", "qd1", "qd2"} - set(words) == {"q2", "qd1"}
    assert [words[name].wraps for name in ("q1", "q3", "qd2")] == [True, True, False]


def test_cells_of_a_turn_wrap_and_all_others_saturate() -> None:
    span = Interval(-PI, PI)
    column = np.array([-PI - 0.1, -PI + 0.1, 0.1, PI - 0.1, PI, PI + 0.1, 5 * PI + 0.1])
    turn = Quantity("q1", span, 3, turns=True, reach=span, wraps=True)
    assert turn.cells(column).tolist() == [7, 0, 4, 7, 0, 0, 0]
    limited = Quantity("q1", span, 3, turns=True, reach=span)
    assert limited.cells(column).tolist() == [0, 0, 4, 7, 7, 7, 7]


def test_corner_states_reach_a_margin_beyond_the_stops() -> None:
    problem = arm_problem(with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5)))
    words = quantities(problem, {"q": 10, "qd": 6, "qdd": 6})
    cells = StateMaker(problem, words, [1.0, 1.0]).corners(4000, 3).words
    margin = 0.02 * 2 * PI
    for name, low, high in (("q1", 0.3, 1.4), ("q2", -2.5, 2.5)):
        word = words[name]
        ends = word.range.low + word.step * np.array([cells[name].min(), cells[name].max() + 1])
        assert ends == pytest.approx([low - margin, high + margin], abs=0.03)


ARM = load_robot("machado-2r")
DRY = replace(ARM, links=tuple(replace(x, coulomb_friction=(8.0, 6.0)) for x in ARM.links))


def sketched(of: str, form: int) -> tuple[Problem, Sketch]:
    """Return a function of an arm with dry friction, and its sketch at 8 bits."""
    problem = robot_problem(DRY, of)
    bits = {one.name: 10 for one in problem.inputs}
    return problem, build_sketch(split(problem), bits, problem.steps(8), FORMS[form])


@pytest.mark.parametrize("form", [0, 5])
@pytest.mark.parametrize("of", [FRICTION, "control:kp=3,100", "control:load=0..2"])
def test_a_sketch_with_prepared_factors_computes_the_function(of: str, form: int) -> None:
    problem, sketch = sketched(of, form)
    words = quantities(problem, {one.name: 10 for one in problem.inputs})
    states = StateMaker(problem, words, problem.steps(8)).draw(400, 7)
    assert outputs_of(sketch, states) == pytest.approx(states.outputs, abs=1e-5)


def computed(problem: Problem, sketch: Sketch, count: int = 500) -> tuple[Floats, Floats]:
    """Return a sketch's outputs and the exact ones, both in steps."""
    words = quantities(problem, {one.name: 10 for one in problem.inputs})
    states = StateMaker(problem, words, problem.steps(8)).draw(count, 7)
    return outputs_of(sketch, states), states.outputs


def clip(tape: Tape, x: Any, low: float, high: float) -> Any:
    """Return x held within two numbers."""
    under = (x + high - tape.function("abs", x - high)) * 0.5
    return (under + low + tape.function("abs", under - low)) * 0.5


FUNCTIONS: dict[str, tuple[Sequence[tuple[str, float, float, bool]], Callable[..., Any]]] = {
    "root": ([Y], lambda t, y: t.root(y)),
    "sigmoid": ([X], lambda t, x: 1.0 / (t.function("exp", x * -3.0) + 1.0)),
    "quotient": ([X, Y], lambda _, x, y: x / y),
    "product of three": ([X, Y], lambda t, x, y: t.root(y) * x * y),
    "offset product": ([X, Y], lambda _, x, y: (x + 3.0) * (y - 0.25) * 0.3),
    "clipped sum": ([X, Y], lambda t, x, y: clip(t, x * 4.0 + y * 1.3, -1.5, 2.5)),
    "distance": ([X, Y], lambda t, x, y: t.root(x * x + y * y)),
    "angle of any point": ([X, Z], lambda t, x, z: t.arc(x, z)),
    "angle of a slope": ([Y, X], lambda t, y, x: t.arc(x, y)),
    "angle of a point above": ([Y, X], lambda t, y, x: t.arc(y, x)),
    "angle of a point below": ([Y, X], lambda t, y, x: t.arc(-y, x * 0.5)),
    "waves": ([Q, R], lambda t, q, r: t.cosine(q + r * 2.0) - t.sine(q - 0.5) * 0.7),
    "wave squared": ([Q, X], lambda t, q, x: t.cosine(q) * t.cosine(q) * x + t.sine(q)),
    "curve of a wave": ([Q, X], lambda t, q, x: t.function("exp", t.cosine(q)) * x),
    "wrapped": ([Q, R], lambda t, q, r: t.function("wrap", q - r)),
    "shared word": ([X, Y], lambda _, x, y: (x + y * 0.3) * (x + y * 0.3) * x + (x + y * 0.3)),
    "deep": ([X, Y], lambda t, x, y: t.root(t.function("abs", x * y - 0.2) + 0.01) * y * 0.5),
    "negative": ([X, Y], lambda t, x, y: -(x * y) - t.function("tanh", -x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_sketch_computes_what_its_steps_do(name: str) -> None:
    words, function = FUNCTIONS[name]
    problem = tape_problem(words, function)
    found, exact = computed(problem, sketch_of(problem))
    assert np.abs(found - exact).max() < (0.02 if "point" in name else 1e-6)


def tables(sketch: Sketch) -> list[Curve | Waves]:
    """Return the tables of a sketch."""
    return [node for node in sketch.nodes if isinstance(node, (Curve, Waves))]


@pytest.mark.parametrize(("most", "kind"), [(11, Waves), (12, Waves), (13, Curve)])
def test_waves_of_up_to_twelve_times_an_angle_are_a_sum_of_waves(most: int, kind: type) -> None:
    sketch = sketch_of(tape_problem([Q], lambda t, q: t.cosine(q * 2.0) * t.cosine(q * (most - 2))))
    (table,) = tables(sketch)
    assert isinstance(table, kind)
    if isinstance(table, Waves):
        assert table.parts == ((most - 4, 0.5, 0.0), (most, 0.5, 0.0))


@pytest.mark.parametrize("kind", ["product", "root", "plain"])
def test_an_angle_used_as_a_number_is_refused(kind: str) -> None:
    made: dict[str, Callable[..., Any]] = {
        "product": lambda _, q, x: q * x,
        "root": lambda t, q, x: t.root(q) + x,
        "plain": lambda _, q, x: q * 0.5 + x,
    }
    with pytest.raises(UsageError, match="q is an angle"):
        sketch_of(tape_problem([Q, X], made[kind]))


@pytest.mark.parametrize("name", ["sigmoid", "quotient", "curve of a wave", "clipped sum"])
def test_curves_read_words_with_a_cell_at_zero(name: str) -> None:
    words, function = FUNCTIONS[name]
    plain = tape_problem(words, function)
    half = WordFormat(zero="tread")
    asked = {one.name: half for one in plain.inputs if not one.word.low or not one.word.centre}
    assert asked
    problem = with_words(plain, asked)
    found, exact = computed(problem, sketch_of(problem))
    assert np.abs(found - exact).max() < 1e-6 * max(1.0, np.abs(exact).max())
