"""Proved bounds of a word graph, of a grade that is requested or that follows from the work.

The grades of bounds are these. Plain bounds go node by node. With tables, each addend of an
output's sum is bounded separately over all words that it reads. Tight bounds examine all cells of
the angles of an output with at most two angles. Other outputs, and those with too large groups, are
bounded by branch and bound over boxes of inputs. Functions given as steps with few cells are
bounded cell by cell against the specified function itself. Every output also has the checker's
plain bound, which examines words of tables value by value; the tighter end of both is used.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError
from boolcomp.base.workers import ALONE, SharedValue
from boolcomp.checker import graph, problem
from boolcomp.checker.boxes import BoxedOutput, BoxSteps, heap_fits
from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.groups import StateLimits, groups_of
from boolcomp.checker.plain import PlainBound
from boolcomp.checker.spans import IntegerSpan
from boolcomp.checker.tight import Tight
from boolcomp.proof.bound import meaning as meanings
from boolcomp.proof.bound.balls import ONE, ZERO, between
from boolcomp.proof.bound.cells import cell_bounds, cells_of, most_cells
from boolcomp.proof.bound.meaning import (
    BOXES,
    EFFORT,
    AddendSum,
    Bound,
    Bounds,
    Causes,
    GivenWord,
    LinearPart,
    NotPlainError,
    TurnSum,
    rounded_up,
)
from boolcomp.proof.bound.plain import beyond_ends, plain_bounds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.base.workers import Workers
    from boolcomp.proof.bound.balls import Enclosure
    from boolcomp.proof.bound.meaning import Explained, Grade, Meaning

    Ends = tuple[Fraction, Fraction]


# --------------------------------------------------------------------------------------------------
# The checker's plain bound, which is tighter than the compiler's for most outputs.
# --------------------------------------------------------------------------------------------------


def met_with_checker(explained: Explained, bounds: Bounds) -> Bounds:
    """Intersect the compiler's bounds with the checker's plain bounds.

    Both hold unless a heap overflows; a heap that either proves to fit is no longer a condition.
    Bounds of a graph that the checker does not cover are returned unchanged. A `DataError` reports
    two bounds of an output without intersection, one of which must be wrong.
    """
    if all(one.of_specification for one in bounds.outputs):
        return bounds  # the checker's bounds are those of the sketch
    try:
        plain = checked(explained)
        ends = [plain.error(one, k).ends for k, one in enumerate(plain.claim.outputs)]
    except (DataError, NotCoveredError):
        return bounds
    pairs = zip(bounds.outputs, ends, strict=True)
    own = [replace(one, low=low, high=high) for one, (low, high) in pairs]
    theirs = beyond_ends(explained, replace(bounds, outputs=tuple(own)))
    both = zip(bounds.outputs, theirs.outputs, strict=True)
    outputs = tuple(
        replace(one, low=max(one.low, two.low), high=min(one.high, two.high)) for one, two in both
    )
    if empty := [one.name for one in outputs if one.low > one.high]:
        raise DataError(f"two bounds of {empty[0]} exclude each other")
    unproved = tuple(k for k in bounds.unproved if k in plain.overflow)
    return replace(bounds, outputs=outputs, unproved=unproved)


@lru_cache(maxsize=2)  # the bounds of all outputs need it
def checked(explained: Explained) -> PlainBound:
    """Return the checker's plain bound of a graph."""
    return PlainBound(claim_of(explained))


def claim_of(explained: Explained) -> graph.Claim:
    """Convert an explained graph to a claim of the checker."""
    outputs = tuple(
        graph.OutputSteps(
            one.name, one.meaning, Fraction(one.step), one.shift,
            None if one.rest is None else {name: _span(x) for name, x in one.rest},
        )
        for one in explained.results
    )  # fmt: skip
    inputs = {
        one.name: graph.InputCells(_span(one.allowed), one.cells, one.part, one.wraps, one.exact)
        for one in explained.meanings
        if isinstance(one, meanings.GivenWord)
    }
    functions = tuple(map(_function, explained.meanings))
    places = tuple(map(_place, explained.meanings))
    return graph.Claim(explained.graph, functions, places, inputs, outputs)


def _span(x: Enclosure) -> IntegerSpan:
    return IntegerSpan(x.low, x.high)


