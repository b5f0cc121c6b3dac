"""Bounds of all grades: each is met with those before it, so that none is looser.

With little effort one may be a hundredth looser: tables are then left out where cells say enough.

plain: node by node. tables: every addend of an output's sum by itself, over the words that it
reads. tight: outputs of two angles at most at all cells of these; all others, and those of which
a group is too large, by branch and bound over boxes of inputs. What was asked for as steps and has
few cells is looked at cell by cell, and nothing else is needed, nor of use: that bound is of the
function that was asked for, and all others are of what the sketch makes of it.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.base.workers import ALONE, Shared
from boolcomp.proof.bound.balls import ONE, ZERO, between
from boolcomp.proof.bound.boxes import box_bound, table_bound
from boolcomp.proof.bound.cells import cell_bounds, cells_of, most_cells
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.meaning import (
    BOXES,
    EFFORT,
    Bound,
    Bounds,
    Causes,
    GivenWord,
    LinearPart,
    Total,
    TurnSum,
    rounded_up,
)
from boolcomp.proof.bound.plain import Forward, plain_bounds
from boolcomp.proof.bound.tight import Output

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.base.workers import Workers
    from boolcomp.proof.bound.meaning import Explained, Grade, Meaning

    Ends = tuple[Fraction, Fraction]


# --------------------------------------------------------------------------------------------------
# The grade of bounds where none is asked for: tight if that takes little work, else plain.
#
# Work is counted before any is done, so that a graph has the same bound on any machine: the steps
# of all boxes that branch and bound may look at, or the cells of all inputs where the graph is
# looked at cell by cell. Cells of angles are limited by the same effort.
# --------------------------------------------------------------------------------------------------


USUAL = 20  # effort: millions of cells and states, thousands of boxes
MOST = 10_000_000  # steps of all boxes: with all else about 5 s of processor time


def usual_grade(explained: Explained) -> Grade:
    """Return the grade of bounds where none is asked for.

    It follows from the graph alone: how many cells it has where all are looked at, else the steps
    of the boxes that tight bounds of all outputs may take.
    """
    if _has_few_cells(explained):
        return "tight"
    steps = sum(_steps(explained, one.meaning) for one in explained.results)
    return "tight" if steps * USUAL * BOXES <= MOST else "plain"


def counted_work(explained: Explained, effort: int) -> tuple[int, int]:
    """Return how many cells tight bounds look at, or at most how many steps of boxes."""
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
    """Return how many meanings and addends are looked at for each box of an output."""
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
    """Yield the meanings that a meaning is made of."""
    if isinstance(meaning, TurnSum):
        yield from (item for item, _ in meaning.items)
    elif isinstance(meaning, Total):
        for addend in meaning.addends:
            if isinstance(addend, LinearPart):
                yield addend.meaning
            else:
                yield from (addend.a, addend.b)
    elif not isinstance(meaning, GivenWord):
        yield meaning.source


# --------------------------------------------------------------------------------------------------
# Bounds of all grades: each is met with those before it, so that none is looser.
# --------------------------------------------------------------------------------------------------


WORTH = 100  # of effort: less takes less time than to start a process
LESS = 10  # of what boxes are worth where all cells have been looked at already
NEARLY = 100  # part of a bound: a smaller remainder is left as it is, with little effort


def graded_bounds(
    explained: Explained, grade: Grade, effort: int = EFFORT, workers: Workers = ALONE
) -> Bounds:
    """Return the bounds of all outputs of a graph, of a grade.

    The same effort gives the same bounds anywhere, whoever looks for them.
    """
    if grade == "tight" and (whole := _by_cells(explained, effort)) is not None:
        return whole
    plain = plain_bounds(explained)
    if grade == "plain":
        return plain
    found = list(plain.outputs)
    given = Shared(explained)
    asked = [(given, column, one, grade, effort) for column, one in enumerate(found)]
    chosen = workers if grade == "tight" and effort >= WORTH else ALONE
    for column, one in chosen.completed(output_bound, asked):
        found[column] = one
    return replace(plain, outputs=tuple(found))


def _by_cells(explained: Explained, effort: int) -> Bounds | None:
    """Return the bounds over all cells, if those are few; no heap need fit for them."""
    try:
        looked = cell_bounds(explained, effort)
    except NotPlainError:
        return None
    found = []
    for one, (low, high) in zip(explained.results, looked.ends, strict=True):
        causes = Causes(between(low, high), ZERO, ZERO, ZERO)
        found.append(Bound(one.name, one.unit, one.step, low, high, causes, "tight", of_asked=True))
    return Bounds(tuple(found))


def output_bound(
    explained: Explained, column: int, plain: Bound, grade: Grade, effort: int
) -> Bound:
    """Return the bound of one output."""
    forward = Forward(explained)
    if grade == "tables":
        return _met(plain, _tables(forward, column), "tables")
    ends, remainder, whole = _enumerated(forward, column, effort)
    found = _met(plain, ends, "tight")
    if ends is not None:
        found = replace(found, remainder=remainder)
        if effort < WORTH and whole and remainder * NEARLY <= found.steps:
            return found
    found = _met(found, _tables(forward, column), "tables" if ends is None else "tight")
    boxes = effort if ends is None else max(min(effort, USUAL), effort // LESS)
    return _met(found, _boxes(forward, column, boxes), "tight")


def _met(bound: Bound, ends: Ends | None, grade: Grade) -> Bound:
    """Return a bound that is no looser than one nor than another, if there is another."""
    if ends is None:
        return bound
    low, high = max(bound.low, ends[0]), min(bound.high, ends[1])
    return replace(bound, low=low, high=high, grade=grade)


def _enumerated(forward: Forward, column: int, effort: int) -> tuple[Ends | None, float, bool]:
    """Return the bound over all cells of two angles; what bends; whether no group was too large."""
    try:
        output = Output(forward, column, effort * 1_000_000)
        ends = output.ends()
    except NotPlainError:
        return None, 0.0, False
    return ends, rounded_up(Fraction(output.slack.size, ONE)), output.whole


def _tables(forward: Forward, column: int) -> Ends | None:
    try:
        return table_bound(forward, column)
    except NotPlainError:
        return None


def _boxes(forward: Forward, column: int, effort: int) -> Ends | None:
    try:
        return box_bound(forward, column, effort).ends
    except NotPlainError:
        return None
