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

from boolcomp.common.shared import Shared
from boolcomp.common.workers import ALONE
from boolcomp.proof.bound.branch import box_bound, table_bound
from boolcomp.proof.bound.cells import cell_bounds
from boolcomp.proof.bound.enclosure import ONE, ZERO, between
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.plain import Forward, plain_bounds
from boolcomp.proof.bound.result import EFFORT, Bound, Bounds, Causes, rounded_up
from boolcomp.proof.bound.tight import Output
from boolcomp.proof.bound.usual import USUAL

if TYPE_CHECKING:
    from boolcomp.common.workers import Workers
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.proof.bound.result import Grade

    Ends = tuple[Fraction, Fraction]

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
