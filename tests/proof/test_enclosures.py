"""Enclosures hold what happens: of every node, in boxes and in heaps; both bounds are combined."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from proof.sketchedstates import drawn
from proof.test_every_word import KINDS
from shippedarms import built_of, shipped

from boolcomp.base.errors import DataError
from boolcomp.checker import PlainBound, box_loops
from boolcomp.checker.box_loops import evaluate
from boolcomp.checker.boxes import GRID, BoxSearch, BoxSteps, StepSlot, heap_fits
from boolcomp.checker.folder import DoesNotHoldError
from boolcomp.checker.graph import Claim, ClaimedWords, InputCells, OutputSteps
from boolcomp.checker.groups import PARTS, add_products
from boolcomp.checker.plain import product_of
from boolcomp.checker.problem import ClaimedInput, ClaimedTotal, ClaimedWaves
from boolcomp.checker.spans import between as span_between
from boolcomp.compact import result as module
from boolcomp.compact.network import WordEnds
from boolcomp.compact.result import proved, sketched
from boolcomp.compact.sketch import TURN, AngleSum, SourceWord, WordSum
from boolcomp.proof.bound.balls import Enclosure, between, exactly, of_ball
from boolcomp.proof.bound.bounds import EFFORT
from boolcomp.proof.bound.graded import USUAL, claim_of, met_with_checker
from boolcomp.proof.bound.plain import Forward, plain_bounds
from boolcomp.proof.bound.sketched import line_of
from boolcomp.words.graph import (
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    WordGraph,
)
from boolcomp.words.simulation import simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.result import Compact
    from boolcomp.proof.bound.balls import Enclosure
    from boolcomp.proof.bound.bounds import Grade

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]


# Intervals of fractions


def holds(found: Enclosure, value: Fraction) -> bool:
    low, high = found.ends
    return low <= value <= high


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


# Every node of graphs at random states


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


@pytest.mark.parametrize("name", KINDS)
def test_sums_of_every_kind_in_boxes_are_enclosed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 1000)
    holds_in_boxes((KINDS[name].made(), WordEnds()), 200)


# Integers, tables and slots


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
GIVEN = tuple(ClaimedInput(one.name, angle=one.angle) for one in WORDS)
NOTHING = ClaimedWaves(0, ())  # a table may have any entries: its error is what it is


def sums(graph: WordGraph) -> Whole:
    """Return the output's heap for all words."""
    grid = np.meshgrid(*(np.arange(1 << node.bits) for node in WORDS), indexing="ij")
    given = {n.name: axis.reshape(-1) for n, axis in zip(WORDS, grid, strict=True)}
    return np.asarray(simulate(graph, given).words[:, 0], np.int64)


def added(bits: int, constant: int, ends: tuple[int, int] = (0, 15)) -> Claim:
    """Return a claim that adds a product and two tables of one angle, never both large.

    No product is discarded; x lies in some of its cells.
    """
    entries = tuple(range(16))
    parts = (Bits(3, 0, 1, negative=False), Bits(4, 0, 1, negative=False),
             PartialProducts(1, 0, 2, 0, 0, negative=False))  # fmt: skip
    nodes = (*WORDS, Lookup(0, 4, entries, 4), Lookup(0, 4, entries[::-1], 4),
             Heap(parts, constant, bits))  # fmt: skip
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 6, (OutputWord(5, 0, bits),))
    factor = float(product_of(graph, parts[2], Fraction(1))[0])
    total = ClaimedTotal(0.0, ((2.0, (3,)), (2.0, (4,)), (factor, (1, 2))))
    words = [ClaimedWords((k,), None, (0, 1, 2) if k == 5 else ()) for k in range(6)]
    x = span_between(Fraction(ends[0] - 8) + Fraction(1, 4), Fraction(ends[1] - 7) - Fraction(1, 4))
    whole = span_between(Fraction(-1, 2), Fraction(1, 2))
    inputs = {"q": InputCells(whole, 32, wraps=True), "x": InputCells(x, 16),
              "y": InputCells(span_between(-8, 8), 16)}  # fmt: skip
    output = OutputSteps("f", 5, Fraction(1), Fraction(0))
    return Claim(graph, (*GIVEN, NOTHING, NOTHING, total), tuple(words), inputs, (output,))


def fits(claim: Claim, effort: int = ENOUGH) -> bool:
    try:
        return heap_fits(BoxSteps(PlainBound(claim)), 5, effort) > 0
    except DoesNotHoldError:
        return False


def test_a_heap_is_proved_exactly_where_no_word_overflows_it() -> None:
    every = sums(added(WIDE, 0).graph)
    lowest, highest = -int(every.min()), 511 - int(every.max())
    assert lowest < highest
    for constant in range(lowest - 2, highest + 3):
        assert fits(added(9, constant)) == (lowest <= constant <= highest), constant


def test_words_that_no_input_has_do_not_overflow_a_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    every = sums(added(WIDE, 0).graph)
    constant = 512 - int(every.max())  # the largest sum just does not fit
    with pytest.raises(DoesNotHoldError, match=r"w5 may overflow: where w0 = \d+, w1 = (0|15)"):
        heap_fits(BoxSteps(PlainBound(added(9, constant))), 5, ENOUGH)
    assert fits(added(9, constant, (1, 14)))
    monkeypatch.setattr("boolcomp.checker.boxes.SOON", 1)
    assert fits(added(9, constant - 1))
    assert not fits(added(9, constant - 1), 1)  # too few boxes


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
