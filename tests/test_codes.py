"""Words: numbers, logic and engines against one definition, at every word of small widths."""

from fractions import Fraction
from itertools import accumulate, pairwise, product
from typing import Any, cast, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.logic import (
    Builder,
    Network,
    cells_of,
    coder,
    representable_cells,
    rest_network,
    resting_network,
)
from boolcomp.problem import CodeKind, Group, Input, Interval, Output, Problem
from boolcomp.program import Program, program_of_network

KINDS: tuple[CodeKind, ...] = get_args(CodeKind)
FORMS = list(product(KINDS, (False, True)))
SIGNED, RANGE = Interval(-4.0, 4.0), Interval(-3.0, 5.0)
TURN = Interval(-np.pi, np.pi)


def spelled(kind: str, bits: int, cell: int, *, tread: bool) -> str:
    """Return the word of a cell as bits, by its definition."""
    half = 2 ** (bits - 1)
    natural = format(cell, f"0{bits}b")
    if kind == "natural":
        return natural
    if kind == "gray":
        return natural[0] + "".join("01"[a != b] for a, b in pairwise(natural))
    if kind == "twos":
        return format((cell - half) % 2**bits, f"0{bits}b")
    value = cell - half if tread else cell - half + 0.5  # in steps
    return ("1" if value < 0 else "0") + format(int(abs(value)), f"0{bits - 1}b")[-bits + 1 :]


def numbers(network: Network, *widths: int) -> list[tuple[int, ...]]:
    """Return the numbers that outputs of such widths spell, for every word of the inputs."""
    found = []
    for word in range(1 << network.inputs):
        values = [0, 1, *(word >> k & 1 for k in reversed(range(network.inputs)))]
        for lut, operands in network.nodes:
            row = sum(values[operand] << 2 - k for k, operand in enumerate(operands))
            values.append(lut >> row & 1)
        text = "".join(str(values[k]) for k in network.outputs)
        ends = [0, *accumulate(widths)]
        found.append(tuple(int(text[a:b], 2) for a, b in pairwise(ends)))
    return found


@pytest.mark.parametrize(("kind", "tread"), FORMS)
@pytest.mark.parametrize("bits", [2, 3, 6])
def test_numbers_and_logic_give_the_word_of_every_cell(
    kind: CodeKind, bits: int, *, tread: bool
) -> None:
    code = Code(SIGNED, bits, kind, tread=tread)
    step, half = 8 / 2**bits, 2 ** (bits - 1)
    made = numbers(coder(kind, bits, tread=tread), bits)
    builder = Builder(bits)
    word_bits = [builder.input(k) for k in range(bits)]
    cells = numbers(builder.build(cells_of(builder, word_bits, kind, tread=tread)), bits)
    first = int(kind == "sign-magnitude" and tread)
    assert code.first == first
    for cell in range(first, 2**bits):
        word = int(spelled(kind, bits, cell, tread=tread), 2)
        value = (cell - half + (0.0 if tread else 0.5)) * step
        assert (int(code.word(cell)), int(code.index(word))) == (word, cell)
        assert code.centre(cell) == code.decode(word) == value
        assert code.encode(value).words == word
        assert (made[cell], cells[word]) == ((word,), (cell,))


def passing() -> Program:
    """Return a program that gives each of eight words, one of every code, as it is read."""
    codes = [Code(SIGNED, 5, kind, tread=tread) for kind, tread in FORMS]
    names = tuple(f"x{k}" for k in range(8))
    inputs = tuple(Input(name, SIGNED, "", SIGNED, SIGNED) for name in names)
    outputs = tuple(Output(f"y{k}", f"Y{k}", SIGNED, "") for k in range(8))
    unused: Any = None
    group, returned = Group("x", names), Group("y", tuple(one.name for one in outputs))
    problem = Problem("pass", "pass", inputs, outputs, (group,), returned, unused, unused)
    builder = Builder(40)
    bits = [x for k in range(8) for x in (*(builder.input(5 * k + j) for j in range(5)), 0)]
    read = dict(zip(names, codes, strict=True))
    return program_of_network(problem, 5, read, codes, builder.build(bits))


@pytest.mark.parametrize("engine", ["numpy", pytest.param("llvm", marks=pytest.mark.check)])
def test_engines_read_and_give_values_by_the_definition_of_each_code(engine: Any) -> None:
    program, step = passing(), 8 / 32
    places = np.concatenate([np.arange(-3, 35, 0.5), np.arange(-3, 35) + 0.01])
    values = np.stack([-4.0 + places * step] * 8, axis=1)
    found = program.evaluate(values, engine=engine)
    saturated = 0
    for k, (name, tread) in enumerate(FORMS):
        cells = np.floor(places + 0.5 * tread).astype(int)
        inside = np.clip(cells, name == "sign-magnitude" and tread, 31)
        exact = -4.0 + (inside + (0.0 if tread else 0.5)) * step
        words = [int(spelled(name, 5, cell, tread=tread), 2) for cell in inside]
        assert found.words[:, k].tolist() == words
        assert found.values[:, k].tolist() == exact.tolist()
        saturated += int(((places < -0.5 * tread) | (places > 32)).sum())
    assert found.saturated_inputs == saturated
    for again in (
        program.evaluate_words(found.words, engine=engine),
        program.evaluate(values.astype(np.float32), engine=engine),
    ):
        assert (again.words == found.words).all()
        assert (again.values == found.values).all()


