"""Enclosures hold what happens: of every node, in boxes and in heaps; products and cells."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from proof.sketchedstates import drawn
from proof.test_every_word import KINDS
from shippedarms import built_of, made_by_name, shipped

from boolcomp.base.errors import DataError
from boolcomp.checker import PlainBound, box_loops
from boolcomp.checker.box_loops import (
    around,
    asked,
    down,
    evaluate,
    settle,
    times,
    up,
    width,
    word_range,
)
from boolcomp.checker.box_loops import between as ranged
from boolcomp.checker.boxes import (
    FAR,
    GRID,
    BoxSearch,
    BoxSteps,
    StepSlot,
    fixed,
    grid_of,
    heap_fits,
    levels,
    mantissa,
    span_of,
)
from boolcomp.checker.folder import DoesNotHoldError
from boolcomp.checker.graph import Claim, ClaimedWords, InputCells, OutputSteps
from boolcomp.checker.groups import NEVER, PARTS, add_chords, add_products, by_remainder
from boolcomp.checker.plain import product_of
from boolcomp.checker.problem import ClaimedInput, ClaimedTotal, ClaimedWaves, Turns
from boolcomp.checker.spans import ONE, IntegerSpan
from boolcomp.checker.spans import between as span_between
from boolcomp.checker.tight import WorstCells
from boolcomp.compact import result as module
from boolcomp.compact.network import WordEnds
from boolcomp.compact.result import proved, sketched
from boolcomp.compact.sketch import TURN, AngleSum, SourceWord, WordSum
from boolcomp.proof.bound.balls import Enclosure, about, between, exactly, of_ball
from boolcomp.proof.bound.bounds import EFFORT
from boolcomp.proof.bound.graded import USUAL, claim_of, met_with_checker, without_overflow
from boolcomp.proof.bound.plain import Forward, plain_bounds
from boolcomp.proof.bound.sketched import line_of
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
)
from boolcomp.words.simulation import simulate

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.compact.result import Compact
    from boolcomp.proof.bound.balls import Enclosure
    from boolcomp.proof.bound.bounds import Grade

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


# Intervals of fractions


def intervals(rng: random.Random) -> tuple[Enclosure, list[Fraction]]:
    ends = sorted(Fraction(rng.uniform(-4, 4)) for _ in range(2))
    inner = ends[0] + (ends[1] - ends[0]) * Fraction(rng.random())
    return between(*ends), [*ends, inner]


def holds(found: Enclosure, value: Fraction) -> bool:
    low, high = found.ends
    return low <= value <= high


@pytest.mark.parametrize("seed", range(5))
def test_sums_and_products_hold_those_of_all_that_is_enclosed(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 (no secrets)
    (one, xs), (two, ys) = intervals(rng), intervals(rng)
    factor = Fraction(rng.uniform(-3, 3))
    for x in xs:
        assert holds(one.times(factor), factor * x)
        assert holds(-one, -x)
        assert holds(about(one), -x)
        for y in ys:
            assert holds(one + two, x + y)
            assert holds(one - two, x - y)
            assert holds(one * two, x * y)
    low, high = (one * two).ends
    ends = [x * y for x in one.ends for y in two.ends]
    tiny = Fraction(1, 1 << 70)
    assert low >= min(ends) - tiny  # and no wider than that
    assert high <= max(ends) + tiny


def test_a_number_that_is_no_multiple_of_the_unit_lies_inside() -> None:
    third = exactly(Fraction(1, 3))
    assert third.high == third.low + 1
    assert holds(third, Fraction(1, 3))
    assert exactly(0.375).low == exactly(0.375).high == 3 << 77


def test_a_ball_lies_inside() -> None:
    from flint import arb  # a fifth of a second

    third = of_ball(arb(1) / 3)
    assert holds(third, Fraction(1, 3))
    assert third.high - third.low < 1 << 40
    wide = of_ball(arb(1, 0.25))
    assert wide.ends[0] <= Fraction(3, 4)
    assert wide.ends[1] >= Fraction(5, 4)
    with pytest.raises(ValueError, match="has no enclosure"):
        of_ball(arb(1) / arb(0, 1))


def test_two_enclosures_of_one_number_have_something_in_common() -> None:
    assert between(0, 2).meet(between(1, 3)) == between(1, 2)
    assert between(0, 1).join(between(2, 3)) == between(0, 3)
    with pytest.raises(ValueError, match="nothing in common"):
        between(0, 1).meet(between(2, 3))
    assert not between(0, 1).holds(exactly(math.pi))


# Every node of graphs at random states

SLACK = 1e-9  # of what floats say


def check(x: Floats, within: Enclosure, turn: float | None, what: str) -> None:
    low, high = (float(end) for end in within.ends)
    if turn is not None:
        middle = (low + high) / 2
        x = (x - middle + turn / 2) % turn - turn / 2 + middle
    slack = SLACK * max(1.0, abs(low), abs(high))
    assert x.min() >= low - slack, what
    assert x.max() <= high + slack, what


def holds_at_every_node(given: tuple[Compact, WordEnds], count: int) -> None:
    """Hold what is known of every node against random states."""
    said = sketched(*given)
    forward, states = Forward(said), drawn(given[0], count, 7)
    graph = said.graph
    nodes = zip(said.sketch.nodes, forward.enclosures, strict=True)
    for place, (node, known) in enumerate(nodes):
        turns = isinstance(node, AngleSum) or (isinstance(node, SourceWord) and node.angle)
        turning = isinstance(node, WordSum) and node.angle
        turn = 1.0 if turns else float(1 << TURN) if turning else None
        unit = 1 / (2 * math.pi) if turns else 1.0
        middle, value = states.middles[place] * unit, states.values[place] * unit
        check(middle, known.exact, turn, f"{place}: value")
        check(middle - value, known.inputs, turn, f"{place}: inputs")
        pieces = said.places[place]
        if not pieces.words:
            continue
        words = np.zeros(count)
        for k in pieces.words:
            line = line_of(graph, k)
            if isinstance(node, SourceWord):
                (_, line) = forward.line(place) or (0, line)
            words = words + float(line.start) + float(line.step) * states.words[k]
        if pieces.product is not None:
            a, b = (
                (states.words[k] - ((1 << graph.nodes[k].bits) - 1) / 2)
                * 2.0 ** graph.scales[k].lsb
                for k in pieces.product
            )
            words = words + a * b
        if place in forward.outputs:
            words = words - graph.scales[pieces.words[0]].offset
        check(words, known.words, turn, f"{place}: words")
        check(words - middle, known.error.total, turn, f"{place}: error")


@pytest.mark.parametrize("name", [
    "machado-2r", pytest.param("elbow-3r", marks=pytest.mark.slow),
    pytest.param("puma560", marks=pytest.mark.check),
])  # fmt: skip
def test_words_values_and_errors_of_every_node_are_enclosed(name: str) -> None:
    holds_at_every_node(shipped(name), 20_000)


@pytest.mark.check
@pytest.mark.parametrize("name", ["stops", "curved"])
def test_nodes_with_stops_and_curves_are_enclosed(name: str, tmp_path: Path) -> None:
    compact, ends = made_by_name(name, tmp_path)
    holds_at_every_node((compact, ends), 20_000)
    bounds = plain_bounds(sketched(compact, ends))
    assert not bounds.unproved
    assert (np.array(bounds.steps) >= compact.errors.max).all()
    assert (np.array(bounds.steps) <= 3.5 * compact.errors.max).all()


# Sums in random boxes, beside states that lie in them


def boxes_about(steps: BoxSteps, cells: Whole, rng: np.random.Generator) -> tuple[Whole, Whole]:
    """Return boxes that hold cells: of every input some of the lowest bits are open."""
    low, high = (np.array([one[k] for one in steps.inputs]) for k in (2, 3))
    bits = np.array([int(a ^ b).bit_length() for a, b in zip(low, high, strict=True)])
    open_bits = (rng.random(cells.shape) * (bits + 1)).astype(np.int64)
    first = cells >> open_bits << open_bits
    return np.maximum(first, low), np.minimum(first + (1 << open_bits) - 1, high)


def in_boxes(steps: BoxSteps, slot: StepSlot, first: Whole, last: Whole) -> NDArray[np.int64]:
    """Return the slots of all steps in boxes."""
    search = BoxSearch(steps, slot, [0] * 8)
    found = np.zeros((len(first), slot.place + 1, 6), np.int64)
    for slots, low, high in zip(found, first, last, strict=True):
        evaluate(*search.tables, slots, low.astype(np.uint16), high.astype(np.uint16))
    return found


def cells_of(plain: PlainBound, steps: BoxSteps, words: list[Whole], at: list[Floats]) -> Whole:
    """Return in which cells states are: of an angle, those of a grid finer than its words."""
    columns: list[Whole] = []
    for place, shift, *_ in steps.inputs:
        function, seen = plain.claim.functions[place], plain.seen[place]
        cells = words[seen.word or 0]
        if isinstance(function, ClaimedInput) and function.angle:
            wraps = plain.claim.inputs[function.name].wraps
            fine = np.floor((at[place] / (2 * math.pi) + 0.5) * (1 << GRID)).astype(np.int64)
            fine &= (1 << GRID) - 1 if wraps else -1
            if seen.word is None:
                first = 0 if wraps else math.floor((seen.exact.ends[0] + Fraction(1, 2)) * 4096)
                cells = np.clip(fine - first, 0, steps.inputs[len(columns)][3])
            else:
                cells = np.clip(fine, cells << shift, ((cells + 1) << shift) - 1)
        columns.append(cells)
    return np.stack(columns, 1) if columns else np.zeros((len(words[0]), 0), np.int64)


def lies_between(x: Floats, low: Floats, high: Floats, what: str) -> None:
    slack = SLACK * np.maximum(1, np.abs(low) + np.abs(high))
    assert (x >= low - slack).all(), what
    assert (x <= high + slack).all(), what


def holds_in_boxes(given: tuple[Compact, WordEnds], count: int, seed: int = 3) -> None:
    """Hold what is found of every sum in random boxes against states that lie in them.

    States say it by simulation and by the sketch, in floats.
    """
    plain, states = PlainBound(claim_of(sketched(*given))), drawn(given[0], count, seed)
    rng, graph = np.random.default_rng(seed), plain.graph
    for output in plain.claim.outputs:
        steps = BoxSteps(plain)
        last = steps.function(output.node)
        cells = cells_of(plain, steps, states.words, states.values)
        found = in_boxes(steps, last, *boxes_about(steps, cells, rng))
        sums = [
            k for k in plain.claim.needed(output.node)
            if isinstance(one := plain.claim.functions[k], ClaimedTotal) and not one.turning
        ]  # fmt: skip
        for place in sums:
            slot, exact = steps.function(place), states.values[place]
            if slot.place > last.place:
                continue  # read by nothing but functions that have no words
            ends = np.asarray(found[:, slot.place] * 2.0**-slot.scale, np.float64)
            lies_between(exact, ends[:, 2], ends[:, 3], f"{place}: value")
            word = plain.seen[place].word
            if word is not None:
                middle = ((1 << graph.nodes[word].bits) - 1) / 2
                unit = 2.0 ** graph.scales[word].lsb
                digits = np.asarray((states.words[word] - middle) * unit, np.float64)
                lies_between(digits, ends[:, 0], ends[:, 1], f"{place}: words")
                error = np.asarray(digits - exact, np.float64)
                lies_between(error, ends[:, 4], ends[:, 5], f"{place}: error")
        assert sums


def test_sums_in_boxes_are_enclosed() -> None:
    holds_in_boxes(shipped("machado-2r"), 2000)


@pytest.mark.check
@pytest.mark.parametrize("name", ["elbow-3r", "puma560"])
def test_sums_of_arms_in_boxes_are_enclosed(name: str) -> None:
    holds_in_boxes(shipped(name), 500)


@pytest.mark.parametrize("name", KINDS)
def test_sums_of_every_kind_in_boxes_are_enclosed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 1000)
    holds_in_boxes((KINDS[name].made(), WordEnds()), 200)


# Integers, tables and slots


def test_the_rounding_of_a_word_is_that_of_all_words_in_its_interval() -> None:
    bits, drop, shift = 6, 3, 4  # the lowest bit counts 16
    rng, attained = np.random.default_rng(5), 0
    for _ in range(300):
        first = int(rng.integers(0, 60))
        words = np.arange(first, min(63, first + int(rng.integers(0, 12))) + 1)
        digits = (2 * words - 63) << (shift - 1)
        exact = np.sort(digits[[0, -1]] + rng.integers(-80, 81, 2))
        error = np.sort(rng.integers(-120, 121, 2))
        slot = np.array([[digits[0], digits[-1], *exact, *error]], np.int64)
        low, high = asked(slot, 0, np.array([-5, 7, bits, shift, drop, 4], np.int64))
        said = (2 * (words >> drop) - 7) << (shift + drop - 1)
        real = np.arange(exact[0], exact[1] + 1)
        left, errors = digits[:, None] - real, said[:, None] - real
        errors = errors[(left >= error[0]) & (left <= error[1])]
        if len(errors):
            assert low <= errors.min() - 5
            assert errors.max() + 7 <= high
            attained += int(low == errors.min() - 5) + int(high == errors.max() + 7)
    assert attained > 300


def test_boxes_leave_a_heap_the_worst_first_and_of_equal_ones_the_oldest() -> None:
    rng = np.random.default_rng(2)
    for count in range(1, 25):
        keys = rng.integers(0, 5, count)
        heap = np.zeros(count, np.int64)
        for box in range(count):
            box_loops._sink(heap, keys, box, box)  # noqa: SLF001 (beside a sorted list)
        out = []
        for used in range(count, 0, -1):
            out.append(int(heap[0]))
            box_loops._drop(heap, keys, used)  # noqa: SLF001 (beside a sorted list)
        assert out == sorted(range(count), key=lambda box: (-keys[box], box))


def test_whole_numbers_are_rounded_outward_and_products_lie_between_the_best_ends() -> None:
    rng = random.Random(1)  # noqa: S311 (no secrets)
    for _ in range(200):
        x, shift = rng.randint(-999, 999), rng.randint(-3, 9)
        exact = Fraction(x) / Fraction(2) ** shift
        assert (down(x, shift), up(x, shift)) == (math.floor(exact), math.ceil(exact))
        a, b = sorted(rng.randint(-9, 9) for _ in range(2))
        c, d = sorted(rng.randint(-9, 9) for _ in range(2))
        every = [x * y for x in range(a, b + 1) for y in range(c, d + 1)]
        assert times(a, b, c, d) == (min(every), max(every))
        first, last = sorted(rng.randint(0, 300) for _ in range(2))
        assert width(np.int64(first), np.int64(last)) == (first ^ last).bit_length()
        value = Fraction(rng.uniform(-3, 3)) * Fraction(2) ** rng.randint(-20, 20)
        low, high, places = mantissa(value)
        assert low <= value * Fraction(2) ** places <= high <= low + 1 <= 1 << 30
        for scale in (7, 80, 90):
            low, high = map(int, fixed(IntegerSpan(x, x + 3), scale))
            assert low <= Fraction(x, ONE) * (1 << scale) < low + 1
            assert high - 1 < Fraction(x + 3, ONE) * (1 << scale) <= high


def test_ranges_of_entries_are_the_least_and_the_largest_of_them() -> None:
    entries = np.random.default_rng(3).integers(-99, 99, (2, 16)).astype(np.int32)
    low, high = (np.append(np.zeros(5, np.int32), one) for one in levels(*np.sort(entries, axis=0)))
    for first, last in product(range(16), range(40)):
        if first <= last:
            held = np.take(entries, range(first, last + 1), axis=1, mode="wrap")
            ends = int(held.min()), int(held.max())
            assert last > 15 or ranged(low, high, 5, 16, first, last) == ends
            for turns in (-32, 0, 16):
                assert around(low, high, 5, 16, first + turns, last + turns) == ends


def test_harmonics_between_grid_points_are_enclosed_and_slightly_beyond() -> None:
    parts, tie = ((0, 0.5, 0.0), (1, 1.5, -0.25), (3, 0.0, 0.75)), 2.0**-16
    found = grid_of(parts, Fraction(tie))
    rng, points = np.random.default_rng(1), 1 << GRID
    for _ in range(20):
        turns = (np.arange(points) + rng.random(points)) / points + rng.choice([-tie, 0, tie])
        angle = 2 * np.pi * turns
        exact = sum(a * np.cos(k * angle) - b * np.sin(k * angle) for k, a, b in parts)
        low, high = (np.asarray(end / ONE, np.float64) for end in (found.low, found.high))
        lies_between(np.asarray(exact), low, high, "harmonics")
    assert (high - low).max() < 0.01


def test_words_values_and_errors_say_of_each_other_what_is_possible() -> None:
    rng, far = np.random.default_rng(6), np.array([[-FAR, FAR] * 3])
    for _ in range(60):
        word, exact, error = (np.sort(rng.integers(-6, 7, 2)) for _ in range(3))
        possible = [
            (x, y, x - y)
            for x, y in product(range(word[0], word[1] + 1), range(exact[0], exact[1] + 1))
            if error[0] <= x - y <= error[1]
        ]
        slots = np.array([[*word, *exact, *error]])
        settle(slots, 0, far)
        if possible:
            ends = [end for each in zip(*possible, strict=True) for end in (min(each), max(each))]
            assert slots[0].tolist() == ends
        assert (slots[0, ::2] <= slots[0, 1::2]).all()
        bits, shift = 4, 2
        first, last = word_range(4 * slots, 0, bits, shift)
        inside = [k for k in range(16) if 4 * slots[0, 0] <= (2 * k - 15) * 2 <= 4 * slots[0, 1]]
        assert (first, last) == ((inside[0], inside[-1]) if inside else (0, 15))


def test_a_slot_keeps_to_its_limits_unless_nothing_is_left() -> None:
    slots, limits = np.array([[-9, 9, -2, 20, -30, 30]]), np.array([[-4, 5, 0, 9, -FAR, FAR]])
    settle(slots, 0, limits)
    assert slots.tolist() == [[-4, 5, 0, 9, -13, 5]]
    slots = np.array([[6, 7, 0, 0, -30, 30]])
    settle(slots, 0, limits)
    assert slots.tolist() == [[-4, 5, 0, 0, -4, 5]]
    assert span_of(-3, 5, 2) == span_between(Fraction(-3, 4), Fraction(5, 4))


BOXES = {
    "an arm": "0e5fdfc3d891",
    "stops": "7df6255a45c8",
    "a sum times a sum": "8d8b70a23770",
    "words wider than ranges": "6407057df97b",
    "a curve of a sum": "7eddb9e7e2b9",
    "a sum of angles": "f6c9c92e1760",
    "no angle": "2a8f8579a84f",
}  # fmt: skip


@pytest.mark.parametrize("name", BOXES)
def test_what_is_found_in_boxes_is_as_narrow_as_it_always_was(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 1000)
    plain = PlainBound(claim_of(sketched(KINDS[name].made(), WordEnds())))
    rng, digest = np.random.default_rng(1), hashlib.sha256()
    for output in plain.claim.outputs:
        steps = BoxSteps(plain)
        last = steps.function(output.node)
        low, high = ([one[k] for one in steps.inputs] for k in (2, 3))
        ends = np.sort(rng.integers(low, np.array(high) + 1, (2, 12, len(low))), 0)
        digest.update(in_boxes(steps, last, *ends).tobytes())
    assert digest.hexdigest()[:12] == BOXES[name]


# Heaps have bits enough, or are named: beside sums of all words that there are

ENOUGH = 100_000_000  # steps over boxes
WIDE = 20  # bits of a heap that holds every sum here
WORDS = (InputWord("q", 5, angle=True), InputWord("x", 4, angle=False),
         InputWord("y", 4, angle=False))  # fmt: skip
GIVEN = (ClaimedInput("q", angle=True), ClaimedInput("x", angle=False),
         ClaimedInput("y", angle=False))  # fmt: skip
NOTHING = ClaimedWaves(0, ())  # a table may have any entries: its error is what it is


def heap_claim(
    nodes: Sequence[Node], functions: Sequence[ClaimedWaves | Turns | ClaimedTotal],
    owners: Sequence[Sequence[int]], ends: tuple[int, int] = (0, 15),
) -> Claim:  # fmt: skip
    """Return the claim of a graph, whose last node is the output, with x in some of its cells.

    The factors of products are those of their parts, all others are 1.
    """
    every = (*WORDS, *nodes)
    scales = [Scale(-node.bits if isinstance(node, Angles) else 0, 0.0) for node in every]
    result = OutputWord(len(every) - 1, 0, every[-1].bits)
    graph = WordGraph(every, tuple(scales), (result,))
    words = [ClaimedWords((k,), None, tuple(owned)) for k, owned in enumerate(owners)]
    made = [
        replace(one, addends=tuple(_addend(graph, graph.nodes[k], own) for own in one.addends))
        if isinstance(one, ClaimedTotal) else one
        for k, one in enumerate((*GIVEN, *functions))
    ]  # fmt: skip
    whole = span_between(Fraction(-1, 2), Fraction(1, 2))
    x = span_between(Fraction(ends[0] - 8) + Fraction(1, 4), Fraction(ends[1] - 7) - Fraction(1, 4))
    inputs = {"q": InputCells(whole, 32, wraps=True), "x": InputCells(x, 16),
              "y": InputCells(span_between(-8, 8), 16)}  # fmt: skip
    output = OutputSteps("f", len(made) - 1, Fraction(1), Fraction(0))
    return Claim(graph, tuple(made), tuple(words), inputs, (output,))


def _addend(
    graph: WordGraph, heap: Node, own: tuple[float, tuple[int, ...]]
) -> tuple[float, tuple[int, ...]]:
    if len(own[1]) < 2 or not isinstance(heap, Heap):
        return own
    (part,) = (
        one for one in heap.parts if isinstance(one, PartialProducts) and (one.a, one.b) == own[1]
    )
    return float(product_of(graph, part, Fraction(1))[0]), own[1]


def random_heaps(seed: int) -> Claim:
    """Return a random graph: sums of angles, tables, and two heaps, one within the other."""
    rng = np.random.default_rng(seed)
    turns = (Turn(0, int(rng.integers(2, 6)), int(rng.integers(0, 3)), bool(rng.integers(2))),
             Turn(0, 5, 0, bool(rng.integers(2))))  # fmt: skip
    angle = Angles(turns, int(rng.integers(32)), 5)
    entries = tuple(int(x) for x in rng.integers(0, 32, 32))
    masked = tuple(int(x) for x in rng.integers(0, 16, 8))
    tables = (Lookup(3, 5, entries, 5), Lookup(0, 4, masked, 4, mask=0b1011))
    one = (Bits(4, 1, int(rng.integers(3)), bool(rng.integers(2))),
           PartialProducts(1, int(rng.integers(2)), 5, 0, int(rng.integers(-4, 2)),
                           bool(rng.integers(2))))  # fmt: skip
    inner = Heap(one, int(rng.integers(0, 40)), 12)
    other = (Bits(6, 2, 0, bool(rng.integers(2))), Bits(5, 1, 1, bool(rng.integers(2))),
             PartialProducts(4, 1, 2, 1, int(rng.integers(-3, 3)), bool(rng.integers(2))),
             PartialProducts(6, 3, 2, 0, int(rng.integers(-5, 2)), negative=False))  # fmt: skip
    nodes = (angle, *tables, inner, Heap(other, int(rng.integers(100)), WIDE))
    functions = (Turns(((1, 0),)), replace(NOTHING, source=3), NOTHING,
                 ClaimedTotal(0.0, ((1.0, (4,)), (1.0, (1, 5)))),
                 ClaimedTotal(0.0, ((1.0, (6,)), (1.0, (5,)), (1.0, (4, 2)), (1.0, (6, 2)))),
                )  # fmt: skip
    return heap_claim(nodes, functions, ((), (), (), (), (), (), (0, 1), (0, 1, 2, 3)))


def sums(graph: WordGraph, low: Sequence[int], high: Sequence[int]) -> Whole:
    """Return the output's heap for all words of a box."""
    axes = [np.arange(a, b + 1) for a, b in zip(low, high, strict=True)]
    grid = np.meshgrid(*axes, indexing="ij")
    given = {n.name: axis.reshape(-1) for n, axis in zip(WORDS, grid, strict=True)}
    return np.asarray(simulate(graph, given).words[:, 0], np.int64)