def _function(one: meanings.Meaning) -> problem.Node:
    if isinstance(one, meanings.GivenWord):
        return problem.ClaimedInput(one.name, one.angle)
    if isinstance(one, meanings.TurnSum):
        return problem.Turns(tuple((multiple, item) for item, multiple in one.items))
    if isinstance(one, meanings.WaveTable):
        return problem.ClaimedWaves(one.source, one.parts)
    if isinstance(one, meanings.PowerTable):
        return problem.ClaimedPowers(one.source, one.coefficients)
    if isinstance(one, meanings.CurveTable):
        steps = tuple(
            problem.CurveStep("x" if x.kind == "input" else x.kind, x.operands, x.value)
            for x in one.function.nodes[: one.function.outputs[0].node + 1]
        )
        ends = one.unit, one.middle, one.factor, one.low, one.high, one.angle
        return problem.ClaimedCurve(one.source, *ends, steps)
    addends = tuple(
        (x.factor, (x.meaning,) if isinstance(x, meanings.LinearPart) else (x.a, x.b))
        for x in one.addends
    )
    return problem.ClaimedTotal(one.constant, addends, one.turning)


def _place(one: meanings.Meaning) -> graph.ClaimedWords:
    if isinstance(one, meanings.AddendSum):
        return graph.ClaimedWords(() if one.word is None else (one.word,), None, one.owners)
    if isinstance(one, meanings.GivenWord | meanings.TurnSum):
        return graph.ClaimedWords(() if one.word is None else (one.word,))
    return graph.ClaimedWords(one.pieces.words, one.pieces.product)


# --------------------------------------------------------------------------------------------------
# The default grade of bounds: tight if that takes little work, else plain.
#
# Work is counted in advance, so that a graph has the same bound on any machine. The count is that
# of steps over all boxes that branch and bound may visit, or of cells if the graph is enumerated.
# The same effort limits cells of angles.
# --------------------------------------------------------------------------------------------------

USUAL = 20  # effort: millions of cells and states, thousands of boxes
MOST = 10_000_000  # steps over all boxes, about 5 s of processor time


def usual_grade(explained: Explained) -> Grade:
    """Return the default grade of a graph's bounds.

    It depends only on the number of cells, or else on the steps over boxes of all outputs.
    """
    if _has_few_cells(explained):
        return "tight"
    steps = sum(_steps(explained, one.meaning) for one in explained.results)
    return "tight" if steps * USUAL * BOXES <= MOST else "plain"


def counted_work(explained: Explained, effort: int) -> tuple[int, int]:
    """Return the number of cells that tight bounds visit, or a limit on their steps over boxes."""
    if _has_few_cells(explained, effort):
        return cells_of(explained), 0
    steps = sum(_steps(explained, one.meaning) for one in explained.results)
    return 0, steps * effort * BOXES


def _has_few_cells(explained: Explained, effort: int = USUAL) -> bool:
    try:
        return cells_of(explained) <= most_cells(effort)
    except NotPlainError:
        return False


def _steps(explained: Explained, place: int) -> int:
    """Return the number of meanings and addends evaluated in each box of an output."""
    waiting, seen, steps = [place], set[int](), 0
    while waiting:
        k = waiting.pop()
        if k in seen:
            continue
        seen.add(k)
        one = explained.meanings[k]
        read = list(_read(one))
        steps += 1 + len(read)
        waiting += read
    return steps


def _read(meaning: Meaning) -> Iterator[int]:
    """Yield the operands of a meaning."""
    if isinstance(meaning, TurnSum):
        yield from (item for item, _ in meaning.items)
    elif isinstance(meaning, AddendSum):
        for addend in meaning.addends:
            if isinstance(addend, LinearPart):
                yield addend.meaning
            else:
                yield from (addend.a, addend.b)
    elif not isinstance(meaning, GivenWord):
        yield meaning.source


# --------------------------------------------------------------------------------------------------
# Bounds of all grades; each is intersected with those of lower grades, so that none is looser.
# --------------------------------------------------------------------------------------------------

WORTH = 100  # effort below which a process takes longer to start than the work
STATE, ROW, SINGLE = (
    8,
    9,
    500,
)  # cells that take as long as a state, one in a row, one evaluated singly
LESS = 10  # divisor of the effort for boxes if all cells have been enumerated
NEARLY = 100  # with little effort, boxes are skipped if the remainder is below this part of a bound