@given(
    st.floats(-1e3, 1e3),
    st.floats(1e-3, 1e3),
    st.integers(1, 32),
    st.sampled_from(KINDS),
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
)
def test_a_value_is_decoded_within_half_a_step_and_larger_ones_no_lower(
    low: float, width: float, bits: int, kind: CodeKind, places: list[float]
) -> None:
    code = Code(Interval(low, low + width), bits, kind)
    values = low + width * np.array(sorted(places))
    found = code.decode(code.encode(values).words)
    most = code.step * (0.5 + 2e-9) + 1e-12 * (abs(low) + width)
    assert (np.abs(found - values) <= most).all()
    assert (np.diff(found) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [1, 4, 10])
def test_leading_bits_are_the_words_of_a_prefix(kind: CodeKind, bits: int) -> None:
    fine = Code(RANGE, 10, kind, wraps=True)
    values = np.linspace(-3.0, 4.99, 3001)
    words = fine.encode(values).words >> np.uint32(10 - bits)
    assert np.array_equal(fine.prefix(bits).encode(values).words, words)
    assert fine.prefix(10) == fine
    if kind != "sign-magnitude":
        tread = Code(RANGE, 10, kind, tread=True)
        coarse, words = tread.prefix(bits), tread.encode(values).words >> np.uint32(10 - bits)
        assert np.array_equal(coarse.encode(values).words, words)
        assert coarse.low == -3.0 - 8 / 2**11  # its cells are half a step of the fine word lower


@pytest.mark.parametrize(
    ("code", "values", "cells", "saturated"),
    [
        (Code(Interval(-1, 1), 4, "natural"), [-5, -1, 0.99, 1, 1.01, 9], [0, 0, *[15] * 4], 3),
        # A billionth of a cell below a border is on it, and no way beyond the range.
        (Code(Interval(-1, 1), 3), [0.0, -1e-17, 0.25, 0.25 - 1e-16], [4, 4, 5, 5], 0),
        (Code(Interval(0, 4), 2), [-2e-9, -5e-10, 3 - 2e-9, 3 - 5e-10, 4 + 5e-10, 4 + 2e-9],
         [0, 0, 2, 3, 3, 3], 2),
        (Code(Interval(0, 1), 32), [0.0, 1.0], [0, 2**32 - 1], 0),
        (Code(SIGNED, 3, "twos", tread=True), [-4.6, -4.4, -4, 3.4, 3.6, 4, 4.1],
         [0, 0, 0, 7, 7, 7, 7], 2),
        (Code(SIGNED, 3, "sign-magnitude", tread=True), [-4.6, -4.4, -3, 0.4, -0.4, 4.1],
         [1, 1, 1, 4, 4, 7], 2),
        # Angles: the border of a turn and borders within it, however many turns away.
        (Code(TURN, 8, wraps=True), [np.pi - 1e-12, 2001 * np.pi - 1e-12, np.pi - 0.05],
         [0, 0, 253], 0),
        (Code(TURN, 8, wraps=True), [-2000 * np.pi + 3 * np.pi / 128 - 1e-12], [131], 0),
        (Code(TURN, 4, "twos", wraps=True, tread=True), [np.pi / 9, -7 * np.pi, 6.1 * np.pi],
         [9, 0, 9], 0),
        (Code(Interval(0, 256), 8, wraps=True), [2.0**23 + 6, np.nextafter(2.0**23 + 6, 0)],
         [6, 5], 0),
        (Code(Interval(0, 256), 8, wraps=True), [2.0**28, -(2.0**28)], [0, 0], 0),
        (Code(Interval(0, 256), 8, wraps=True), [1 - 1e-9, 1 - 1e-9 - 2e-15], [1, 0], 0),
    ],
)  # fmt: skip
def test_values_have_these_cells_and_saturate(
    code: Code, values: list[float], cells: list[int], saturated: int
) -> None:
    found, beyond = code.cell(values)
    assert (found.tolist(), beyond) == (cells, saturated)
    assert (code.index(code.encode(values).words) == cells).all()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("gray", [0, 1, 3, 2, 6, 7, 5, 4]),
        ("natural", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("twos", [4, 5, 6, 7, 0, 1, 2, 3]),
        ("sign-magnitude", [7, 6, 5, 4, 0, 1, 2, 3]),
    ],
)
def test_neighbour_bits_tell_the_words_of_the_two_nearest_centres_apart(
    kind: CodeKind, words: list[int]
) -> None:
    code = Code(RANGE, 3, kind)  # cells of width 1 from -3 to 5
    for quarters in range(-16, 24):
        lower, beside = divmod(quarters + 3 * 4 - 2, 4)  # the centre below, and how far above it
        between = beside and 0 <= lower < 7
        expected = words[lower] ^ words[lower + 1] if between else 0
        assert code.neighbour_bits([quarters / 4]).tolist() == [expected]