@pytest.mark.parametrize("seed", range(16))
def test_sums_of_all_words_of_a_box_lie_in_its_range(seed: int) -> None:
    claim, rng = random_heaps(seed), np.random.default_rng(seed)
    steps = BoxSteps(PlainBound(claim))
    slot = steps.function(claim.outputs[0].node)
    order = [place for place, *_ in steps.inputs]
    full = [1 << node.bits for node in WORDS]
    ends = np.sort(rng.integers(0, np.array(full)[:, None, None], (3, 12, 2)), axis=2)
    ends[:, 0] = [(0, size - 1) for size in full]
    ends[:, 1, 1] = ends[:, 1, 0]  # a single word
    shift = np.array([[one[1]] for one in steps.inputs])
    first, last = ends[order, :, 0] << shift, ((ends[order, :, 1] + 1) << shift) - 1
    found = in_boxes(steps, slot, first.T, last.T)[:, slot.place, :2] * 2.0**-slot.scale
    middle = ((1 << WIDE) - 1) / 2
    for k, (low, high) in enumerate(found + middle):
        all_of_it = sums(claim.graph, ends[:, k, 0].tolist(), ends[:, k, 1].tolist())
        assert low <= all_of_it.min()
        assert all_of_it.max() <= high
        if k == 1:
            lost = sum(
                sum(n * 2.0**c for c, n in part.layout(claim.graph.nodes).diagonals() if c < 0)
                for node in claim.graph.nodes if isinstance(node, Heap)
                for part in node.parts if isinstance(part, PartialProducts)
            )  # fmt: skip
            assert high - low <= 16 * (2 * lost + 1)


