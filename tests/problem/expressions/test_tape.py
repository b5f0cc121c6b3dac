"""Recording: what folds, what is shared, and that values stay what they were."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.problem import (
    Operations,
    Straight,
    Tape,
)

STEPS = st.lists(
    st.tuples(st.sampled_from("+-*~c"), st.integers(0, 30), st.integers(0, 30)), max_size=25
)
KNOWN = (0.0, 1.0, -1.0, 2.0, -3.0)


def run(steps: list[tuple[str, int, int]], values: list[Any], known: Any) -> Any:
    """Calculate with anything: floats and wires alike."""
    for kind, left, right in steps:
        a, b = values[left % len(values)], values[right % len(values)]
        if kind == "c":
            values.append(known(KNOWN[left % len(KNOWN)]))
        elif kind == "~":
            values.append(-a)
        else:
            values.append(a + b if kind == "+" else a - b if kind == "-" else a * b)
    return values[-1]


@given(steps=STEPS, fold=st.booleans(), shared=st.booleans())
def test_whatever_is_simplified_the_value_stays(
    steps: list[tuple[str, int, int]], *, fold: bool, shared: bool
) -> None:
    tape = Tape(fold=fold, shared=shared)
    x, y = 0.75, -1.25
    wire = run(steps, [tape.input("x"), tape.input("y")], tape.constant)
    expected = run(steps, [x, y], float)
    (found,) = tape.finish([("z", wire)]).evaluate([x, y])
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12) or not math.isfinite(expected)


def recorded(expression: Any, *, fold: bool = True) -> Straight:
    tape = Tape(fold=fold)
    return tape.finish([("z", expression(tape, tape.input("x"), tape.input("y")))])


@pytest.mark.parametrize(("expression", "operations"), [
    (lambda _t, x, y: x * 0.0 + y, Operations()),
    (lambda _t, x, y: x * 1.0 - y * -1.0, Operations(0, 1)),
    (lambda _t, x, y: -1.0 * (-x) * y, Operations(1, 0)),
    (lambda _t, x, y: (x * y) + (y * x), Operations(1, 1)),
    (lambda _t, x, y: (x - y) * (y - x), Operations(1, 1)),
    (lambda _t, x, _y: 2.0 * (3.0 * x), Operations(1, 0)),
    (lambda _t, x, y: (x * -2.0) + (x * 2.0) * y, Operations(2, 1)),
    (lambda t, x, y: t.sine(t.constant(math.pi)) * x + y, Operations()),
    (lambda t, x, _y: t.root(t.constant(4.0)) / t.constant(2.0) * x, Operations()),
    (lambda _t, x, y: x / 4.0 + (-x) / (-y), Operations(1, 1, 1)),
    (lambda t, x, y: 0.0 / x + t.sign(y), Operations(functions=1)),
])  # fmt: skip
def test_known_numbers_signs_and_repetitions_cost_nothing(
    expression: Any, operations: Operations
) -> None:
    assert recorded(expression).operations == operations


def test_a_literal_tape_records_what_the_text_says() -> None:
    program = recorded(lambda _t, x, y: x * 0.0 + y * 1.0 + x * 0.0 - -y, fold=False)
    assert program.operations == Operations(3, 3)
    assert sum(node.kind == "neg" for node in program.nodes) == 1


def test_what_no_output_needs_is_dropped_unless_kept() -> None:
    tape = Tape()
    x = tape.input("x")
    unused = x * x
    assert tape.finish([("y", x + 1.0)]).operations == Operations(0, 1)
    assert tape.finish([("y", x + 1.0)], prune=False).operations == Operations(1, 1)
    del unused


def test_nodes_belong_to_the_innermost_task() -> None:
    tape = Tape()
    x = tape.input("x")
    with tape.task("out"):
        with tape.task("in"):
            y = x + 1.0
        z = y * y
    program = tape.finish([("z", z)])
    assert [node.task for node in program.nodes if not node.free] == ["in", "out"]


def test_without_sharing_every_task_makes_its_own() -> None:
    counts = []
    for shared in (True, False):
        tape = Tape(shared=shared)
        x = tape.input("x")
        outputs = []
        for name in ("a", "b"):
            with tape.task(name):
                outputs.append((name, x * x + x * x))
        counts.append(tape.finish(outputs).operations)
    assert counts == [Operations(1, 1), Operations(2, 2)]


@pytest.mark.parametrize(("expression", "said"), [
    (lambda _t, x, y: x * y / 0.0, "divides by zero for all inputs"),
    (lambda t, _x, _y: t.constant(1.0) / t.constant(0.0), "divides by zero for all inputs"),
    (lambda t, _x, _y: t.root(t.constant(-4.0)), "the root of -4 for all inputs"),
])  # fmt: skip
def test_impossible_known_numbers_get_a_sentence(expression: Any, said: str) -> None:
    with pytest.raises(bc.DataError, match=said):
        recorded(expression)


def small() -> Straight:
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    with tape.task("a"):
        product = x * y
    with tape.task("b"):
        return tape.finish([("s", product + tape.sine(tape.input("x"))), ("p", product), ("x", x)])


def test_a_program_prints_line_by_line_and_knows_its_operations_and_last_uses() -> None:
    program = small()
    assert str(program).splitlines() == [
        "inputs x y", "v2 = x * y  # a", "v3 = sin(x)  # b", "v4 = v2 + v3  # b",
        "output s = v4", "output p = v2", "output x = x",
    ]  # fmt: skip
    assert program.operations == Operations(1, 1, functions=1)
    assert (program.tasks, program.last_use) == (("a", "b"), (5, 2, 5, 4, 5))


def test_a_program_evaluates_columns_and_scalars() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), 3.0
    s, p, same = small().evaluate([x, y])
    for found, expected in ((s, x * y + np.sin(x)), (p, x * y), (same, x)):
        assert np.array_equal(found, expected)
    (zero,) = recorded(lambda t, _x, _y: t.constant(0.0)).evaluate([np.ones(4), y])
    assert np.array_equal(zero, np.zeros(4))  # of the shape of the columns
    with pytest.raises(bc.UsageError, match="1 columns given for x, y"):
        small().evaluate([1.0])


def test_a_node_that_uses_a_later_one_is_refused() -> None:
    with pytest.raises(AssertionError):
        replace(small(), nodes=small().nodes[::-1])
