"""What a user chooses, as text or as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.base import flag, real, reals, whole, widths

if TYPE_CHECKING:
    from collections.abc import Callable


def test_numbers_have_many_spellings() -> None:
    for given in (8, 8.0, "8", " 8 ", np.int64(8), np.float32(8)):
        found = whole("bits", given)
        assert (found, type(found)) == (8, int)
    several: list[Any] = [".4,.6", [0.4, 0.6], (0.4, ".6"), np.array([0.4, 0.6]), iter([0.4, 0.6])]
    assert [reals("rms_error", given) for given in several] == [(0.4, 0.6)] * 5
    alone: list[Any] = [0.1, ".1", np.float64(0.1), np.array(0.1), [0.1]]
    assert [reals("rms_error", given) for given in alone] == [(0.1,)] * 5


def test_input_words_have_one_width_or_each_its_own() -> None:
    same: list[Any] = [12, "12"]
    assert [widths("input_bits", given) for given in same] == [{"words": 12}] * 2
    own: list[Any] = ["q=12, qdd3=9", {"q": 12, "qdd3": "9"}]
    assert [widths("input_bits", given) for given in own] == [{"q": 12, "qdd3": 9}] * 2
    assert widths("input_bits", None) == {}


@pytest.mark.parametrize(
    ("read", "given", "sentence"),
    [
        (whole, "eight", "x 'eight': give a whole number"),
        (whole, 8.5, "x 8.5: give a whole number"),
        (whole, True, "x True: give a whole number"),
        (whole, "9" * 5000, "x '999"),
        (whole, float("inf"), "x inf: give a whole number"),
        (real, "soon", "x 'soon': give a number"),
        (real, [1.0], r"x \[1.0\]: give a number"),
        (flag, "no", "x 'no': give True or False"),
        (reals, "a lot", "x 'a lot': give LSB, such as .5, or one a joint"),
        (reals, float("nan"), "x nan: give LSB"),
        (reals, {1: 0.5}, "give LSB"),
        (reals, 10**400, "give LSB"),
        (reals, [[0.4, 0.6]], "give LSB"),
        (widths, "q:12", "x 'q:12': give bits, such as 10, or q=12,qd=8"),
        (widths, 8.5, "give bits"),
        (widths, {"q": None}, "give bits"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(
    read: Callable[[str, Any], object], given: Any, sentence: str
) -> None:
    with pytest.raises(bc.UsageError, match=sentence) as caught:
        read("x", given)
    assert len(str(caught.value)) < 150