def added(bits: int, constant: int, ends: tuple[int, int] = (0, 15)) -> Claim:
    """Return a claim that adds a product and two tables of one angle, never both large.

    No product is discarded.
    """
    entries = tuple(range(16))
    tables = (Lookup(0, 4, entries, 4), Lookup(0, 4, entries[::-1], 4))
    parts = (Bits(3, 0, 1, negative=False), Bits(4, 0, 1, negative=False),
             PartialProducts(1, 0, 2, 0, 0, negative=False))  # fmt: skip
    total = ClaimedTotal(0.0, ((2.0, (3,)), (2.0, (4,)), (1.0, (1, 2))))
    nodes = (*tables, Heap(parts, constant, bits))
    return heap_claim(nodes, (NOTHING, NOTHING, total), ((), (), (), (), (), (0, 1, 2)), ends)


def fits(claim: Claim, effort: int = ENOUGH) -> bool:
    try:
        return heap_fits(BoxSteps(PlainBound(claim)), 5, effort) > 0
    except DoesNotHoldError:
        return False


def test_a_heap_is_proved_exactly_where_no_word_overflows_it() -> None:
    full = [(1 << node.bits) - 1 for node in WORDS]
    every = sums(added(WIDE, 0).graph, (0, 0, 0), full)
    lowest, highest = -int(every.min()), 511 - int(every.max())
    assert lowest < highest
    for constant in range(lowest - 2, highest + 3):
        assert fits(added(9, constant)) == (lowest <= constant <= highest), constant


