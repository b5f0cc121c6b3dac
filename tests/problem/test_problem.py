"""Problems: names, groups and arrays, and what is wrong with them as sentences."""

import math
import pickle
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limited import with_ranges
from samples import problem_of

import boolcomp as bc
from boolcomp.problem import (
    CODE_KINDS,
    ZEROS,
    Group,
    Interval,
    Problem,
    WordFormat,
    formats,
    promise_of,
    with_words,
)

ARM = problem_of("machado-2r")


def test_an_input_has_a_name_a_unit_and_a_range() -> None:
    assert str(ARM.input("q1")) == "q1 in -pi .. pi rad"
    assert str(ARM.input("qdd2")) == "qdd2 in -1 .. 1 rad/s²"
    first, second = ARM.outputs
    assert (str(first), str(second)) == ("tau1 in -200 .. 200 N·m", "tau2 in -100 .. 100 N·m")
    assert (first.symbol, first.title, first.noun) == ("T1", "torque 1", "torque")
    with pytest.raises(
        bc.UsageError, match=r"unknown input 'qdd'; did you mean 'qdd2' or 'qdd1'\?"
    ):
        ARM.input("qdd")


@pytest.mark.parametrize(("given", "message"), [
    ({"q": 8, "qd": 8, "qdd": 8, "q3": 9}, r"unknown input 'q3'; did you mean 'q'\?"),
    ({"q": 8, "qd": 8}, "bits of qdd are missing"),
    ({"q": 8, "qd": 8, "qdd1": 8}, "bits of qdd are missing"),
    ({}, "bits of q are missing"),
])  # fmt: skip
def test_words_that_are_unknown_or_missing_are_sentences(
    given: dict[str, int], message: str
) -> None:
    with pytest.raises(bc.UsageError, match=message):
        ARM.by_input(given)


@pytest.mark.parametrize(("change", "said"), [
    ({"groups": ARM.groups[:2]}, "groups do not hold every input once, in order"),
    ({"groups": (ARM.groups[1], ARM.groups[0], ARM.groups[2])}, "do not hold every input once"),
    ({"groups": (Group("q", ("q2", "q1")), *ARM.groups[1:])}, "do not hold every input once"),
    ({"groups": (*ARM.groups, ARM.groups[0])}, "do not hold every input once"),
    ({"inputs": ARM.inputs[:1] * 2, "groups": (Group("q", ("q1", "q1")),)}, "every input once"),
    ({"returned": Group("tau", ("tau2", "tau1"))}, "the group of outputs does not hold them in"),
])  # fmt: skip
def test_groups_hold_every_name_once_and_in_order(change: Any, said: str) -> None:
    with pytest.raises(bc.UsageError, match=said):
        replace(ARM, **change)


def test_arrays_of_groups_columns_by_name_and_states_are_the_same_numbers() -> None:
    arrays = ARM.draw(50, 3)
    states = np.concatenate(arrays, axis=1)
    assert [array.shape for array in arrays] == [(50, 2)] * 3
    assert all(map(np.array_equal, ARM.arrays(states), arrays))
    columns = ARM.columns(arrays)
    assert list(columns) == [one.name for one in ARM.inputs]
    assert np.array_equal(np.stack(list(columns.values()), axis=1), states)
    columns["qd2"][:] = 7.0  # a column is a view
    assert (arrays[1][:, 1] == 7.0).all()
    assert np.array_equal(ARM.exact(states), ARM.reference(*ARM.arrays(states)))


def test_drawn_states_lie_within_the_ranges_and_are_seeded() -> None:
    problem = problem_of(with_ranges("machado-2r", q1=(0.3, 1.4), qdd2=(0.25, 0.25)))
    low, high = problem.bounds()
    states = np.concatenate(problem.draw(1000, 1), axis=1)
    assert (states >= low).all()
    assert (states <= high).all()
    assert (states[:, 5] == 0.25).all()
    assert np.array_equal(states, np.concatenate(problem.draw(1000, 1), axis=1))
    assert not np.array_equal(states, np.concatenate(problem.draw(1000, 2), axis=1))


