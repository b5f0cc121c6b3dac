"""Straight-line programs: evaluation, text, and orders that keep few values."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.common.errors import UsageError
from boolcomp.parallel.methods.recording import record
from boolcomp.parallel.methods.zomaya import semi_customised_torques
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.expressions.straight import Operation, Returned, Straight
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.robot import load_robot


def small() -> Straight:
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    with tape.task("a"):
        product = x * y
    with tape.task("b"):
        return tape.finish([("s", product + tape.sine(x)), ("p", product), ("x", x)])


def test_a_program_prints_line_by_line() -> None:
    assert str(small()).splitlines() == [
        "inputs x y",
        "v2 = x * y  # a",
        "v3 = sin(x)  # b",
        "v4 = v2 + v3  # b",
        "output s = v4",
        "output p = v2",
        "output x = x",
    ]


def test_a_program_knows_its_operations_tasks_and_last_uses() -> None:
    program = small()
    assert program.operations == Operations(1, 1, functions=1)
    assert program.tasks == ("a", "b")
    assert program.last_use == (5, 2, 5, 4, 5)
    assert program.inputs == ("x", "y")


def test_a_program_evaluates_columns_and_scalars() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), 3.0
    s, p, same = small().evaluate([x, y])
    assert np.array_equal(s, x * y + np.sin(x))
    assert np.array_equal(p, x * y)
    assert np.array_equal(same, x)


def test_a_constant_output_has_the_shape_of_the_columns() -> None:
    tape = Tape()
    tape.input("x")
    (zero,) = tape.finish([("z", tape.constant(0.0))]).evaluate([np.ones(4)])
    assert np.array_equal(zero, np.zeros(4))


def test_missing_columns_are_named() -> None:
    with pytest.raises(UsageError, match="1 columns given, where x, y are wanted"):
        small().evaluate([1.0])


def test_a_node_that_uses_a_later_one_is_refused() -> None:
    with pytest.raises(AssertionError):
        Straight((Operation("neg", (1,)), Operation("input", name="x")), (Returned("y", 0),))


def test_live_order_computes_the_same_with_no_more_kept() -> None:
    robot = load_robot("machado-2r")
    program = record(robot, semi_customised_torques, Tape())
    other = program.live_order()
    columns = list(np.random.default_rng(0).normal(size=(6, 5)))
    for left, right in zip(program.evaluate(columns), other.evaluate(columns), strict=True):
        assert np.array_equal(left, right)
    assert other.operations == program.operations
    assert other.inputs == program.inputs


def test_most_live_counts_what_must_be_kept() -> None:
    tape = Tape()
    x = tape.input("x")
    squares = [x * x, tape.sine(x), tape.cosine(x)]
    program = tape.finish([("y", squares[0] + squares[1] + squares[2])])
    assert program.most_live == 4  # x and two values while the third is made
