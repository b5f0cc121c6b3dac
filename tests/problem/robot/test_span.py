"""What a position's word spans, for stops of all kinds."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from limited import with_ranges

import boolcomp as bc
from boolcomp.problem import Input, Interval, parse_robot, robot_problem

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


def spanned(position: Interval, word: Interval | None = None) -> Input:
    """Return the first input of an arm whose first joint moves there."""
    more = {"word1": (word.low, word.high)} if word else {}
    arm = with_ranges("machado-2r", q1=(position.low, position.high), **more)
    return robot_problem(arm, "gravity").inputs[0]


@pytest.mark.parametrize(("position", "word", "wraps"), SPANS)
def test_a_word_spans_the_smallest_part_of_a_turn_that_holds_range_and_margin(
    position: tuple[float, float], word: tuple[float, float], *, wraps: bool
) -> None:
    found = spanned(Interval(*(x * PI / 4 for x in position)))
    assert (found.word.low, found.word.high) == pytest.approx([x * PI / 4 for x in word])
    assert found.wraps == wraps


@given(st.floats(-12, 12), st.floats(1e-6, 14))
@example(-3.1, 6.2)  # a turn holds it, but not all of its margin
def test_every_range_is_held_with_its_margin_or_the_word_wraps(low: float, width: float) -> None:
    position = Interval(low, low + width)
    found = spanned(position)
    turns = Fraction(found.word.high - found.word.low) / Fraction(2 * PI)
    assert math.log2(turns) == pytest.approx(round(math.log2(turns)), abs=1e-9)
    assert found.word.holds(found.reach)
    if width < 2 * PI - 0.8:  # a word about an eighth of a turn loses an eighth at most
        assert not found.wraps
        assert found.word.holds(position)
        assert found.reach.holds(position)
    else:
        assert found.wraps or found.word.holds(position)


@pytest.mark.parametrize(("name", "ranges", "stops"), [
    ("machado-2r", {}, []),
    ("machado-2r", {"q2": (-2.5, 2.5), "qd1": (0, 0)},
     ["q2 within -2.5 .. 2.5", "qd1 within 0 .. 0"]),
    ("machado-2r", {"q1": (-2 * PI, 2 * PI), "q2": (0.5, 7.0)}, []),
    ("stanford", {"q3": (0.0, 7.0), "word3": (0.0, 8.0)}, ["q3 within 0 .. 7"]),
])  # fmt: skip
def test_an_input_whose_word_says_more_than_its_range_is_stopped(
    name: str, ranges: dict[str, tuple[float, float]], stops: list[str]
) -> None:
    problem = robot_problem(with_ranges(name, **ranges))
    assert [f"{one.name} within {one.range}" for one in problem.inputs if one.limited] == stops


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
    with pytest.raises(bc.DataError, match=message):
        parse_robot(_file(line))
