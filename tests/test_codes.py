"""Words: exhaustively, for every width up to ten bits."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.codes import CODE_KINDS, Code
from boolcomp.common.errors import DataError, UsageError
from boolcomp.problem.interval import Interval

WIDTHS = range(1, 11)
RANGE = Interval(-3.0, 5.0)


@pytest.mark.parametrize("kind", CODE_KINDS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_every_word_survives_decoding_and_encoding(kind: str, bits: int) -> None:
    code = Code(RANGE, bits, kind)  # type: ignore[arg-type]  # parametrised over the literals
    words = np.arange(1 << bits, dtype=np.uint32)
    encoded = code.encode(code.decode(words))
    assert np.array_equal(encoded.words, words)
    assert encoded.saturated == 0


@pytest.mark.parametrize("bits", WIDTHS)
def test_neighbouring_gray_words_differ_in_one_bit(bits: int) -> None:
    words = Code(RANGE, bits).word(np.arange(1 << bits))
    assert all(int(a ^ b).bit_count() == 1 for a, b in itertools.pairwise(words))


@pytest.mark.parametrize("bits", WIDTHS)
def test_mirrored_values_differ_in_the_first_gray_bit_only(bits: int) -> None:
    code = Code(Interval(-2.0, 2.0), bits)
    values = code.centre(np.arange(1 << bits))
    flipped = code.encode(values).words ^ code.encode(-values).words
    assert (flipped == 1 << (bits - 1)).all()


@pytest.mark.parametrize("kind", CODE_KINDS)
@pytest.mark.parametrize("bits", range(1, 10))
def test_coarse_words_are_prefixes_of_fine_ones(kind: str, bits: int) -> None:
    fine = Code(RANGE, 10, kind)  # type: ignore[arg-type]  # parametrised over the literals
    values = np.linspace(RANGE.low, RANGE.high, 5001)
    coarse = fine.prefix(bits)
    assert np.array_equal(
        coarse.encode(values).words, fine.encode(values).words >> np.uint32(10 - bits)
    )


@pytest.mark.slow
@given(
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 1e3),
    st.integers(1, 24),
    st.sampled_from(CODE_KINDS),
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
)
def test_decoding_what_was_encoded_is_within_half_a_step(
    low: float, width: float, bits: int, kind: str, places: list[float]
) -> None:
    code = Code(Interval(low, low + width), bits, kind)  # type: ignore[arg-type]  # as above
    values = low + width * np.array(places)
    error = np.abs(code.decode(code.encode(values).words) - values)
    assert (error <= code.step * (0.5 + 2e-9) + 1e-12 * (abs(low) + width)).all()


def test_values_outside_the_range_saturate_and_are_counted() -> None:
    encoded = Code(Interval(-1.0, 1.0), 4, "natural").encode([-5.0, -1.0, 0.99, 1.0, 1.01, 9.0])
    assert encoded.words.tolist() == [0, 0, 15, 15, 15, 15]
    assert encoded.saturated == 3


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_an_error_that_names_its_place(bad: float) -> None:
    with pytest.raises(DataError, match=r"value .* at place 2 is not finite"):
        Code(RANGE, 8).encode([0.0, 1.0, bad])


def test_a_value_on_a_border_goes_up_whatever_its_last_bit() -> None:
    code = Code(Interval(-1.0, 1.0), 3, "natural")
    assert code.encode([0.0, -1e-17, 0.25, 0.25 - 1e-16]).words.tolist() == [4, 4, 5, 5]


def test_bad_widths_and_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match=r"a word has 1 to 32 bits, not 0"):
        Code(RANGE, 0)
    with pytest.raises(UsageError, match=r"code 'grey' \(did you mean 'gray'\?\)"):
        Code(RANGE, 8, "grey")  # type: ignore[arg-type]  # that is the mistake
    with pytest.raises(UsageError, match=r"a prefix of 9 bits does not fit"):
        Code(RANGE, 8).prefix(9)
    with pytest.raises(DataError, match=r"word 256 does not fit in 8 bits"):
        Code(RANGE, 8).decode([256])


def test_a_code_reads_as_a_sentence() -> None:
    assert str(Code(Interval(-np.pi, np.pi), 8)) == "gray 8 bits, -pi .. pi"


@pytest.mark.parametrize("turns", [0, 1, -3, 1000])
def test_a_value_just_below_the_border_of_a_turn_begins_the_next(turns: int) -> None:
    code = Code(Interval(-np.pi, np.pi), 8, "natural", wraps=True)
    below = (2 * turns + 1) * np.pi - 1e-12
    assert code.cell([below, below - 2 * code.step])[0].tolist() == [0, 254]
    inner = 2 * turns * np.pi + 3 * code.step
    assert code.cell([inner - 1e-12, inner + 1e-12])[0].tolist() == [131, 131]


@pytest.mark.parametrize("sign", [1, -1])
def test_an_angle_of_more_than_a_million_turns_is_refused_either_way(sign: int) -> None:
    code = Code(Interval(0.0, 2 * np.pi), 8, wraps=True)
    most = 2**20 * 2 * np.pi
    assert code.cell([sign * most])[1] == 0
    with pytest.raises(DataError, match="more than 1048576 turns away"):
        code.cell([0.0, sign * most * 1.001])


@pytest.mark.parametrize("kind", CODE_KINDS)
def test_neighbour_bits_are_those_in_which_the_words_of_the_two_nearest_centres_differ(
    kind: str,
) -> None:
    code = Code(RANGE, 3, kind)  # type: ignore[arg-type]  # cells of width 1 from -3 to 5
    words = {
        "gray": [0, 1, 3, 2, 6, 7, 5, 4],
        "natural": [0, 1, 2, 3, 4, 5, 6, 7],
        "twos": [4, 5, 6, 7, 0, 1, 2, 3],
        "sign-magnitude": [7, 6, 5, 4, 0, 1, 2, 3],
    }[kind]
    for quarters in range(-16, 24):
        lower, beside = divmod(quarters + 3 * 4 - 2, 4)  # the centre below, and how far above it
        between = beside and 0 <= lower < 7
        expected = words[lower] ^ words[lower + 1] if between else 0
        assert code.neighbour_bits([quarters / 4]).tolist() == [expected]


def test_the_first_of_several_values_that_are_not_finite_is_named() -> None:
    with pytest.raises(DataError, match="value nan at place 1 is"):
        Code(RANGE, 8).encode([0.0, np.nan, 1.0, np.inf])


def test_one_word_too_large_among_many_is_refused() -> None:
    assert Code(RANGE, 8).decode([]).size == 0
    with pytest.raises(DataError, match="word 256 does not fit in 8 bits"):
        Code(RANGE, 8).decode([0, 256, 3])


@pytest.mark.parametrize("kind", CODE_KINDS)
def test_the_prefix_of_full_width_is_the_code_itself(kind: str) -> None:
    code = Code(RANGE, 8, kind, wraps=True)  # type: ignore[arg-type]  # parametrised
    assert code.prefix(8) == code
    assert code.prefix(1) == replace(code, bits=1)


def test_a_border_is_met_within_a_billionth_of_a_cell_however_many_turns_away() -> None:
    code = Code(Interval(0.0, 256.0), 8, "natural", wraps=True)
    far = 2.0**23 + 6  # where numbers are 1.9e-9 apart
    assert code.cell([far, np.nextafter(far, 0)])[0].tolist() == [6, 5]


def test_saturation_begins_a_billionth_of_a_cell_beyond_the_range() -> None:
    code = Code(Interval(0.0, 4.0), 2, "natural")
    values = [-2e-9, -0.5e-9, 4 + 0.5e-9, 4 + 2e-9]
    assert [code.cell([value])[1] for value in values] == [1, 0, 0, 1]
    assert code.cell([3 - 2e-9, 3 - 0.5e-9])[0].tolist() == [2, 3]


def test_the_widest_word_has_32_bits() -> None:
    code = Code(Interval(0.0, 1.0), 32, "natural")
    assert code.encode([0.0, 1.0]).words.tolist() == [0, 2**32 - 1]
    assert Code(Interval(0.0, 1.0), 32).decode([2**31]).tolist() == [1 - 2.0**-33]
    with pytest.raises(UsageError, match="not 33"):
        Code(RANGE, 33)


# Signed codes and cells at zero, against words spelled out with Python's own numbers.

SIGNED = Interval(-4.0, 4.0)


def spelled(kind: str, bits: int, cell: int, *, tread: bool) -> str:
    """Return the word of a cell as bits, by its definition."""
    half = 2 ** (bits - 1)
    if kind == "natural":
        return format(cell, f"0{bits}b")
    if kind == "gray":
        natural = format(cell, f"0{bits}b")
        return natural[0] + "".join("01"[a != b] for a, b in itertools.pairwise(natural))
    if kind == "twos":
        return format((cell - half) % 2**bits, f"0{bits}b")
    value = cell - half if tread else cell - half + 0.5  # in steps
    return ("1" if value < 0 else "0") + format(int(abs(value)), f"0{bits - 1}b")[-bits + 1 :]


@pytest.mark.parametrize("tread", [False, True])
@pytest.mark.parametrize("kind", CODE_KINDS)
@pytest.mark.parametrize("bits", range(2, 9))
def test_every_cell_has_the_word_that_its_definition_spells(
    kind: str, bits: int, *, tread: bool
) -> None:
    code = Code(SIGNED, bits, kind, tread=tread)  # type: ignore[arg-type]  # parametrised
    for cell in range(code.first, 2**bits):
        word = int(spelled(kind, bits, cell, tread=tread), 2)
        assert code.word(cell) == word
        assert code.index(word) == cell


@pytest.mark.parametrize("kind", CODE_KINDS)
@pytest.mark.parametrize("bits", range(2, 9))
def test_a_cell_at_zero_stands_for_exactly_zero_and_others_for_whole_steps(
    kind: str, bits: int
) -> None:
    reach = 0.1 * 3
    code = Code(Interval(-reach, reach), bits, kind, tread=True)  # type: ignore[arg-type]
    half = 2 ** (bits - 1)
    step = 2 * reach / 2**bits
    for cell in range(code.first, 2 * half):
        assert code.centre(cell) == (cell - half) * step
        assert code.decode(code.word(cell)) == (cell - half) * step
    assert code.decode(code.encode([0.0, 0.4 * step, -0.4 * step]).words).tolist() == [0.0] * 3
    ends = code.decode(code.encode([reach, -reach]).words) / step
    assert ends.tolist() == pytest.approx([half - 1, -half + code.first])


@pytest.mark.parametrize("kind", CODE_KINDS)
def test_words_with_a_cell_at_zero_saturate_beyond_their_range_and_are_counted(kind: str) -> None:
    code = Code(SIGNED, 3, kind, tread=True)  # type: ignore[arg-type]  # steps of 1
    encoded = code.encode([-4.6, -4.4, -4.0, 3.4, 3.6, 4.0, 4.1])
    assert encoded.saturated == 2
    lowest = -3.0 if kind == "sign-magnitude" else -4.0
    assert code.decode(encoded.words).tolist() == [lowest] * 3 + [3.0] * 4


def test_minus_zero_is_read_as_zero_and_never_made() -> None:
    code = Code(SIGNED, 4, "sign-magnitude", tread=True)
    assert code.decode([0b1000, 0b0000]).tolist() == [0.0, 0.0]
    words = code.encode(np.linspace(-5, 5, 1001)).words
    assert 0b1000 not in words.tolist()


@pytest.mark.parametrize("tread", [False, True])
@pytest.mark.parametrize("kind", CODE_KINDS)
def test_larger_values_have_cells_that_are_no_lower(kind: str, *, tread: bool) -> None:
    code = Code(SIGNED, 5, kind, tread=tread)  # type: ignore[arg-type]  # parametrised
    cells = code.index(code.encode(np.linspace(-4.5, 4.5, 4001)).words)
    assert (np.diff(cells.astype(np.int64)) >= 0).all()
    assert set(cells.tolist()) == set(range(code.first, 32))


@pytest.mark.parametrize("kind", ["gray", "natural", "twos"])
def test_an_angle_with_a_cell_at_zero_wraps(kind: str) -> None:
    code = Code(Interval(-np.pi, np.pi), 4, kind, wraps=True, tread=True)  # type: ignore[arg-type]
    turn = 2 * np.pi
    for cell in range(16):
        angle = (cell - 8) * turn / 16
        for near in (-0.45, 0.0, 0.45):
            values = [angle + near * turn / 16 + k * turn for k in (-3, 0, 1)]
            assert code.index(code.encode(values).words).tolist() == [cell] * 3


@pytest.mark.parametrize("kind", ["gray", "natural", "twos"])
@pytest.mark.parametrize("bits", range(1, 6))
def test_leading_bits_of_a_word_with_a_cell_at_zero_are_the_word_half_a_step_lower(
    kind: str, bits: int
) -> None:
    fine = Code(SIGNED, 6, kind, tread=True)  # type: ignore[arg-type]  # parametrised
    coarse = fine.prefix(bits)
    values = np.linspace(-4.0, 3.9, 3001)
    words = fine.encode(values).words >> np.uint32(6 - bits)
    assert np.array_equal(coarse.encode(values).words, words)
    assert coarse.decode(words).min() == pytest.approx(-4.0625 + coarse.step / 2)


def test_words_that_could_not_hold_what_they_must_are_refused() -> None:
    with pytest.raises(UsageError, match="a cell at zero has two bits or more"):
        Code(SIGNED, 1, "twos", tread=True)
    with pytest.raises(UsageError, match="lacks half a turn: take twos, or rise"):
        Code(Interval(-np.pi, np.pi), 8, "sign-magnitude", wraps=True, tread=True)
    with pytest.raises(UsageError, match="leading bits of sign-magnitude"):
        Code(SIGNED, 8, "sign-magnitude", tread=True).prefix(4)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("tread", [False, True])
@pytest.mark.parametrize("ends", [(-3.3, 3.3), (0.1, 0.7), (999.3, 1000.1), (-1e-3, 7e5)])
def test_answers_are_off_by_no_more_than_the_rounding_of_their_type(
    kind: Any, ends: tuple[float, float], *, tread: bool
) -> None:
    code = Code(Interval(*ends), 10, "natural", tread=tread)
    low, high = map(Fraction, ends)
    step, cells = (high - low) / 1024, range(1024)
    exact = [
        (low + high) / 2 + (k - 512) * step if tread else low + (k + Fraction(1, 2)) * step
        for k in cells
    ]
    found = code.decode(code.word(cells)).astype(kind).tolist()
    most = max(abs(Fraction(y) - x) for y, x in zip(found, exact, strict=True))
    said = code.rounding(np.dtype(kind).name)
    assert most <= said
    assert kind == np.float64 or most > said / 8
