"""Claims of a few words, made by hand, against all of their states.

Inputs lie in the middle of their cells: of what adds up word by word the checker's spans are exact.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from shippedarms import built_of

from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.graph import Claim, ClaimedWords, InputCells, OutputSteps, Places, check_part
from boolcomp.checker.groups import StateLimits, common, slope
from boolcomp.checker.plain import PlainBound, cells, line_of, near_words, word_of
from boolcomp.checker.problem import (
    ClaimedCurve,
    ClaimedInput,
    ClaimedPowers,
    ClaimedTotal,
    CurveStep,
)
from boolcomp.checker.spans import NOTHING, ONE, IntegerSpan, between, exactly
from boolcomp.checker.tight import Tight
from boolcomp.compact.result import sketched
from boolcomp.proof.bound.graded import claim_of
from boolcomp.words.graph import Heap, parse_graph, part_reads
from boolcomp.words.simulation import node_word

if TYPE_CHECKING:
    from boolcomp.checker.problem import Node
    from boolcomp.words.graph import WordGraph

BITS = {"a": 3, "b": 2}
# Of a and b, counted from the middle: a sum, its double without its lowest bit, a square, products,
# a square of the sum; and a square as a table and a product of two more, which is multiplied by b.
SUM = ClaimedTotal(0.0, ((1.0, (0,)), (0.5, (1,))))
DOUBLE = ClaimedTotal(0.5, ((2.0, (2,)),))
SQUARE = ClaimedPowers(0, (1.0, 0.0, 1.0))
PRODUCT = ClaimedTotal(0.25, ((-1.0, (0, 1)), (1.0, (2,))))
FUNCTIONS = (
    ClaimedInput("a", angle=False),
    ClaimedInput("b", angle=False),
    SUM,
    DOUBLE,
    SQUARE,
    PRODUCT,
    ClaimedTotal(0.0, ((1.0, (2, 1)),)),
    ClaimedTotal(0.0, ((-0.5, (2,)),)),
    ClaimedPowers(2, (0.0, 0.0, 1.0)),
    ClaimedPowers(0, (0.0, 0.0, 1.0)),
    ClaimedTotal(0.0, ((2.0, (9,)), (1.0, (1,)))),
)
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
) -> PlainBound:  # fmt: skip
    graph = parse_graph("\n".join([*lines, ""]))
    count = min(len(graph.nodes), len(functions))
    places = tuple(
        ClaimedWords(WORDS.get(k, (k,)), PAIRS.get(k), OWNERS.get(k, ())) for k in range(count)
    )
    inputs = {
        name: InputCells(IntegerSpan(-ONE << bits - 1, ONE << bits - 1), 1 << bits, exact=True)
        for name, bits in BITS.items()
    }
    return PlainBound(Claim(graph, functions[:count], places, inputs, outputs))


def words_of(graph: WordGraph) -> list[np.ndarray]:
    """Return all words of all states."""
    values: list[np.ndarray] = []
    states = np.array(list(itertools.product(*(range(1 << bits) for bits in BITS.values()))))
    for k in range(len(graph.nodes)):
        values.append(states[:, k] if k < len(BITS) else node_word(graph, k, values)[0])
    return values


def exact_values(plain: PlainBound) -> list[list[Fraction]]:
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


def saturator(graph: WordGraph, place: int) -> list[Fraction]:
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


def errors(plain: PlainBound, place: int) -> list[Fraction]:
    said = saturator(plain.graph, place)
    return [x - y for x, y in zip(said, exact_values(plain)[place], strict=True)]


@pytest.mark.parametrize("place", range(len(FUNCTIONS)))
def test_values_and_errors_of_all_states_lie_in_the_spans(place: int) -> None:
    plain = plain_of()
    assert plain.overflow == []
    seen, said = plain.seen[place], saturator(plain.graph, place)
    exact, found = exact_values(plain)[place], errors(plain, place)
    for span, values in ((seen.exact, exact), (seen.value, said), (seen.error, found)):
        assert span.ends[0] <= min(values) <= max(values) <= span.ends[1]
    if place in (0, 1, 2, 4, 8, 9):  # sums of inputs, and tables of them
        assert seen.error.ends == (min(found), max(found))


def test_bits_that_are_dropped_are_off_by_no_more_than_what_they_count() -> None:
    low, high = plain_of().seen[3].error.ends
    found = errors(plain_of(), 3)
    assert (low, high) == (max(found) - 1, max(found))
    assert set(found) == {max(found), max(found) - 1}


@pytest.mark.parametrize(("end", "overflows"), [
    ("14 unit 2^-1 at -3.5", False), ("15 unit 2^-1 at -4.0", True),
    ("0 unit 2^-1 at 3.5", False), ("-1 unit 2^-1 at 4.0", True),
])  # fmt: skip
def test_a_sum_that_leaves_its_word_in_some_state_is_listed(end: str, *, overflows: bool) -> None:
    plain = plain_of([*LINES[:2], f"w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + {end}"])
    assert plain.overflow == [2] * overflows
    if not overflows:
        assert set(errors(plain, 2)) == {0}
        assert plain.seen[2].error == IntegerSpan(0, 0)


@pytest.mark.parametrize(("owners", "said"), [
    *((owners, "a part of w2 belongs to no addend")
      for owners in ((0,), (0, 1, 1), (0, 2), (-1, 1))),
    ((1, 0), "a part of a sum does not read its addend"),
])  # fmt: skip
def test_parts_of_no_addend_or_of_another_are_refused(
    owners: tuple[int, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OWNERS, 2, owners)
    with pytest.raises(DoesNotHoldError, match=said):
        plain_of(LINES[:3])


def test_an_addend_without_parts_is_missing_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OWNERS, 2, (0,))
    line = "w2[5] = heap + w0>>0 << 1 + 7 unit 2^-1"
    assert plain_of([*LINES[:2], line]).seen[2].error.ends == (Fraction(-3, 2), Fraction(0))


@pytest.mark.parametrize(("allowed", "ends"), [
    ((-4, 4), {0: (-4, -3), 7: (3, 4)}),
    ((-2.75, 1.25), {1: (-2.75, -2), 2: (-2, -1), 5: (1, 1.25)}),
    ((-5, 6.5), {0: (-5, -3), 3: (-1, 0), 7: (3, 6.5)}), ((0.25, 0.5), {4: (0.25, 0.5)}),
])  # fmt: skip
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
    double = (*FUNCTIONS[:2], ClaimedTotal(0.0, ((2.0, (0,)), (1.0, (1,)))))
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


def test_a_product_beside_a_curve_is_read_where_the_curve_is() -> None:
    places = Places({3: ClaimedWords((7, 8), (9, 10))}, ())
    check_part("s4", (3,), (9, 10), places)
    check_part("s4", (3,), (8,), places)
    for read in ((10, 9), (9, 9), (9,), (7, 8)):
        with pytest.raises(DoesNotHoldError, match=f"s4 reads w{read[0]}"):
            check_part("s4", (3,), read, places)


# Where an output is refused, and curves of angles that are whole turns away

SINE = ClaimedCurve(0, 1.0, 0.0, 1.0, -math.inf, math.inf, angle=True,
             steps=(CurveStep("x"), CurveStep("sin", (0,))))  # fmt: skip


@pytest.mark.parametrize(("turns", "exact", "reached"), [
    ((0.9, 1.0), (-0.2, 0.0), (-0.1, 0.0)), ((0.95, 1.05), (-0.2, 0.0), (-0.05, 0.0)),
    ((-1.05, -0.95), (0.01, 0.2), (0.01, 0.05)), ((0.05, 0.1), (0.0, 0.2), (0.05, 0.1)),
    ((0.9, 1.0), (-0.05, 0.2), (-0.05, 0.0)),
])  # fmt: skip
def test_of_an_angle_whole_turns_away_only_what_it_may_be_counts(
    turns: tuple[float, float], exact: tuple[float, float], reached: tuple[float, float]
) -> None:
    one = between(*turns)
    x = IntegerSpan(np.array([one.low], object), np.array([one.high], object))
    found = near_words(SINE, x, between(*exact)).hull
    low, high = (math.sin(2 * math.pi * end) for end in reached)
    assert (found.low / ONE, found.high / ONE) == pytest.approx((low, high), abs=1e-7)


def test_an_output_of_too_many_cells_is_not_covered() -> None:
    built = built_of("machado-2r", 5)
    plain = PlainBound(claim_of(sketched(built.compact, built.ends)))
    groups = (("qd1", "qd2"), ("qdd1",), ("qdd2",))
    cells = math.prod(2 * len(one.at) for one in Tight(plain, 0, groups).angles)
    assert Tight(plain, 0, groups, StateLimits(cells)).angles
    with pytest.raises(NotCoveredError, match="too many cells of its angles"):
        Tight(plain, 0, groups, StateLimits(cells - 1))


# Tight bounds of a few words: the groups of a, and of b, or of both.


INNER = "w2[5] = heap + w0>>0 << 1 + w1>>0 << 0 + 7 unit 2^-1"
APART, AS_ONE = (("a",), ("b",)), (("a", "b"),)
TIGHT = [  # a sum, what it stands for, by how much its bound may exceed the largest error
    ("w2[6] = heap + w0>>0 << 2 + w1>>0 << 1 + 14", SUM, APART, 0),
    ("w2[6] = heap - w0>>0 << 2 + w1>>0 << 1 + 14",
     ClaimedTotal(0.0, ((-1.0, (0,)), (0.5, (1,)))), APART, 0),
    ("w2[6] = heap + w0>>0 << 2 + w1>>0 << 1 + 14", SUM, AS_ONE, 0),
    ("w2[6] = heap - w0>>0 * w1>>0 << 1 + 10", ClaimedTotal(0.0, ((-0.25, (0, 1)),)), AS_ONE, 0),
    ("w2[6] = heap + w0>>0 << 2 + w1>>0 << 1 + w0>>1 << 0 + 13",
     ClaimedTotal(0.0, ((1.125, (0,)), (0.5, (1,)))), APART, 0),
    (f"{INNER}\nw3[6] = heap + w2>>1 << 2 + 0", ClaimedTotal(0.0, ((1.0, (2,)),)), APART, 1.25),
    (f"{INNER}\nw3[6] = heap - w2>>1 << 2 + 0", ClaimedTotal(0.0, ((-1.0, (2,)),)), APART, 1.25),
    (f"{INNER}\nw3[7] = heap + w2>>0 << 1 + w0>>0 << 1 + 24",
     ClaimedTotal(0.0, ((1.0, (2,)), (0.5, (0,)))), APART, 0),
    (f"{INNER}\nw3[7] = heap - w2>>0 << 1 + w1>>1 << 0 + 32",
     ClaimedTotal(0.0, ((-1.0, (2,)), (0.125, (1,)))), APART, 0),
]  # fmt: skip


# With few states a group is split: into an addend, and a product of a and of a sum of a and b.
JOINT = [
    ("w3[9] = heap + w0>>0 * w2>>0 << 0 + w1>>0 << 1 + 20", ((1.0, (0, 2)), (0.5, (1,)))),
    ("w3[9] = heap - w0>>0 * w2>>0 << 0 + w1>>0 << 1 + 20", ((-1.0, (0, 2)), (0.5, (1,)))),
    ("w3[8] = heap + w0>>0 * w2>>0 << -1 - w0>>1 << 0 + 20", ((0.5, (0, 2)), (-0.125, (0,)))),
    ("w3[9] = heap + w0>>0 * w2>>1 << 1 + w1>>0 << 2 + 5", ((1.0, (0, 2)), (1.0, (1,)))),
    ("w3[9] = heap - w0>>0 * w2>>2 << 1 + w1>>0 << 2 + 9", ((-0.5, (0, 2)), (1.0, (1,)))),
    ("w3[9] = heap + w0>>1 * w2>>0 << 0 - w0>>1 << 0 + 5", ((0.5, (0, 2)), (-0.125, (0,)))),
]  # fmt: skip


def tight_of(
    text: str,
    function: ClaimedTotal,
    groups: tuple[tuple[str, ...], ...],
    limits: StateLimits = StateLimits(),  # noqa: B008 (a tuple)
) -> Tight:
    """Return the tight bound of a sum of inputs that lie anywhere in their cells."""
    last = text.count("\n") + 2
    lines = [*LINES[:2], *f"{text} unit 2^-2".split("\n")]
    bits = int(re.findall(rf"w{last}\[(\d)\]", text)[0]) - 2
    graph = parse_graph("\n".join([*lines, f"tau1[{bits}] = w{last} >> 2", ""]))
    functions = (*FUNCTIONS[:2], *((SUM,) if last == 3 else ()), function)
    owners: dict[int, tuple[int, ...]] = {2: (0, 1)} if last == 3 else {}
    heap = graph.nodes[last]
    assert isinstance(heap, Heap)
    reads = [nodes for _, nodes in function.addends]
    owners[last] = tuple(reads.index(part_reads(part)) for part in heap.parts)
    places = tuple(ClaimedWords((k,), None, owners.get(k, ())) for k in range(len(functions)))
    inputs = {
        name: InputCells(IntegerSpan(-ONE << bits - 1, ONE << bits - 1), 1 << bits)
        for name, bits in BITS.items()
    }
    outputs = (OutputSteps("y", last, Fraction(1), Fraction(0)),)
    plain = PlainBound(Claim(graph, functions, places, inputs, outputs))
    return Tight(plain, 0, groups, limits)


def value_of(function: ClaimedTotal, a: Fraction, b: Fraction) -> Fraction:
    known = [a, b, a + b / 2]
    return sum((Fraction(c) * math.prod(known[k] for k in read) for c, read in function.addends),
               Fraction(function.constant))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("text", "function", "groups", "more"), TIGHT)
def test_a_tight_bound_is_the_largest_error_at_the_corners_of_cells(
    text: str, function: ClaimedTotal, groups: tuple[tuple[str, ...], ...], more: float
) -> None:
    tight = tight_of(text, function, groups)
    low, high = errors_of(tight, function)
    far, tiny = Fraction(20), Fraction(1, 10**6)
    wide = Fraction(more) + tiny
    assert tight.confirm(low - wide, high + wide) == 1
    for ends in ((-far, high - tiny), (low + tiny, far)):
        with pytest.raises(DoesNotHoldError, match="is claimed, but"):
            tight.confirm(*ends)


def errors_of(tight: Tight, function: ClaimedTotal) -> tuple[Fraction, Fraction]:
    """Return the least and the largest error at all corners of cells."""
    values = words_of(tight.graph)
    half = Fraction((1 << tight.graph.results[0].bits) - 1, 2)
    found = [
        int(values[-1][row] >> 2) - half - value_of(
            function, Fraction(int(values[0][row]) - 4 + i), Fraction(int(values[1][row]) - 2 + j)
        )
        for row in range(len(values[0])) for i in (0, 1) for j in (0, 1)
    ]  # fmt: skip
    return min(found), max(found)


@pytest.mark.parametrize("states", [8, 4])
@pytest.mark.parametrize(("text", "addends"), JOINT)
def test_a_group_of_few_states_has_a_close_bound_and_one_of_too_many_that_of_its_addends(
    text: str, addends: tuple[tuple[float, tuple[int, ...]], ...], states: int
) -> None:
    function = ClaimedTotal(0.0, addends)
    tight = tight_of(f"{INNER}\n{text}", function, AS_ONE, StateLimits(states=states))
    assert [len(joint.products) for joint in tight.joints] == [1] * (states == 8)
    low, high = errors_of(tight, function)
    first, last = (low, high) if tight.joints else tight.plain.error(tight.claim.outputs[0], 0).ends
    more = Fraction(tight.slack.size, ONE) + Fraction(1, 10**6)  # cells that bend
    up, down = (found.error for found in tight.worst)
    assert first - more <= -down <= low
    assert high <= up <= last + more
    assert tight.joints or tight.loose.size


@pytest.mark.parametrize("change", [
    {"exact": True}, {"allowed": IntegerSpan(-5 * ONE, 4 * ONE)},
    {"allowed": IntegerSpan(-4 * ONE, 5 * ONE)},
])  # fmt: skip
def test_an_input_that_may_lie_beyond_its_word_or_is_exact_has_no_tight_bound(
    change: dict[str, Any],
) -> None:
    text, function, groups, _ = TIGHT[0]
    claim = tight_of(text, function, groups).claim
    inputs = {**claim.inputs, "a": replace(claim.inputs["a"], **change)}
    with pytest.raises(NotCoveredError, match="a may exceed its word, or is exact"):
        Tight(PlainBound(replace(claim, inputs=inputs)), 0, groups)


def test_derivatives_of_polynomials_and_waves_are_bounded_for_all_inputs() -> None:
    reach = {"x": between(-4, 3), "z": between(-1, 2)}
    poly: Any = {(("x", 3), ("z", 1)): {(): (exactly(-2), NOTHING)}}
    for times, most in enumerate((256, 192, 96, 24, 0)):
        assert slope(poly, "x", times, reach).ends == (Fraction(-most), Fraction(most))
    assert not slope(poly, "y", 1, reach).size
    wave: Any = {(("x", 2),): {(("q", -2),): (exactly(3), exactly(-1))}}
    for times in range(4):
        found = slope(wave, "q", times, reach)
        assert found.low == -found.high
        assert found.high == pytest.approx(64 * (4 * math.pi) ** times * ONE)
    assert slope(wave, "x", 1, reach).high == 32 * ONE


def test_the_rest_of_a_group_is_at_most_the_part_of_a_step_that_is_said() -> None:
    reach = {"x": between(-4, 3), "y": between(0, 1)}
    most, unit = Fraction(1, 1 << 30), Fraction(1, ONE)
    for more in (most, -most, most + unit, -most - unit):
        poly: Any = {
            ((name, 1),): {(): (exactly(factor), NOTHING)}
            for name, factor in (("x", Fraction(1)), ("y", Fraction(1, 4) + more))
        }
        if abs(more) > most:
            with pytest.raises(NotCoveredError, match="several functions of the angles"):
                common(poly, reach)
        else:
            found = common(poly, reach)
            assert found.left.ends == (-most, most)
            assert {key: found.factor * k for key, k in found.monomials.items()} == {
                (("x", 1),): Fraction(1, 2), (("y", 1),): Fraction(1, 8),
            }  # fmt: skip
