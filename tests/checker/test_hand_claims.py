"""Claims of a few words, made by hand, against all of their states.

Inputs lie in the middle of their cells: of what adds up word by word the checker's spans are exact.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.checker.folder import DoesNotHoldError
from boolcomp.checker.graph import Claim, InputCells, OutputSteps, Place
from boolcomp.checker.plain import Plain, cells, line_of, word_of
from boolcomp.checker.problem import Given, Powers, Total
from boolcomp.checker.spans import ONE, Span, between
from boolcomp.words.graph import parse_graph
from boolcomp.words.simulation import node_word

if TYPE_CHECKING:
    from boolcomp.checker.problem import Node
    from boolcomp.words.graph import WordGraph

BITS = {"a": 3, "b": 2}
# Of a and b, counted from the middle: a sum, its double without its lowest bit, a square, products,
# a square of the sum; and a square as a table and a product of two more, which is multiplied by b.
SUM = Total(0.0, ((1.0, (0,)), (0.5, (1,))))
DOUBLE = Total(0.5, ((2.0, (2,)),))
SQUARE = Powers(0, (1.0, 0.0, 1.0))
PRODUCT = Total(0.25, ((-1.0, (0, 1)), (1.0, (2,))))
FUNCTIONS = (
    Given("a", angle=False), Given("b", angle=False), SUM, DOUBLE, SQUARE, PRODUCT,
    Total(0.0, ((1.0, (2, 1)),)), Total(0.0, ((-0.5, (2,)),)), Powers(2, (0.0, 0.0, 1.0)),
    Powers(0, (0.0, 0.0, 1.0)), Total(0.0, ((2.0, (9,)), (1.0, (1,)))),
)  # fmt: skip
OWNERS = {2: (0, 1), 3: (0,), 4: (), 5: (0, 1), 6: (0,), 7: (0,), 10: (0, 0, 1)}
WORDS = {10: (12,)}
PAIRS = {9: (10, 11)}
LINES = [
    "w0[3] = input a unit 2^0",
    "w1[2] = input b unit 2^0",
    "w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + 7 unit 2^-1",
    "w3[5] = heap + w2>>1 << 0 + 10 unit 2^1 at -0.5",
    "w4[4] = table w0:3 13 7 3 1 1 3 7 12 unit 2^0 at 7.0",
    "w5[7] = heap - w0>>0 * w1>>0 << 1 + w2>>1 << 2 + 1 unit 2^-2 at 0.125",
    "w6[8] = heap + w2>>1 * w1>>0 << 0 + 5 unit 2^-1",
    "w7[6] = heap - w2>>1 << 1 + 3 unit 2^-2 at 0.25",
    f"w8[5] = table w2:4 {' '.join(str((k - 8) ** 2 // 3) for k in range(16))} unit 2^0 at 15.5",
    "w9[4] = table w0:3 12 6 3 0 0 3 6 12 unit 2^0 at 7.5",
    "w10[3] = table w0:3 7 5 2 0 1 4 6 7 unit 2^-1 at 0.25",
    "w11[2] = table w0:2 3 1 1 2 unit 2^-1",
    "w12[9] = heap + w9>>1 << 3 - w10>>0 * w11>>0 << 0 + w1>>0 << 2 + 40 unit 2^-2",
]


def plain_of(
    lines: list[str] = LINES, functions: tuple[Node, ...] = FUNCTIONS,
    outputs: tuple[OutputSteps, ...] = (),
) -> Plain:  # fmt: skip
    graph = parse_graph("\n".join([*lines, ""]))
    count = min(len(graph.nodes), len(functions))
    places = tuple(Place(WORDS.get(k, (k,)), PAIRS.get(k), OWNERS.get(k, ())) for k in range(count))
    inputs = {
        name: InputCells(Span(-ONE << bits - 1, ONE << bits - 1), 1 << bits, exact=True)
        for name, bits in BITS.items()
    }
    return Plain(Claim(graph, functions[:count], places, inputs, outputs))


def words_of(graph: WordGraph) -> list[np.ndarray]:
    """Return all words of all states."""
    values: list[np.ndarray] = []
    states = np.array(list(itertools.product(*(range(1 << bits) for bits in BITS.values()))))
    for k in range(len(graph.nodes)):
        values.append(states[:, k] if k < len(BITS) else node_word(graph, k, values)[0])
    return values


def exact_values(plain: Plain) -> list[list[Fraction]]:
    a, b = (
        [Fraction(2 * int(x) + 1 - (1 << bits), 2) for x in column]
        for column, bits in zip(words_of(plain.graph), BITS.values(), strict=False)
    )
    both = list(zip(a, b, strict=True))
    sums = [x + y / 2 for x, y in both]
    return [a, b, sums, [Fraction(1, 2) + 2 * x for x in sums], [1 + x * x for x in a],
            [Fraction(1, 4) - x * y + s for (x, y), s in zip(both, sums, strict=True)],
            [s * y for (_, y), s in zip(both, sums, strict=True)], [-s / 2 for s in sums],
            [s * s for s in sums], [x * x for x in a],
            [2 * x * x + y for x, y in both]]  # fmt: skip


def said_by(graph: WordGraph, place: int) -> list[Fraction]:
    """Return what the words of a function say in all states."""
    values = words_of(graph)

    def said(k: int, offset: float) -> list[Fraction]:
        bits, scale = graph.nodes[k].bits, graph.scales[k]
        middle = Fraction((1 << bits) - 1, 2)
        return [Fraction(offset) + Fraction(2) ** scale.lsb * (int(w) - middle) for w in values[k]]

    (k,) = WORDS.get(place, (place,))
    found = said(k, graph.scales[k].offset)
    if place in PAIRS:
        product = zip(*(said(j, 0.0) for j in PAIRS[place]), strict=True)
        found = [x + y * z for x, (y, z) in zip(found, product, strict=True)]
    return found


def errors(plain: Plain, place: int) -> list[Fraction]:
    said = said_by(plain.graph, place)
    return [x - y for x, y in zip(said, exact_values(plain)[place], strict=True)]


@pytest.mark.parametrize("place", range(len(FUNCTIONS)))
def test_values_and_errors_of_all_states_lie_in_the_spans(place: int) -> None:
    plain = plain_of()
    assert plain.overflow == []
    seen, said = plain.seen[place], said_by(plain.graph, place)
    exact = exact_values(plain)[place]
    assert seen.exact.ends[0] <= min(exact) <= max(exact) <= seen.exact.ends[1]
    assert seen.said.ends[0] <= min(said) <= max(said) <= seen.said.ends[1]
    found = errors(plain, place)
    assert seen.error.ends[0] <= min(found) <= max(found) <= seen.error.ends[1]


@pytest.mark.parametrize("place", [0, 1, 2, 4, 8, 9])
def test_of_sums_of_inputs_and_tables_of_them_errors_are_exact(place: int) -> None:
    plain = plain_of()
    found = errors(plain, place)
    assert plain.seen[place].error.ends == (min(found), max(found))


def test_bits_that_are_dropped_are_off_by_no_more_than_what_they_count() -> None:
    low, high = plain_of().seen[3].error.ends
    found = errors(plain_of(), 3)
    assert (low, high) == (max(found) - 1, max(found))
    assert set(found) == {max(found), max(found) - 1}


@pytest.mark.parametrize(
    ("line", "overflows"),
    [
        ("w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + 14 unit 2^-1 at -3.5", False),
        ("w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + 15 unit 2^-1 at -4.0", True),
        ("w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + 0 unit 2^-1 at 3.5", False),
        ("w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + -1 unit 2^-1 at 4.0", True),
    ],
)
def test_a_sum_that_leaves_its_word_in_some_state_is_listed(line: str, *, overflows: bool) -> None:
    plain = plain_of([*LINES[:2], line])
    assert plain.overflow == [2] * overflows
    if not overflows:
        assert set(errors(plain, 2)) == {0}
        assert plain.seen[2].error == Span(0, 0)


@pytest.mark.parametrize("owners", [(0,), (0, 1, 1), (0, 2), (-1, 1)])
def test_parts_that_belong_to_no_addend_are_refused(
    owners: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OWNERS, 2, owners)
    with pytest.raises(DoesNotHoldError, match="parts of w2 are those of no addend"):
        plain_of(LINES[:3])


def test_parts_of_another_addend_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWNERS, 2, (1, 0))
    with pytest.raises(DoesNotHoldError, match="a part of a sum is not its addend's"):
        plain_of(LINES[:3])


def test_an_addend_without_parts_is_missing_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWNERS, 2, (0,))
    line = "w2[5] = heap + w0>>0 << 1 + 7 unit 2^-1"
    assert plain_of([*LINES[:2], line]).seen[2].error.ends == (Fraction(-3, 2), Fraction(0))


@pytest.mark.parametrize(
    ("allowed", "ends"),
    [
        ((-4, 4), {0: (-4, -3), 7: (3, 4)}),
        ((-2.75, 1.25), {1: (-2.75, -2), 2: (-2, -1), 5: (1, 1.25)}),
        ((-5, 6.5), {0: (-5, -3), 3: (-1, 0), 7: (3, 6.5)}),
        ((0.25, 0.5), {4: (0.25, 0.5)}),
    ],
)
def test_an_input_lies_within_its_cells_and_where_it_may_be(
    allowed: tuple[float, float], ends: dict[int, tuple[float, float]]
) -> None:
    line = line_of(parse_graph(LINES[0]), 0)
    at, near = cells(InputCells(between(*allowed), 8), line, 8, Fraction(1))
    assert (at[0], at[-1]) == (min(ends), max(ends))
    for word, (low, high) in ends.items():
        k = word - int(at[0])
        assert (near.low[k] / ONE, near.high[k] / ONE) == pytest.approx((low, high), abs=1e-6)
        assert near.low[k] <= low * ONE <= high * ONE <= near.high[k]


def test_an_exact_input_lies_in_the_middle_of_cells_and_one_that_wraps_anywhere() -> None:
    line, anywhere = line_of(parse_graph(LINES[0]), 0), between(-9, 9)
    _, near = cells(InputCells(anywhere, 16, exact=True), line, 8, Fraction(1, 2))
    assert (near.low[2], near.high[2]) == (-7 * ONE // 4, -5 * ONE // 4)
    at, near = cells(InputCells(between(1, 2), 8, wraps=True), line, 8, Fraction(1))
    assert len(at) == 8
    assert (near.low[0] / ONE, near.high[0] / ONE) == pytest.approx((-4, -3), abs=1e-6)


@pytest.mark.parametrize("tread", [False, True])
def test_an_output_is_off_by_what_its_word_says_more_than_its_sum(*, tread: bool) -> None:
    text = [*LINES[:2], "w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + 6 unit 2^-1"]
    text.append(f"tau1[4] = w2 >> 1{' tread' * tread}")
    plain = plain_of(text, FUNCTIONS[:3], (OutputSteps("y", 2, Fraction(1), Fraction(1, 8)),))
    words = words_of(plain.graph)[2]
    says = [Fraction(2 * (int(w) >> 1) - 15, 2) + Fraction(1 - 4 * tread, 8) for w in words]
    found = [x - y for x, y in zip(says, exact_values(plain)[2], strict=True)]
    assert plain.error(plain.claim.outputs[0], 0).ends == (min(found), max(found))


def test_an_output_that_may_saturate_or_be_held_at_zero_errs_by_that_as_well() -> None:
    text = [*LINES[:2], LINES[2], "tau1[4] = w2 >> 0"]
    output = OutputSteps("y", 2, Fraction(1), Fraction(0))
    text[2] = "w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + 7 unit 2^0"
    double = (*FUNCTIONS[:2], Total(0.0, ((2.0, (0,)), (1.0, (1,)))))
    plain = plain_of(text, double, (output,))
    assert plain.error(output, 0).ends == (Fraction(-1, 2), Fraction(1, 2))
    rest = {"a": between(-1, 1), "b": between(0, 1)}
    ends = plain.error(replace(output, rest=rest), 0).ends
    assert ends[0] <= -2 - Fraction(1, 2)
    assert ends[1] >= 2 - Fraction(1, 2)


EVERY = """w0[4] = input a angle unit 2^0
w1[3] = input b unit 2^0
w2[5] = angle + w0:3 << 1 - w1:2 << 0 + 5 unit 2^0
w3[6] = table w0:3&5 9 17 33 60 unit 2^0
w4[9] = heap + w3>>1 << 2 - w2>>2 << 1 + 3 unit 2^0
w5[9] = heap + w0>>1 * w1>>0 << -1 + 1 unit 2^0
w6[9] = heap - w1>>0 * w0>>1 << 2 + 0 unit 2^0
w7[3] = wrapping - w0>>0 << 0 + w1>>1 << 2 + 3 unit 2^0
w8[8] = heap - w4>>2 * w1>>1 << -2 + 9 unit 2^0
"""


def test_the_checkers_words_are_those_of_simulation() -> None:
    graph = parse_graph(EVERY)
    states = np.array(list(itertools.product(range(16), range(8))))
    values: list[np.ndarray] = [states[:, 0], states[:, 1]]
    for place in range(2, len(graph.nodes)):
        values.append(node_word(graph, place, values)[0])
        found = word_of(graph, place, dict(enumerate(values[:-1])))
        assert found.tolist() == values[-1].tolist()
