"""Words of codes at their limits: borders, prefixes and the rounding of doubles."""

from fractions import Fraction

import numpy as np
import pytest

from boolcomp.base import DataError
from boolcomp.codes import Code
from boolcomp.problem import CODE_KINDS, Interval

RANGE = Interval(-3.0, 5.0)


def test_a_billionth_of_a_cell_beyond_the_range_is_not_outside_yet() -> None:
    code = Code(Interval(0.0, 4.0), 2, "natural")
    assert [code.cell([value])[1] for value in (-2e-9, -1e-9, 4 + 1e-9, 4 + 2e-9)] == [1, 0, 0, 1]


@pytest.mark.parametrize("kind", CODE_KINDS)
def test_the_prefix_of_full_width_of_a_word_with_a_cell_at_zero_is_that_word(kind: str) -> None:
    code = Code(RANGE, 8, kind, tread=True)  # type: ignore[arg-type]  # parametrised
    assert code.prefix(8) == code
    assert (code.low, code.high) == (-3 - 1 / 64, 5 - 1 / 64)


def test_leading_bits_of_a_word_with_a_cell_at_zero_span_as_much_half_a_step_lower() -> None:
    code = Code(RANGE, 8, "twos", tread=True)
    assert code.prefix(3).range == Interval(code.low, code.high)


def test_a_prefix_has_the_range_of_the_whole_word_to_the_last_digit() -> None:
    code = Code(Interval(-3.3, 1e-7), 8)
    assert code.range.low + code.range.width != code.range.high
    assert code.prefix(3).range == code.range


def test_the_first_value_that_is_not_finite_is_named() -> None:
    with pytest.raises(DataError, match="value nan at place 1 is"):
        Code(RANGE, 8).encode([0.0, np.nan, 1.0, np.inf])


def test_the_rounding_of_doubles_is_told_within_a_factor_of_eight() -> None:
    code = Code(Interval(-3.3, 3.3), 10, "natural")
    low, step = Fraction(-3.3), Fraction(3.3) / 512
    found = code.decode(code.word(range(1024))).tolist()
    errors = [abs(low + (k + Fraction(1, 2)) * step - Fraction(y)) for k, y in enumerate(found)]
    assert code.rounding() / 8 < max(errors) <= code.rounding()


def test_a_text_of_nine_digits_is_off_by_half_of_the_last_one() -> None:
    code = Code(Interval(-1.0, 1.0), 4)
    assert 5e-9 < code.rounding("csv") < 5.01e-9
