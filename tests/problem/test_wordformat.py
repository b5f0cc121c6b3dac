"""Formats of words as text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.common.errors import UsageError
from boolcomp.common.text import parse_number
from boolcomp.problem.interval import Interval
from boolcomp.problem.wordformat import (
    CODE_KINDS,
    USUAL_FORMAT,
    ZEROS,
    WordFormat,
    formats,
    parse_format,
    word_problem,
)

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


@given(FORMATS.filter(bool))
def test_a_format_is_read_back_from_its_text(asked: WordFormat) -> None:
    assert parse_format(str(asked), "word") == asked


@given(FORMATS.filter(bool), st.randoms())
def test_parts_come_in_any_order(asked: WordFormat, rng: object) -> None:
    parts = str(asked).split(":")
    rng.shuffle(parts)  # type: ignore[attr-defined]  # hypothesis gives a random.Random
    assert parse_format(":".join(parts), "word") == asked


@given(FORMATS, FORMATS)
def test_what_a_format_leaves_open_another_says(one: WordFormat, other: WordFormat) -> None:
    both = one.over(other)
    for key in ("code", "bits", "range", "zero"):
        first, second = getattr(one, key), getattr(other, key)
        assert getattr(both, key) == (second if first is None else first)
    assert one.over(USUAL_FORMAT) == USUAL_FORMAT.over(one) == one


@pytest.mark.parametrize(
    ("text", "value"), [("2pi", 2 * math.pi), ("2*pi", 2 * math.pi), ("-3pi/4", -0.75 * math.pi)]
)
def test_multiples_of_pi_need_no_sign_between(text: str, value: float) -> None:
    assert parse_number(text) == value


def test_formats_are_given_as_texts_or_by_name() -> None:
    asked = {"q1": WordFormat("gray", 12, Interval(0.0, 2 * math.pi)), "tau": WordFormat("twos")}
    assert formats("words", ["q1=gray:12:0..2pi", "tau=twos"]) == asked
    assert formats("words", {"q1": "0..2pi:gray:12", "tau": WordFormat("twos")}) == asked
    assert formats("words", "tau = twos".replace(" ", "")) == {"tau": WordFormat("twos")}
    assert formats("words", None) == {}
    with pytest.raises(UsageError, match="words 'q1' is given twice"):
        formats("words", ["q1=gray", "q1=12"])
    with pytest.raises(UsageError, match="words q1: give text, such as gray"):
        formats("words", {"q1": 12})


@pytest.mark.parametrize(
    ("low", "high", "asked", "wraps", "said"),
    [
        (-1.0, 1.0, "twos:tread", False, ""),
        (0.0, 2.0, "gray:tread", False, ""),
        (-0.5, 1.5, "natural:tread", False, ""),
        (-0.4, 1.6, "natural:tread", False, "no cell at zero"),
        (-0.4, 1.6, "natural", False, ""),
        (0.0, 2.0, "twos", False, "no sign"),
        (-1.0, 1.0, "sign-magnitude:tread", False, ""),
        (-1.0, 1.0, "sign-magnitude:tread", True, "lacks half a turn"),
    ],
)
def test_a_format_fits_a_range_or_a_sentence_says_why_not(
    low: float, high: float, asked: str, said: str, *, wraps: bool
) -> None:
    problem = word_problem(Interval(low, high), parse_format(asked, ""), wraps=wraps)
    assert said in problem
    assert bool(said) == bool(problem)
