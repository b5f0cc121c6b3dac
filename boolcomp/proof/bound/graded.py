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
from boolcomp.compact.sketch import (
    TURN,
    AngleSum,
    Curve,
    Powers,
    SourceWord,
    Waves,
    addend_reads,
    reads,
)
from boolcomp.proof.bound.balls import ONE, ZERO, between
from boolcomp.proof.bound.bounds import (
    BOXES,
    EFFORT,
    Bound,
    Bounds,
    Causes,
    NotPlainError,
    rounded_up,
)
from boolcomp.proof.bound.cells import cell_bounds, cells_of, most_cells
from boolcomp.proof.bound.plain import beyond_ends, plain_bounds

if TYPE_CHECKING:
    from boolcomp.base.workers import Workers
    from boolcomp.compact.sketch import SketchNode
    from boolcomp.proof.bound.balls import Enclosure
    from boolcomp.proof.bound.bounds import Grade
    from boolcomp.proof.bound.sketched import SketchedGraph

    Ends = tuple[Fraction, Fraction]


# --------------------------------------------------------------------------------------------------
# The checker's plain bound, which is tighter than the compiler's for most outputs.
# --------------------------------------------------------------------------------------------------


def met_with_checker(sketched: SketchedGraph, bounds: Bounds) -> Bounds:
    """Intersect the compiler's bounds with the checker's plain bounds.

    Both hold unless a heap overflows; a heap that either proves to fit is no longer a condition.
    Bounds of a graph that the checker does not cover are returned unchanged. A `DataError` reports
    two bounds of an output without intersection, one of which must be wrong.
    """
    if all(one.of_specification for one in bounds.outputs):
        return bounds  # the checker's bounds are those of the sketch
    try:
        plain = checked(sketched)
        ends = [plain.error(one, k).ends for k, one in enumerate(plain.claim.outputs)]
    except (DataError, NotCoveredError):
        return bounds
    pairs = zip(bounds.outputs, ends, strict=True)
    own = [replace(one, low=low, high=high) for one, (low, high) in pairs]
    theirs = beyond_ends(sketched, replace(bounds, outputs=tuple(own)))
    both = zip(bounds.outputs, theirs.outputs, strict=True)
    outputs = tuple(
        replace(one, low=max(one.low, two.low), high=min(one.high, two.high)) for one, two in both
    )
    if empty := [one.name for one in outputs if one.low > one.high]:
        raise DataError(f"two bounds of {empty[0]} exclude each other")
    unproved = tuple(k for k in bounds.unproved if k in plain.overflow)
    return replace(bounds, outputs=outputs, unproved=unproved)


@lru_cache(maxsize=2)  # the bounds of all outputs need it
def checked(sketched: SketchedGraph) -> PlainBound:
    """Return the checker's plain bound of a graph."""
    return PlainBound(claim_of(sketched))


def claim_of(sketched: SketchedGraph) -> graph.Claim:
    """Return a sketch and its graph as a claim of the checker."""
    outputs = []
    for column, (one, place) in enumerate(
        zip(sketched.results, sketched.sketch.outputs, strict=True)
    ):
        rest = sketched.rest(column)
        spans = None if rest is None else {name: _span(x) for name, x in rest.items()}
        outputs.append(graph.OutputSteps(one.name, place, Fraction(one.step), one.shift, spans))
    inputs = {
        x.node.name: graph.InputCells(
            _span(x.allowed), 1 << x.node.bits, x.node.part, x.wraps, x.node.exact
        )
        for x in sketched.ranges.values()
    }
    functions = tuple(map(_function, sketched.sketch.nodes))
    places = tuple(graph.ClaimedWords(x.words, x.product, x.owners) for x in sketched.places)
    return graph.Claim(sketched.graph, functions, places, inputs, tuple(outputs))


def _span(x: Enclosure) -> IntegerSpan:
    return IntegerSpan(x.low, x.high)


def _function(node: SketchNode) -> problem.Node:
    if isinstance(node, SourceWord):
        return problem.ClaimedInput(node.name, node.angle)
    if isinstance(node, AngleSum):
        return problem.Turns(tuple((multiple, item) for item, multiple in node.items))
    if isinstance(node, Waves):
        return problem.ClaimedWaves(node.source, node.parts)
    if isinstance(node, Powers):
        return problem.ClaimedPowers(node.source, node.coefficients)
    if isinstance(node, Curve):
        steps = tuple(
            problem.CurveStep("x" if x.kind == "input" else x.kind, x.operands, x.value)
            for x in node.function.nodes[: node.function.outputs[0].node + 1]
        )
        ends = node.unit, node.middle, node.factor, node.low, node.high, node.angle
        return problem.ClaimedCurve(node.source, *ends, steps)
    addends = tuple((x.factor, addend_reads(x)) for x in node.addends)
    return problem.ClaimedTotal(node.constant, addends, TURN if node.angle else 0)


