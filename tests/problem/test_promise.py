"""What no error may exceed, as users say it."""

import math
from typing import Any

import pytest
from samples import problem_of

import boolcomp as bc
from boolcomp.problem import promise_of

ARM = problem_of("machado-2r")  # ±200 and ±100 N·m


def promised(text: Any) -> Any:
    return promise_of("--error", text)


@pytest.mark.parametrize(("text", "steps", "absolute"), [
    ("1lsb", (1, 1), False), ("1 LSB", (1, 1), False), ("1lsb,0.8lsb", (1, 0.8), False),
    ("tau2=2lsb", (math.inf, 2), False), ("tau=2lsb,tau1=1lsb", (1, 2), False),
    ("tau1=1lsb,tau=2lsb", (1, 2), False), ({"tau1": "3lsb"}, (3, math.inf), False),
    (["1lsb", "2lsb"], (1, 2), False), ("3.125Nm", (2, 4), True), ("3.125 N·m", (2, 4), True),
    ("3.125N*m", (2, 4), True), ("3.125abs", (2, 4), True), ("1lsb,3.125Nm", (1, 4), False),
])  # fmt: skip
def test_errors_are_counted_in_steps_of_their_outputs(
    text: Any, steps: tuple[float, ...], *, absolute: bool
) -> None:
    found = promised(text)
    assert found.steps(ARM, 8) == pytest.approx(steps, rel=1e-12)
    assert found.absolute == absolute


def test_no_unit_makes_more_steps_of_an_error_than_there_are() -> None:
    for amount in (0.1, 0.7, 1.1, 3.3, 123.456):
        for bits in (5, 8, 13):
            found = promised(f"{amount}Nm").steps(ARM, bits)
            for most, step in zip(found, ARM.steps(bits), strict=True):
                assert most * step <= amount


@pytest.mark.parametrize(("text", "said"), [
    ("1", r"--error '1' has no unit; give"), (1.0, "a number without a unit"), ("lsb", "no amount"),
    ("-1lsb", "no amount"), ("0lsb", "no amount"), ("1e9lsb", "no amount"),
    ("1.2.3lsb", "no amount"), ("", "no amount"), ("1lsb,,", "no amount"),
    ("tau1=1lsb,2lsb", "--error 'tau1=1lsb,2lsb' names some outputs only; name all"),
    ("tau1=1lsb,tau1=2lsb", "--error 'tau1=1lsb,tau1=2lsb' names an output twice"),
    ("1rad", "give 0.5N·m"), ("500mNm", "cannot be 500mNm; give 0.5N·m, or 1lsb"),
    ("tau3=1lsb", "unknown output 'tau3'; did you mean"),
    ("1lsb,1lsb,1lsb", "error 1lsb,1lsb,1lsb has 3 values, but machado-2r has 2 joints;"),
])  # fmt: skip
def test_a_text_that_says_no_error_of_the_problem_is_refused(text: Any, said: str) -> None:
    with pytest.raises(bc.UsageError, match=said):
        promised(text).steps(ARM, 8)


def test_less_than_half_a_step_is_refused_with_the_bits_that_would_do() -> None:
    with pytest.raises(
        bc.DataError, match=r"tau1 .* 0\.7812 N·m; allow a larger error, or give it 9 bits"
    ):
        promised("0.5Nm").check(ARM, 8)
    promised("0.5Nm").check(ARM, 9)
    with pytest.raises(bc.DataError, match=r"half a step, 0\.7812 N·m; allow a larger error\Z"):
        promised("0.5lsb").check(ARM, 8)
