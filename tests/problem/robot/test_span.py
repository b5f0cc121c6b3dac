"""What a position's word spans, for stops of all kinds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from limited import with_ranges

from boolcomp.common.errors import DataError
from boolcomp.problem.interval import Interval
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.problem.problem import stopped
from boolcomp.problem.robot import load_robot, parse_robot
from boolcomp.problem.span import part_of, span_of

if TYPE_CHECKING:
    from boolcomp.problem.robot import Robot

PI = math.pi
SPANS = [  # position, word, wraps; all in eighths of a turn
    ((-4, 4), (-4, 4), True),
    ((0, 8), (0, 8), True),
    ((-8, 8), (-4, 4), True),
    ((-3.2, 3.2), (-4, 4), False),
    ((-2, 2), (-4, 4), False),
    ((-1.8, 1.8), (-2, 2), False),
    ((-1.9, 1.9), (-4, 4), False),
    ((-0.8, 0.8), (-1, 1), False),
    ((0.2, 1.8), (0, 2), False),
    ((-5, 1), (-6, 2), False),
    ((0.9, 1.1), (0.5, 1.5), False),
    ((0.99, 1.01), (0.75, 1.25), False),
]


@pytest.mark.parametrize(("position", "word", "wraps"), SPANS)
def test_a_word_spans_the_smallest_part_of_a_turn_that_holds_range_and_margin(
    position: tuple[float, float], word: tuple[float, float], *, wraps: bool
) -> None:
    span = span_of(Interval(*(x * PI / 4 for x in position)), revolute=True)
    assert span.word.low == pytest.approx(word[0] * PI / 4, abs=1e-12)
    assert span.word.high == pytest.approx(word[1] * PI / 4, abs=1e-12)
    assert span.wraps == wraps


@given(st.floats(-12, 12), st.floats(1e-6, 14))
@example(-3.1, 6.2)  # a turn holds it, but not all of its margin
def test_every_range_is_held_with_its_margin_or_the_word_wraps(low: float, width: float) -> None:
    position = Interval(low, low + width)
    span = span_of(position, revolute=True)
    turns = Fraction(span.word.high - span.word.low) / Fraction(2 * PI)
    assert math.log2(turns) == pytest.approx(round(math.log2(turns)), abs=1e-9)
    assert span.word.holds(span.reach)
    if width < 2 * PI - 0.8:  # a word about an eighth of a turn loses an eighth at most
        assert not span.wraps
        assert span.word.holds(position)
        assert span.reach.low <= position.low
        assert span.reach.high >= position.high
    else:
        assert span.wraps or span.word.holds(position)


def stops_of(robot: Robot) -> list[str]:
    """Return the inputs whose words can say more than where they may be, and where that is."""
    return [f"{one.name} within {one.range}" for one in stopped(inverse_dynamics_problem(robot))]


def test_a_slide_and_a_chosen_word_span_what_they_say() -> None:
    assert span_of(Interval(0.1, 0.3), revolute=False).word == Interval(0.1, 0.3)
    span = span_of(Interval(-1, 2), Interval(-1, 2.5), revolute=True)
    assert (span.word, span.reach, span.part) == (Interval(-1, 2.5), Interval(-1, 2), None)


def test_limits_are_the_stops_that_words_go_beyond_and_single_values() -> None:
    robot = with_ranges("machado-2r", q2=(-2.5, 2.5), qd1=(0, 0))
    assert stops_of(robot) == ["q2 within -2.5 .. 2.5", "qd1 within 0 .. 0"]
    assert stops_of(load_robot("machado-2r")) == []


def test_a_turn_that_is_asked_for_wraps_and_reaches_all_around() -> None:
    asked = Interval(-PI, PI)
    span = span_of(Interval(-2 * PI, 2 * PI), asked, revolute=True)
    assert (span.word, span.reach, span.wraps) == (asked, asked, True)


def test_parts_of_a_turn_are_known_down_to_a_1024th() -> None:
    found = [part_of(Interval(0.1, 0.1 + 2 * PI / 2**k)) for k in range(12)]
    assert found == [*range(11), None]


def test_what_goes_all_around_has_no_stops_and_a_slide_always_has() -> None:
    assert stops_of(with_ranges("machado-2r", q1=(-2 * PI, 2 * PI), q2=(0.5, 7.0))) == []
    slide = with_ranges("stanford", q3=(0.0, 7.0), word3=(0.0, 8.0))
    assert stops_of(slide) == ["q3 within 0 .. 7"]


def _file(line: str) -> str:
    text = str(with_ranges("machado-2r", q2=(-2.5, 2.5)))
    return text.replace("position_range = [-2.5, 2.5]", f"position_range = [-2.5, 2.5]\n{line}")


@pytest.mark.parametrize(("line", "word"), [
    ('word_range = "exact"', Interval(-2.5, 2.5)),
    ("word_range = [-2.5, 2.6]", Interval(-2.5, 2.6)),
    ('word_range = ["-pi", "pi"]', Interval(-PI, PI)),
])  # fmt: skip
def test_a_file_may_say_what_a_word_spans(line: str, word: Interval) -> None:
    robot = parse_robot(_file(line))
    assert robot.links[1].span.word == word
    assert not robot.links[1].span.wraps
    assert parse_robot(str(robot)) == robot


@pytest.mark.parametrize(("line", "message"), [
    ("word_range = [-2, 2.6]", r"joint\[2\].word_range: -2 .. 2.6 does not hold position_range"),
    ('word_range = "all"', "must be two numbers that rise, or 'exact'"),
    ("word_range = [3, 3]", "must rise"),
])  # fmt: skip
def test_a_word_that_holds_no_range_is_refused(line: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_robot(_file(line))