# --------------------------------------------------------------------------------------------------
# The default grade of bounds: tight if that takes little work, else plain.
#
# Work is counted in advance, so that a graph has the same bound on any machine. The count is that
# of steps over all boxes that branch and bound may visit, or of cells if the graph is enumerated.
# The same effort limits cells of angles.
# --------------------------------------------------------------------------------------------------

USUAL = 20  # effort: millions of cells and states, thousands of boxes
MOST = 10_000_000  # steps over all boxes, about 5 s of processor time


def usual_grade(sketched: SketchedGraph) -> Grade:
    """Return the default grade of a graph's bounds.

    It depends only on the number of cells, or else on the steps over boxes of all outputs.
    """
    if _has_few_cells(sketched):
        return "tight"
    return "tight" if _steps(sketched) * USUAL * BOXES <= MOST else "plain"


def counted_work(sketched: SketchedGraph, effort: int) -> tuple[int, int]:
    """Return the number of cells that tight bounds visit, or a limit on their steps over boxes."""
    if _has_few_cells(sketched, effort):
        return cells_of(sketched), 0
    return 0, _steps(sketched) * effort * BOXES


def _has_few_cells(sketched: SketchedGraph, effort: int = USUAL) -> bool:
    try:
        return cells_of(sketched) <= most_cells(effort)
    except NotPlainError:
        return False


def _steps(sketched: SketchedGraph) -> int:
    """Return the number of nodes and addends evaluated in each box, of all outputs."""
    total = 0
    for output in sketched.sketch.outputs:
        waiting, seen = [output], set[int]()
        while waiting:
            k = waiting.pop()
            if k not in seen:
                seen.add(k)
                read = reads(sketched.sketch.nodes[k])
                total += 1 + len(read)
                waiting += read
    return total


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
    sketched: SketchedGraph, grade: Grade, effort: int = EFFORT, workers: Workers = ALONE
) -> Bounds:
    """Return the bounds of all outputs of a graph; equal effort gives equal bounds anywhere."""
    if grade == "tight" and (whole := _by_cells(sketched, effort)) is not None:
        return whole
    plain = plain_bounds(sketched)
    if grade == "plain":
        return plain
    found = list(plain.outputs)
    given = SharedValue(sketched)
    tasks = [(given, column, one, grade, effort) for column, one in enumerate(found)]
    chosen = workers if grade == "tight" and effort >= WORTH else ALONE
    for column, one in chosen.completed(output_bound, tasks):
        found[column] = one
    return replace(plain, outputs=tuple(found))


def _by_cells(sketched: SketchedGraph, effort: int) -> Bounds | None:
    """Return bounds over all cells if there are few; they do not require that heaps fit."""
    try:
        cells = cell_bounds(sketched, effort)
    except NotPlainError:
        return None
    found = []
    for one, (low, high) in zip(sketched.results, cells.ends, strict=True):
        causes = Causes(between(low, high), ZERO, ZERO, ZERO)
        found.append(
            Bound(one.name, one.unit, one.step, low, high, causes, "tight", of_specification=True)
        )
    return Bounds(tuple(found))


def output_bound(
    sketched: SketchedGraph, column: int, plain: Bound, grade: Grade, effort: int
) -> Bound:
    """Return the bound of one output."""
    found, ends = plain, None
    if grade == "tight":
        ends, remainder, whole = _enumerated(sketched, column, effort)
        found = replace(_met(plain, ends, "tight"), remainder=remainder)
        if ends and effort < WORTH and whole and remainder * NEARLY <= found.steps:
            return found
    boxed = _boxed(sketched, column)
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


def _enumerated(
    sketched: SketchedGraph, column: int, effort: int
) -> tuple[Ends | None, float, bool]:
    """Return the checker's bound over all cells of the angles, its remainder, and its completeness.

    A bound is complete if cells determine the contributions of all groups.
    """
    most = effort * 1_000_000
    try:
        plain = checked(sketched)
        groups = groups_of(plain.claim, plain.claim.outputs[column].node)
        limits = StateLimits(most, most // STATE, most // ROW, most // SINGLE)
        output = Tight(plain, column, groups, limits)
        up, down = output.worst
    except (DataError, NotCoveredError):
        return None, 0.0, False
    return (-down.error, up.error), rounded_up(Fraction(output.slack.size, ONE)), output.whole


def _boxed(sketched: SketchedGraph, column: int) -> BoxedOutput | None:
    """Return an output as steps over boxes, if the checker covers it."""
    try:
        return BoxedOutput(checked(sketched), column)
    except (DataError, NotCoveredError):
        return None


# --------------------------------------------------------------------------------------------------
# Heaps that are not shown to fit by enclosures over all inputs.
# --------------------------------------------------------------------------------------------------

HEAP = 50_000  # steps over boxes for a heap, per unit of effort
LEAST_HEAP = 20_000_000  # with little effort; the first heap without a proof uses all of it


def without_overflow(sketched: SketchedGraph, bounds: Bounds, effort: int = 0) -> Bounds:
    """Remove heaps that are proved not to overflow from the conditions of bounds."""
    if not bounds.unproved:
        return bounds
    try:
        plain = checked(sketched)
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
