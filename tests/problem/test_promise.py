"""What no error may exceed, as users say it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from samples import problem_of

from boolcomp.common.errors import DataError, UsageError
from boolcomp.problem.promise import promise_of
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.promise import Promise, Promised


def given(text: Promised) -> Promise:
    found = promise_of("--error", text)
    assert found is not None
    return found


def two_links() -> Problem:
    return problem_of(load_robot("machado-2r"))  # ±200 and ±100 N·m


@pytest.mark.parametrize(("text", "steps"), [
    ("1lsb", (1, 1)), ("1 LSB", (1, 1)), ("1lsb,0.8lsb", (1, 0.8)), ("tau2=2lsb", (math.inf, 2)),
    ("tau=2lsb,tau1=1lsb", (1, 2)), ("tau1=1lsb,tau=2lsb", (1, 2)),
    ({"tau1": "3lsb"}, (3, math.inf)), (["1lsb", "2lsb"], (1, 2)), ("3.125Nm", (2, 4)),
    ("3.125 N·m", (2, 4)), ("3.125N*m", (2, 4)), ("3.125abs", (2, 4)), ("1lsb,3.125Nm", (1, 4)),
])  # fmt: skip
def test_errors_are_counted_in_steps_of_their_outputs(
    text: Promised, steps: tuple[float, ...]
) -> None:
    assert given(text).steps(two_links(), 8) == pytest.approx(steps, rel=1e-12)


def test_no_unit_makes_more_steps_of_an_error_than_there_are() -> None:
    for amount in (0.1, 0.7, 1.1, 3.3, 123.456):
        for bits in (5, 8, 13):
            found = given(f"{amount}Nm").steps(two_links(), bits)
            for most, step in zip(found, two_links().steps(bits), strict=True):
                assert most * step <= amount


@pytest.mark.parametrize(("text", "said"), [
    ("1", "Give a unit"), (1.0, "a number without a unit"), ("lsb", "no amount"),
    ("-1lsb", "no amount"), ("0lsb", "no amount"), ("1e9lsb", "no amount"),
    ("1.2.3lsb", "no amount"), ("", "no amount"), ("1lsb,,", "no amount"),
    ("tau1=1lsb,2lsb", "names for all amounts, or for none"),
    ("tau1=1lsb,tau1=2lsb", "named twice"),
])  # fmt: skip
def test_what_says_no_error_is_refused(text: Promised, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        promise_of("--error", text)


@pytest.mark.parametrize(("text", "said"), [
    ("1rad", r"tau1 has the unit N·m: give lsb, N·m, abs"),
    ("tau3=1lsb", r"no output 'tau3' \(did you mean"),
    ("1lsb,1lsb,1lsb", "3 values: one for all joints"),
])  # fmt: skip
def test_what_a_problem_does_not_have_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        given(text).steps(two_links(), 8)


def test_less_than_half_a_step_is_refused_with_the_bits_that_would_do() -> None:
    with pytest.raises(DataError, match=r"tau1 .* 0\.7812 N·m: promise more, or give it 9 bits"):
        given("0.5Nm").check(two_links(), 8)
    given("0.5Nm").check(two_links(), 9)
    with pytest.raises(DataError, match=r"half a step, 0\.7812 N·m: promise more\Z"):
        given("0.5lsb").check(two_links(), 8)


def test_only_units_other_than_lsb_are_absolute() -> None:
    assert given("1Nm,1abs").absolute
    assert not given("1Nm,1lsb").absolute
    assert not given("1 Lsb").absolute
