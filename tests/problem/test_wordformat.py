"""Formats of words as text, and whether they fit a range."""

import math
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.base import parse_number
from boolcomp.problem import CODE_KINDS, ZEROS, Interval, WordFormat, formats, with_words

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


@pytest.mark.parametrize(
    ("text", "value"), [("2pi", 2 * math.pi), ("2*pi", 2 * math.pi), ("-3pi/4", -0.75 * math.pi)]
)
def test_multiples_of_pi_need_no_sign_between(text: str, value: float) -> None:
    assert parse_number(text) == value


def test_formats_are_given_as_texts_or_by_name() -> None:
    asked = {"q1": WordFormat("gray", 12, Interval(0.0, 2 * math.pi)), "tau": WordFormat("twos")}
    assert formats("words", ["q1=gray:12:0..2pi", "tau=twos"]) == asked
    assert formats("words", {"q1": "0..2pi:gray:12", "tau": WordFormat("twos")}) == asked
    assert formats("words", "tau=twos") == {"tau": WordFormat("twos")}
    assert formats("words", None) == {}
    with pytest.raises(bc.UsageError, match="words 'q1' is given twice"):
        formats("words", ["q1=gray", "q1=12"])
    with pytest.raises(
        bc.UsageError, match=r"words q1 is 12, not a text; give text, such as gray:12:0\.\.2pi"
    ):
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