@pytest.mark.parametrize("tread", [False, True])
@pytest.mark.parametrize("ends", [(-3.3, 3.3), (999.3, 1000.1), (-1e-3, 7e5)])
def test_answers_are_off_by_no_more_than_the_rounding_of_their_type(
    ends: tuple[float, float], *, tread: bool
) -> None:
    code = Code(Interval(*ends), 10, "natural", tread=tread)
    low, high = map(Fraction, ends)
    step = (high - low) / 1024
    exact = [
        (low + high) / 2 + (k - 512) * step if tread else low + (k + Fraction(1, 2)) * step
        for k in range(1024)
    ]
    for name in ("float64", "float32"):
        answers = code.decode(code.word(range(1024))).astype(name).tolist()
        most = max(abs(Fraction(y) - x) for y, x in zip(answers, exact, strict=True))
        known = code.rounding(np.dtype(name).name)  # type: ignore[arg-type]  # one of both names
        assert most <= known
        assert name == "float64" or most > known / 8


@pytest.mark.parametrize("bits", [2, 3, 8])
def test_the_lowest_cell_of_sign_magnitude_with_a_zero_code_has_the_word_above_it(
    bits: int,
) -> None:
    code = Code(SIGNED, bits, "sign-magnitude", tread=True)
    assert code.word([0, 1]).tolist() == [code.cells - 1] * 2


def test_minus_zero_is_read_as_zero_and_never_made() -> None:
    code = Code(SIGNED, 4, "sign-magnitude", tread=True)
    assert code.decode([0b1000, 0b0000]).tolist() == [0.0, 0.0]
    assert 0b1000 not in code.encode(np.linspace(-5, 5, 1001)).words.tolist()


def test_the_lowest_cell_that_sign_and_magnitude_cannot_say_becomes_the_one_above() -> None:
    for bits in (2, 3, 6):
        found = numbers(representable_cells("sign-magnitude", bits, tread=True), bits)
        assert [cell for (cell,) in found] == [1, *range(1, 1 << bits)]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Code(RANGE, 0), "a word has 1 to 32 bits, not 0"),
        (lambda: Code(RANGE, 33), "not 33"),
        (lambda: Code(RANGE, 8, cast("Any", "grey")), r"code 'grey'; did you mean 'gray'\?"),
        (lambda: Code(RANGE, 8).prefix(9), "a prefix of 9 bits does not fit"),
        (lambda: Code(RANGE, 8).decode([0, 256, 3]), "word 256 does not fit in 8 bits"),
        (lambda: Code(RANGE, 8).encode([0, np.nan, 1, np.inf]), "value nan at place 1 is not fin"),
        (lambda: Code(RANGE, 8).encode([-np.inf]), "value -inf at place 0 is not finite"),
        (lambda: Code(TURN, 8, wraps=True).cell([0, -7e6]), "more than 1048576 turns away"),
        (lambda: Code(TURN, 8, wraps=True).cell([7e6]), "more than 1048576 turns away"),
        (lambda: Code(SIGNED, 1, "twos", tread=True), "a cell at zero has two bits or more"),
        (lambda: Code(TURN, 8, "sign-magnitude", wraps=True, tread=True), "take twos, or rise"),
        (lambda: Code(SIGNED, 8, "sign-magnitude", tread=True).prefix(4), "leading bits of sign-"),
    ],
)
def test_what_no_word_can_be_is_a_sentence(make: Any, sentence: str) -> None:
    with pytest.raises((bc.UsageError, bc.DataError), match=sentence):
        make()


def test_a_code_reads_as_a_sentence() -> None:
    assert str(Code(TURN, 8)) == "gray 8 bits, -pi .. pi"


@pytest.mark.parametrize("kind", KINDS)
def test_a_code_costs_less_than_three_nodes_a_bit(kind: CodeKind) -> None:
    costs = {"natural": 0, "twos": 1, "gray": 9, "sign-magnitude": 10}
    assert len(coder(kind, 10, tread=False).nodes) <= costs[kind]
    assert len(coder(kind, 10, tread=True).nodes) < 3 * 10


@pytest.mark.parametrize("treads", [(False,), (True, False), (False, False)])
def test_an_arm_rests_where_all_words_are_zero(treads: tuple[bool, ...]) -> None:
    zeros = [{4} if tread else {3, 4} for tread in treads]
    network = rest_network(tuple((3, tread) for tread in treads))
    for number, (rest,) in enumerate(numbers(network, 1)):
        words = [number >> 3 * k & 7 for k in reversed(range(len(treads)))]
        assert rest == all(word in zero for word, zero in zip(words, zeros, strict=True))


def test_at_rest_the_middle_cell_is_row_and_nothing_saturates() -> None:
    for number, (cell, over) in enumerate(numbers(resting_network(4), 4, 1)):
        rest, inside, saturated = number >> 5, number >> 1 & 15, number & 1
        assert (cell, over) == ((8, 0) if rest else (inside, saturated))