def graded_bounds(
    explained: Explained, grade: Grade, effort: int = EFFORT, workers: Workers = ALONE
) -> Bounds:
    """Return the bounds of all outputs of a graph; equal effort gives equal bounds anywhere."""
    if grade == "tight" and (whole := _by_cells(explained, effort)) is not None:
        return whole
    plain = plain_bounds(explained)
    if grade == "plain":
        return plain
    found = list(plain.outputs)
    given = SharedValue(explained)
    tasks = [(given, column, one, grade, effort) for column, one in enumerate(found)]
    chosen = workers if grade == "tight" and effort >= WORTH else ALONE
    for column, one in chosen.completed(output_bound, tasks):
        found[column] = one
    return replace(plain, outputs=tuple(found))


def _by_cells(explained: Explained, effort: int) -> Bounds | None:
    """Return bounds over all cells if there are few; they do not require that heaps fit."""
    try:
        cells = cell_bounds(explained, effort)
    except NotPlainError:
        return None
    found = []
    for one, (low, high) in zip(explained.results, cells.ends, strict=True):
        causes = Causes(between(low, high), ZERO, ZERO, ZERO)
        found.append(
            Bound(one.name, one.unit, one.step, low, high, causes, "tight", of_specification=True)
        )
    return Bounds(tuple(found))


def output_bound(
    explained: Explained, column: int, plain: Bound, grade: Grade, effort: int
) -> Bound:
    """Return the bound of one output."""
    found, ends = plain, None
    if grade == "tight":
        ends, remainder, whole = _enumerated(explained, column, effort)
        found = replace(_met(plain, ends, "tight"), remainder=remainder)
        if ends and effort < WORTH and whole and remainder * NEARLY <= found.steps:
            return found
    boxed = _boxed(explained, column)
    if boxed is None:
        return found
    found = _met(found, boxed.by_addends().ends, "tables" if ends is None else "tight")
    if grade == "tables":
        return found
    boxes = effort if ends is None else max(min(effort, USUAL), effort // LESS)
    return _met(found, boxed.bound(boxes * BOXES).ends, "tight")


def _met(bound: Bound, ends: Ends | None, grade: Grade) -> Bound:
    """Intersect a bound with limits of a grade, if there are any."""
    if ends is None:
        return bound
    low, high = max(bound.low, ends[0]), min(bound.high, ends[1])
    return replace(bound, low=low, high=high, grade=grade)


def _enumerated(explained: Explained, column: int, effort: int) -> tuple[Ends | None, float, bool]:
    """Return the checker's bound over all cells of the angles, its remainder, and its completeness.

    A bound is complete if cells determine the contributions of all groups.
    """
    most = effort * 1_000_000
    try:
        plain = checked(explained)
        groups = groups_of(plain.claim, plain.claim.outputs[column].node)
        limits = StateLimits(most, most // STATE, most // ROW, most // SINGLE)
        output = Tight(plain, column, groups, limits)
        up, down = output.worst
    except (DataError, NotCoveredError):
        return None, 0.0, False
    return (-down.error, up.error), rounded_up(Fraction(output.slack.size, ONE)), output.whole


def _boxed(explained: Explained, column: int) -> BoxedOutput | None:
    """Return an output as steps over boxes, if the checker covers it."""
    try:
        return BoxedOutput(checked(explained), column)
    except (DataError, NotCoveredError):
        return None


# --------------------------------------------------------------------------------------------------
# Heaps that are not shown to fit by enclosures over all inputs.
# --------------------------------------------------------------------------------------------------

HEAP = 50_000  # steps over boxes for a heap, per unit of effort
LEAST_HEAP = 20_000_000  # with little effort; the first heap without a proof uses all of it


def without_overflow(explained: Explained, bounds: Bounds, effort: int = 0) -> Bounds:
    """Remove heaps that are proved not to overflow from the conditions of bounds."""
    if not bounds.unproved:
        return bounds
    try:
        plain = checked(explained)
    except (DataError, NotCoveredError):
        return bounds
    steps, left = BoxSteps(plain), max(LEAST_HEAP, HEAP * effort)
    unproved: list[int] = []
    for word in sorted({*bounds.unproved} & {*plain.overflow}):
        try:
            heap_fits(steps, word, left)
        except (DoesNotHoldError, NotCoveredError):
            unproved.append(word)
            left = 0
    return replace(bounds, unproved=tuple(unproved))
