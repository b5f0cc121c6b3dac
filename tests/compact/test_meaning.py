"""What words of any span stand for, before any width is chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case
from limited import with_ranges
from samples import problem_of

from boolcomp.compact.errors.samples import corners
from boolcomp.compact.graph.heaps import adder_nodes, mean_adder_nodes
from boolcomp.compact.sketch.build import Form
from boolcomp.compact.sketch.poly import Quantity, quantities
from boolcomp.compact.sketch.sketch import Source, Waves
from boolcomp.compact.sketch.variables import Role
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.interval import Interval

if TYPE_CHECKING:
    from boolcomp.problem.robot import Robot

PI = math.pi
ARMS = {
    "part": with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9)),
    "exact": with_ranges("machado-2r", q2=(-2.0, 2.5), word2=(-2.0, 2.5)),
    "two exact": with_ranges("elbow-3r", q2=(-2, 2.5), q3=(0, 1), word2=(-2, 2.5), word3=(0, 1)),
    "speeds of a turn": with_ranges("machado-2r", qd1=(-PI, PI), qd2=(0, PI), qdd1=(-PI, PI)),
    "single": with_ranges("elbow-3r", q2=(0.4, 0.4), qd1=(0.5, 0.5)),
}


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
@pytest.mark.parametrize("form", [Form(), Form(speeds=False, exact=True)], ids=["plain", "exact"])
def test_a_sketch_is_newton_euler_at_every_state(arm: Robot, form: Form) -> None:
    made = case(arm, form=form)
    states = made.states(50, seed=4)
    values = made.sketch.evaluate(states.values)
    found = np.stack([values[k] for k in made.sketch.outputs], axis=1)
    exact = inverse_dynamics(arm, *made.problem.draw(50, 4)) / np.asarray(made.steps)
    assert found == pytest.approx(exact, abs=1e-6)


def test_a_single_value_is_no_word_and_a_turn_wraps() -> None:
    words = quantities(problem_of(ARMS["single"]), {"q": 6, "qd": 6, "qdd": 6})
    assert {"q1", "q2", "q3", "qd1", "qd2"} - set(words) == {"q2", "qd1"}
    assert [words[name].wraps for name in ("q1", "q3", "qd2")] == [True, True, False]


def test_cells_of_a_turn_wrap_and_all_others_saturate() -> None:
    span = Interval(-PI, PI)
    column = np.array([-PI - 0.1, -PI + 0.1, 0.1, PI - 0.1, PI, PI + 0.1, 5 * PI + 0.1])
    turn = Quantity("q1", span, 3, turns=True, reach=span, wraps=True)
    assert turn.cells(column).tolist() == [7, 0, 4, 7, 0, 0, 0]
    limited = Quantity("q1", span, 3, turns=True, reach=span)
    assert limited.cells(column).tolist() == [0, 0, 4, 7, 7, 7, 7]


def test_corners_go_a_margin_beyond_the_stops() -> None:
    problem = problem_of(with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5)))
    words = quantities(problem, {"q": 10, "qd": 6, "qdd": 6})
    cells = corners(problem, words, [1.0, 1.0], 4000, 3).words
    margin = 0.02 * 2 * PI
    for name, low, high in (("q1", 0.3, 1.4), ("q2", -2.5, 2.5)):
        word = words[name]
        ends = word.range.low + word.step * np.array([cells[name].min(), cells[name].max() + 1])
        assert ends == pytest.approx([low - margin, high + margin], abs=0.03)


@pytest.mark.parametrize(("part", "high"), [(0, PI), (1, 1.3), (2, 0.6), (3, 0.2)])
def test_a_table_of_part_of_a_turn_errs_by_what_its_own_cells_leave_open(
    part: int, high: float
) -> None:
    made = case(with_ranges("machado-2r", q1=(-high, high), q2=(-high, high)))
    model, widths, read = made.model(), dict(made.chosen(0.3).widths), 4
    tables = [
        (place, node)
        for place, node in enumerate(made.sketch.nodes)
        if isinstance(node, Waves) and isinstance(made.sketch.nodes[node.source], Source)
    ]
    assert tables
    for place, _ in tables:
        # Read to 4 bits and written to 30: all it errs by is uniform within a cell of its word.
        widths |= {
            Role.READ.of(place): read,
            Role.EXPONENT.of(place): -30,
            Role.SPLIT.of(place): 0,
            Role.LEAD.of(place): 0,
        }
        cell = 2 * PI / 2**part / 2**read
        noise = model.local(widths, place)[1]
        assert noise == pytest.approx(cell**2 / 12 * model.sensitivities[place].slope, rel=1e-4)


def test_a_heap_of_unknown_constant_costs_the_mean_of_ones_in_every_second_column() -> None:
    counts = [3, 1, 4, 0, 2]
    even = adder_nodes([n + (k % 2 == 0) for k, n in enumerate(counts)])
    odd = adder_nodes([n + k % 2 for k, n in enumerate(counts)])
    assert mean_adder_nodes(counts, 0) == (even + odd) / 2
    assert even != odd
