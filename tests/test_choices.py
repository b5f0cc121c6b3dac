"""What a user chooses, as text or as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from boolcomp.common.choices import flag, real, reals, whole, widths
from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("given", [8, 8.0, "8", " 8 ", np.int64(8), np.float32(8)])
def test_a_whole_number_has_many_spellings(given: Any) -> None:
    found = whole("bits", given)
    assert (found, type(found)) == (8, int)


@pytest.mark.parametrize(
    "given", [".4,.6", [0.4, 0.6], (0.4, ".6"), np.array([0.4, 0.6]), iter([0.4, 0.6])]
)
def test_several_numbers_have_many_spellings(given: Any) -> None:
    assert reals("rms_error", given) == (0.4, 0.6)


@pytest.mark.parametrize("given", [0.1, ".1", np.float64(0.1), np.array(0.1), [0.1]])
def test_one_number_serves_all(given: Any) -> None:
    assert reals("rms_error", given) == (0.1,)


def test_input_words_have_one_width_or_each_its_own() -> None:
    same = {"words": 12}
    assert widths("input_bits", 12) == widths("input_bits", "12") == same
    own = {"q": 12, "qdd3": 9}
    assert (
        widths("input_bits", "q=12, qdd3=9") == widths("input_bits", {"q": 12, "qdd3": "9"}) == own
    )
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
    with pytest.raises(UsageError, match=sentence) as caught:
        read("x", given)
    assert len(str(caught.value)) < 150