def test_words_that_no_input_has_do_not_overflow_a_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    full = [(1 << node.bits) - 1 for node in WORDS]
    every = sums(added(WIDE, 0).graph, (0, 0, 0), full)
    constant = 512 - int(every.max())  # the largest sum just does not fit
    with pytest.raises(DoesNotHoldError, match=r"w5 may overflow: where w0 = \d+, w1 = (0|15)"):
        heap_fits(BoxSteps(PlainBound(added(9, constant))), 5, ENOUGH)
    assert fits(added(9, constant, (1, 14)))
    monkeypatch.setattr("boolcomp.checker.boxes.SOON", 1)
    assert fits(added(9, constant - 1))
    assert not fits(added(9, constant - 1), 1)  # too few boxes


@pytest.mark.check
@pytest.mark.parametrize("name", ["elbow-3r", "puma560"])
def test_boxes_show_that_heaps_fit_which_spans_leave_open(name: str) -> None:
    plain = PlainBound(claim_of(sketched(*shipped(name))))
    assert plain.overflow
    for word in plain.overflow:
        assert heap_fits(BoxSteps(plain), word, ENOUGH) > 0


@pytest.mark.check
def test_a_heap_of_the_elbow_that_overflows_is_named() -> None:
    built = built_of("elbow-3r", 8)
    said = sketched(built.compact, built.ends)
    plain = plain_bounds(said)
    assert plain.unproved
    assert not without_overflow(said, plain).unproved
    graph, place = built.compact.graph, plain.unproved[0]
    heap = graph.nodes[place]
    assert isinstance(heap, Heap)
    nodes = list(graph.nodes)
    nodes[place] = replace(heap, constant=heap.constant + (1 << heap.bits) // 16)
    other = replace(built.compact, graph=WordGraph(tuple(nodes), graph.scales, graph.results))
    moved = sketched(other, built.ends)
    assert without_overflow(moved, plain_bounds(moved)).unproved == (place,)
    rng = np.random.default_rng(5)  # and it does overflow: at ends of ranges, that is
    given = {n.name: rng.integers(0, 1 << n.bits, 200_000) for n in graph.inputs}
    for node in graph.inputs:
        if not node.angle:
            given[node.name] = rng.choice([0, (1 << node.bits) - 1], 200_000)
    assert simulate(other.graph, given).wrapped == (place,)


# Products, cells and their worst


def test_a_product_is_the_worst_between_both_ends_of_its_error() -> None:
    unit = 1 << PARTS
    grid = np.arange(-40, 41, 10) * unit
    upward, downward = np.abs(grid + 7 * unit), np.abs(grid - 12 * unit)  # both are convex
    ends, one = np.stack([upward, downward])[:, None, None], np.zeros((1, 1), np.int64)
    for least, most in product(range(-40, 41, 9), repeat=2):
        if least <= most:
            total, low, high = np.zeros((2, 1, 1), np.int64), one + least * unit, one + most * unit
            add_products(total, one, one, low, high, -40 * unit, 10 * unit, ends)
            within = np.arange(least, most + 1) * unit
            for found, errors in zip(total[:, 0, 0], (upward, downward), strict=True):
                largest = np.interp(within, grid, errors).max()
                assert largest <= found <= largest + 2 * unit


def test_chords_are_above_a_convex_function_and_meet_it_at_points() -> None:
    unit = 1 << PARTS
    grid = np.arange(0, 81, 10) * unit
    values = (grid // unit - 33) ** 2 * unit
    ends = np.stack([values, -grid])[:, None, None]
    a, none = np.arange(81) * unit, np.zeros(81, np.int64)
    total = np.ones((2, 81, 2), np.int64)
    add_chords(total, none, a, none[:1], np.full(1, 10 * unit), ends, none[:2])
    for found, points in zip(total, ends[:, 0, 0], strict=True):
        chords = np.interp(a, grid, points)
        assert (found - 1 >= chords[:, None]).all()
        assert (found - 1 <= chords[:, None] + 2 * unit).all()


def test_only_the_worst_cells_are_lowered() -> None:
    errors = np.random.default_rng(3).permutation(300)
    worst = WorstCells(100)
    for start in range(0, 300, 50):
        worst.offer(errors[start : start + 50], start, 0)
    assert worst.errors[0] == 299
    assert worst.dropped[0] == 199
    worst.improve(lambda cells, _: (cells % 7 + 1) * 10)
    lowered = errors - np.where(errors > 199, (np.arange(300) % 7 + 1) * 10, 0)
    assert worst.refined(lambda *_: 0, 0, 0) == (lowered.max(), int(np.argmax(lowered)))


def test_cells_are_evaluated_until_no_other_can_have_a_larger_error() -> None:
    worst, seen = WorstCells(10), []
    worst.offer(np.arange(20), 0, 1)

    def leaf(cell: int, side: int, best: int) -> int:
        seen.append((cell, side, best))
        return cell - 3

    assert worst.refined(leaf, 8, 3) == (16, 19)
    assert seen == [(19, 1, 14), *((cell, 1, 16) for cell in range(18, 13, -1))]
    assert WorstCells(10).refined(leaf, 8, 0)[0] == NEVER


def test_equal_contributions_have_one_remainder() -> None:
    put, none = np.array([1, 3, 2]), np.zeros(3, np.int64)
    assert by_remainder(put, none, none, 0, 1, 0, 2).tolist() == [2, 3]
    assert by_remainder(put[:2], none, none, 0, -1, 0, 2).tolist() == [NEVER, -1]


# Elementary functions

# The tighter of the bounds of the compiler and of the checker


def test_every_output_has_the_tighter_end_of_both_bounds() -> None:
    built = built_of("machado-2r", 8)
    said = sketched(built.compact, built.ends)
    own, plain = plain_bounds(said), PlainBound(claim_of(said))
    shown = proved(built.compact, built.ends, "plain", 1)
    assert shown is not None
    for k, (one, alone) in enumerate(zip(shown.outputs, own.outputs, strict=True)):
        low, high = plain.error(plain.claim.outputs[k], k).ends
        assert (one.low, one.high) == (max(low, alone.low), min(high, alone.high))
        assert one.steps < 0.96 * alone.steps
        assert built.worst.largest[k] <= one.steps


@pytest.mark.check
def test_only_heaps_that_neither_bound_proves_are_named() -> None:
    built = built_of("elbow-3r", 8)
    said = sketched(built.compact, built.ends)
    own, plain = plain_bounds(said), PlainBound(claim_of(said))
    assert own.unproved
    assert plain.overflow
    every = tuple(range(len(said.graph.nodes)))
    assert met_with_checker(said, replace(own, unproved=every)).unproved == tuple(plain.overflow)
    assert met_with_checker(said, replace(own, unproved=())).unproved == ()


def test_bounds_that_exclude_each_other_are_refused() -> None:
    built = built_of("machado-2r", 5)
    said = sketched(built.compact, built.ends)
    own = plain_bounds(said)
    away = [replace(one, low=Fraction(90), high=Fraction(99)) for one in own.outputs]
    with pytest.raises(DataError, match="exclude each other"):
        met_with_checker(said, replace(own, outputs=tuple(away)))


@pytest.mark.parametrize(("grade", "effort", "asked"), [
    (None, None, ("tight", USUAL)), (None, 50, ("tight", 50)),
    ("tight", None, ("tight", EFFORT)), ("plain", None, ("plain", EFFORT)),
    ("tables", 7, ("tables", 7)),
])  # fmt: skip
def test_the_grade_and_effort_that_are_asked_for_are_used(
    grade: Grade | None, effort: int | None, asked: tuple[str, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    built, seen = built_of("machado-2r", 4), []
    monkeypatch.setattr(module, "bounds_of", lambda *given: seen.append(given[1:3]))
    assert proved(built.compact, built.ends, grade, effort) is None
    assert seen == [asked]
