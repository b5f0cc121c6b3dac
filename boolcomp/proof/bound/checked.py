"""The checker's plain bound of a graph, which is tighter than the compiler's for most outputs.

The checker looks at words of tables value by value, so that what a sum reads of a table keeps its
own error. It is given what the compiler says of a graph, and no text lies between them. Both bounds
are proved by themselves, so that an output has the tighter end of either.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError
from boolcomp.checker import graph, problem
from boolcomp.checker.folder import NotCoveredError
from boolcomp.checker.plain import Plain
from boolcomp.checker.spans import Span
from boolcomp.proof.bound import meaning as meanings
from boolcomp.proof.bound.plain import beyond_ends

if TYPE_CHECKING:
    from boolcomp.proof.bound.balls import Enclosure
    from boolcomp.proof.bound.meaning import Bounds


def met_with_checker(said: meanings.Explained, bounds: Bounds) -> Bounds:
    """Return the compiler's bounds, each end no wider than that of the checker's plain bound.

    Both hold while no heap overflows; of a heap that one of them proves nothing is left to prove.
    Where the checker does not cover a graph the bounds stay as they are. Two bounds of an output
    that have nothing in common are a `DataError`: one of them is wrong.
    """
    if all(one.of_asked for one in bounds.outputs):
        return bounds  # of the function that was asked for, and the checker's is of the sketch's
    try:
        plain = Plain(claim_of(said))
        ends = [plain.error(one, k).ends for k, one in enumerate(plain.claim.outputs)]
    except (DataError, NotCoveredError):
        return bounds
    pairs = zip(bounds.outputs, ends, strict=True)
    own = [replace(one, low=low, high=high) for one, (low, high) in pairs]
    theirs = beyond_ends(said, replace(bounds, outputs=tuple(own)))
    both = zip(bounds.outputs, theirs.outputs, strict=True)
    outputs = tuple(
        replace(one, low=max(one.low, two.low), high=min(one.high, two.high)) for one, two in both
    )
    if wrong := [one.name for one in outputs if one.low > one.high]:
        raise DataError(f"two bounds of {wrong[0]} exclude each other")
    unproved = tuple(k for k in bounds.unproved if k in plain.overflow)
    return replace(bounds, outputs=outputs, unproved=unproved)


def claim_of(said: meanings.Explained) -> graph.Claim:
    """Return an explained graph for the checker."""
    outputs = tuple(
        graph.OutputSteps(
            one.name, one.meaning, Fraction(one.step), one.shift,
            None if one.rest is None else {name: _span(x) for name, x in one.rest},
        )
        for one in said.results
    )  # fmt: skip
    inputs = {
        one.name: graph.InputCells(_span(one.allowed), one.cells, one.part, one.wraps, one.exact)
        for one in said.meanings
        if isinstance(one, meanings.GivenWord)
    }
    functions = tuple(map(_function, said.meanings))
    stand = tuple(map(_place, said.meanings))
    moved = {word: (low, high) for word, low, high in said.booked}
    return graph.Claim(said.graph, functions, stand, inputs, outputs, moved)


def _span(x: Enclosure) -> Span:
    return Span(x.low, x.high)


def _function(one: meanings.Meaning) -> problem.Node:
    if isinstance(one, meanings.GivenWord):
        return problem.Given(one.name, one.angle)
    if isinstance(one, meanings.TurnSum):
        return problem.Turns(tuple((multiple, item) for item, multiple in one.items))
    if isinstance(one, meanings.WaveTable):
        return problem.Waves(one.source, one.parts)
    if isinstance(one, meanings.PowerTable):
        return problem.Powers(one.source, one.coefficients)
    if isinstance(one, meanings.CurveTable):
        steps = tuple(
            problem.Operation("x" if x.kind == "input" else x.kind, x.operands, x.value)
            for x in one.function.nodes[: one.function.outputs[0].node + 1]
        )
        ends = one.unit, one.middle, one.factor, one.low, one.high, one.angle
        return problem.Curve(one.source, *ends, steps)
    addends = tuple(
        (x.factor, (x.meaning,) if isinstance(x, meanings.LinearPart) else (x.a, x.b))
        for x in one.addends
    )
    return problem.Total(one.constant, addends, one.turning)


def _place(one: meanings.Meaning) -> graph.Place:
    if isinstance(one, meanings.Total):
        return graph.Place(() if one.word is None else (one.word,), None, one.owners)
    if isinstance(one, meanings.GivenWord | meanings.TurnSum):
        return graph.Place(() if one.word is None else (one.word,))
    return graph.Place(one.pieces.words, one.pieces.product)
