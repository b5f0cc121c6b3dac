"""What the words of a graph stand for, said for whoever proves bounds (see `proof.bound.meaning`).

The sketch says what is calculated, widths say how it was realised; which part of a heap belongs to
which addend is found again from both.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.compact.graph.parts import realised_places
from boolcomp.compact.sketch.poly import quantities
from boolcomp.compact.sketch.sketch import (
    TURN,
    AngleSum,
    Curve,
    Linear,
    Powers,
    Source,
    Waves,
    WordSum,
)
from boolcomp.problem.expressions.straight import Straight
from boolcomp.proof.bound.enclosure import Enclosure, between
from boolcomp.proof.bound.meaning import (
    Asked,
    AskedInput,
    CurveTable,
    Explained,
    GivenWord,
    LinearPart,
    Pieces,
    PowerTable,
    ProductPart,
    ResultMeaning,
    Total,
    TurnSum,
    WaveTable,
)
from boolcomp.proof.bound.waves import pi

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.compact.assembly import Ends
    from boolcomp.compact.demand import Demand
    from boolcomp.compact.graph.parts import Place
    from boolcomp.compact.result.booked import Booked
    from boolcomp.compact.result.compact import Compact
    from boolcomp.compact.sketch.poly import Quantity
    from boolcomp.compact.sketch.sketch import Sketch, SketchNode, Table
    from boolcomp.compact.sketch.variables import Widths
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.bound.meaning import Meaning
    from boolcomp.words.graph import WordGraph

MOST_BITS = 40  # of all inputs' words: nobody looks at more cells than that


def explained(compact: Compact, ends: Ends, booked: Booked | None = None) -> Explained:
    """Return a compiled graph with what its words stand for, and by how much cones move them."""
    made = Realised(compact.sketch, compact.widths, compact.graph)
    found = explained_graph(compact.problem, compact.demand, made, ends)
    moved = tuple((word, *by) for word, by in sorted((booked or {}).items()))
    return replace(found, booked=moved)


class Realised(NamedTuple):
    """A sketch, its widths, and the graph that they make."""

    sketch: Sketch
    widths: Widths
    graph: WordGraph


def explained_graph(problem: Problem, demand: Demand, made: Realised, ends: Ends) -> Explained:
    """Return a graph with what its words stand for, of a search that may not be over."""
    words = quantities(problem, demand.input_bits)
    ranges = {one.name: one.range for one in problem.inputs}
    places = realised_places(made.sketch, made.widths, made.graph)
    meanings = tuple(
        _meaning(node, place, words, ranges)
        for node, place in zip(made.sketch.nodes, places, strict=True)
    )
    steps, outputs = problem.steps(demand.bits), problem.outputs
    shifts, rests = ends.shifts or [0.0] * len(outputs), ends.rest or [None] * len(outputs)
    read = {one.name: words[one.name] for one in made.graph.inputs}
    results = tuple(
        ResultMeaning(one.name, one.unit, place, step, Fraction(shift), _rest(rest, read))
        for one, place, step, shift, rest in zip(
            outputs, made.sketch.outputs, steps, shifts, rests, strict=True
        )
    )
    return Explained(made.graph, meanings, results, asked=_asked(problem, demand, made.graph))


@lru_cache(maxsize=4)  # of a problem many graphs are made
def _steps(problem: Problem) -> Straight | None:
    """Return a problem's function as steps, if it is no sum of terms."""
    steps = problem.form()
    return steps if isinstance(steps, Straight) else None


def _asked(problem: Problem, demand: Demand, graph: WordGraph) -> Asked | None:
    """Return a problem as steps, if that is how it was given and it has few cells."""
    if sum(node.bits for node in graph.inputs) > MOST_BITS:
        return None
    steps = _steps(problem)
    if steps is None:
        return None
    inputs, words = [], quantities(problem, demand.input_bits)
    for one in problem.inputs:
        word = words.get(one.name)
        base, unit = one.range.low, 0.0
        if word is not None and word.turns:
            base, unit = word.range.low + math.pi, 2 * math.pi
        elif word is not None:
            base, unit = word.range.centre, word.step
        inputs.append(AskedInput(one.name, base, unit, one.range.low, one.range.high))
    centres = [one.range.centre for one in problem.outputs]
    return Asked(steps, tuple(inputs), tuple(zip(centres, problem.steps(demand.bits), strict=True)))


def _rest(
    names: tuple[str, ...] | None, words: Mapping[str, Quantity]
) -> tuple[tuple[str, Enclosure], ...] | None:
    """Return where inputs are that say zero: no farther from it than a cell is wide."""
    if names is None:
        return None
    found = []
    for name in names:
        if name in words:
            word = words[name]
            zero, reach = -Fraction(word.range.centre), Fraction(word.step)
            found.append((name, between((zero - reach) / reach, (zero + reach) / reach)))
    return tuple(found)


def _meaning(
    node: SketchNode, place: Place, words: Mapping[str, Quantity], ranges: Mapping[str, Interval]
) -> Meaning:
    if isinstance(node, Source):
        return _given(node, place, words[node.name], ranges[node.name])
    word = place.words[0] if place.words else None
    if isinstance(node, AngleSum):
        return TurnSum(node.items, word)
    if not isinstance(node, WordSum):
        return _table(node, Pieces(place.words, place.product))
    addends = tuple(
        LinearPart(one.node, one.factor)
        if isinstance(one, Linear)
        else ProductPart(one.a, one.b, one.factor)
        for one in node.addends
    )
    return Total(addends, node.constant, word, place.owners, TURN if node.angle else 0)


def _table(node: Table, pieces: Pieces) -> Meaning:
    if isinstance(node, Waves):
        return WaveTable(node.source, node.parts, pieces)
    if isinstance(node, Powers):
        return PowerTable(node.source, node.coefficients, pieces)
    if not isinstance(node, Curve):
        raise TypeError(f"no table: {node}")
    return CurveTable(
        node.source, node.function, node.unit, node.middle, node.factor, node.low, node.high,
        node.angle, pieces,
    )  # fmt: skip


def _given(node: Source, place: Place, word: Quantity, allowed: Interval) -> GivenWord:
    """Return an input; an angle counts turns from half a turn above its word's lowest border."""
    low, high = Fraction(allowed.low), Fraction(allowed.high)
    if node.angle:
        start = Fraction(word.range.low)
        turn = Fraction(pi().low, 1 << 79), Fraction(pi().high, 1 << 79)
        half = Fraction(1, 2)
        where = between(_least(low - start, turn) - half, _most(high - start, turn) - half)
    else:
        centre, step = Fraction(word.range.centre), Fraction(word.step)
        where = between((low - centre) / step, (high - centre) / step)
    return GivenWord(
        node.name, place.words[0] if place.words else None, where, 1 << word.bits, node.angle,
        node.part, word.wraps, node.exact,
    )  # fmt: skip


def _least(x: Fraction, by: tuple[Fraction, Fraction]) -> Fraction:
    return min(x / one for one in by)


def _most(x: Fraction, by: tuple[Fraction, Fraction]) -> Fraction:
    return max(x / one for one in by)
