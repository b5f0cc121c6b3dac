"""The constants of the vectorised sine; its values are tested by running it (test_execute)."""

from __future__ import annotations

import math
from fractions import Fraction

from parallel.schedule.programs import there_and_back

from boolcomp.parallel.schedule.placed import Assignment
from boolcomp.parallel.schedule.staging import stage
from boolcomp.parallel.schedule.vectorcode import LARGEST_ANGLE, half_pi_parts, module_text


def test_the_parts_of_a_right_angle_are_exact_times_any_count() -> None:
    first, second, third = half_pi_parts()
    turns = math.ceil(LARGEST_ANGLE / (math.pi / 2))
    for part in (first, second):
        assert Fraction(part) * turns == Fraction(part * turns)
    assert first + (second + third) == math.pi / 2
    assert 0 < third < second * 2.0**-30 < first * 2.0**-60


def test_the_text_is_the_same_every_time_and_has_a_function_a_segment() -> None:
    straight, names = there_and_back()
    staged = stage(straight, names, Assignment((("out", "back"), ("beyond",))))
    texts = {module_text(straight, staged, 0, block=16, width=4, ring=4) for _ in range(2)}
    assert len(texts) == 1
    assert texts.pop().count("define void @segment_") == 2