def test_a_problem_is_equal_by_its_key_and_can_be_sent_to_another_process() -> None:
    sent: Problem = pickle.loads(pickle.dumps(ARM))  # noqa: S301  # our own bytes
    states = np.concatenate(ARM.draw(5, 0), axis=1)
    assert sent == ARM == problem_of("machado-2r")
    assert hash(sent) == hash(ARM)
    assert np.array_equal(sent.exact(states), ARM.exact(states))
    assert replace(ARM, key="another") != ARM != problem_of("planar-3r")


RANGES = st.none() | st.builds(
    lambda low, width: Interval(low, low + width), st.floats(-1e3, 1e3), st.floats(0.01, 1e3)
)
FORMATS = st.builds(
    WordFormat,
    st.none() | st.sampled_from(CODE_KINDS),
    st.none() | st.integers(2, 16),
    RANGES,
    st.none() | st.sampled_from(ZEROS),
)


@given(FORMATS.filter(bool), st.randoms())
def test_the_parts_of_a_format_are_read_in_any_order(asked: WordFormat, rng: object) -> None:
    parts = str(asked).split(":")
    rng.shuffle(parts)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    for text in (str(asked), ":".join(parts)):
        assert formats("words", {"q1": text}) == {"q1": asked}


@given(FORMATS, FORMATS)
def test_what_a_format_leaves_open_another_says(one: WordFormat, other: WordFormat) -> None:
    both, usual = one.over(other), WordFormat()
    for key in ("code", "bits", "range", "zero"):
        first, second = getattr(one, key), getattr(other, key)
        assert getattr(both, key) == (second if first is None else first)
    assert one.over(usual) == usual.over(one) == one


def test_formats_are_given_as_texts_or_by_name() -> None:
    asked = {"q1": WordFormat("gray", 12, Interval(0.0, 2 * math.pi)), "tau": WordFormat("twos")}
    assert formats("words", ["q1=gray:12:0..2pi", "tau=twos"]) == asked
    assert formats("words", {"q1": "0..2pi:gray:12", "tau": WordFormat("twos")}) == asked
    assert formats("words", "tau=twos") == {"tau": WordFormat("twos")}
    assert formats("words", None) == {}
    with pytest.raises(bc.UsageError, match="words 'q1' is given twice"):
        formats("words", ["q1=gray", "q1=12"])
    with pytest.raises(bc.UsageError, match="words q1 is 12, not a text; give text, such as gray"):
        formats("words", {"q1": 12})


TURN = math.pi


@pytest.mark.parametrize(("low", "high", "asked", "said"), [
    (-1.0, 1.0, "twos:tread", ""), (0.0, 2.0, "gray:tread", ""), (-0.5, 1.5, "natural:tread", ""),
    (-0.4, 1.6, "natural:tread", "no cell at zero"), (-0.4, 1.6, "natural", ""),
    (0.0, 2.0, "twos", "no sign"), (-1.0, 1.0, "sign-magnitude:tread", ""),
    (-TURN, TURN, "sign-magnitude:tread", "lacks half a turn"),
])  # fmt: skip
def test_a_format_fits_a_range_or_a_sentence_says_why_not(
    low: float, high: float, asked: str, said: str
) -> None:
    word = bc.angle() if high == TURN else bc.word(low, high)
    problem = bc.function_problem(lambda x: bc.sin(x), {"x": word}, ["y"])  # noqa: PLW0108
    words = formats("words", {"x": asked})
    with pytest.raises(bc.BoolcompError, match=said) if said else nullcontext():
        assert str(with_words(problem, words).inputs[0].format) == asked


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
    ("1", "has no unit; give one, such as 1lsb"),
    (1.0, "a number without a unit"), ("lsb", "no amount"),
    ("-1lsb", "no amount"), ("0lsb", "no amount"), ("1e9lsb", "no amount"),
    ("1.2.3lsb", "no amount"), ("", "no amount"), ("1lsb,,", "no amount"),
    ("tau1=1lsb,2lsb", "names some outputs only; name all or none"),
    ("tau1=1lsb,tau1=2lsb", "names an output twice"),
    ("1rad", "tau1 has the unit N·m, so its error cannot be 1rad; give 0.5N·m"),
    ("tau3=1lsb", "unknown output 'tau3'; did you mean"),
    ("1lsb,1lsb,1lsb", "has 3 values, but machado-2r has 2 joints; give one for all"),
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
