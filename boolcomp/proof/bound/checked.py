"""What the compiler says of a graph, as the checker takes it: no text lies between them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.checker.claims import nodes, places, stands
from boolcomp.checker.spans import Span
from boolcomp.proof.bound import meaning

if TYPE_CHECKING:
    from boolcomp.proof.bound.enclosure import Enclosure


def claim_of(said: meaning.Explained) -> stands.Claim:
    """Return an explained graph for the checker."""
    outputs = tuple(
        stands.OutputSteps(
            one.name, one.meaning, Fraction(one.step), one.shift,
            None if one.rest is None else {name: _span(x) for name, x in one.rest},
        )
        for one in said.results
    )  # fmt: skip
    inputs = {
        one.name: stands.InputCells(_span(one.allowed), one.cells, one.part, one.wraps, one.exact)
        for one in said.meanings
        if isinstance(one, meaning.GivenWord)
    }
    functions = tuple(map(_function, said.meanings))
    return stands.Claim(said.graph, functions, tuple(map(_place, said.meanings)), inputs, outputs)


def _span(x: Enclosure) -> Span:
    return Span(x.low, x.high)


def _function(one: meaning.Meaning) -> nodes.Node:
    if isinstance(one, meaning.GivenWord):
        return nodes.Given(one.name, one.angle)
    if isinstance(one, meaning.TurnSum):
        return nodes.Turns(tuple((multiple, item) for item, multiple in one.items))
    if isinstance(one, meaning.WaveTable):
        return nodes.Waves(one.source, one.parts)
    if isinstance(one, meaning.PowerTable):
        return nodes.Powers(one.source, one.coefficients)
    if isinstance(one, meaning.CurveTable):
        steps = tuple(
            nodes.Operation("x" if x.kind == "input" else x.kind, x.operands, x.value)
            for x in one.function.nodes[: one.function.outputs[0].node + 1]
        )
        ends = one.unit, one.middle, one.factor, one.low, one.high, one.angle
        return nodes.Curve(one.source, *ends, steps)
    addends = tuple(
        (x.factor, (x.meaning,) if isinstance(x, meaning.LinearPart) else (x.a, x.b))
        for x in one.addends
    )
    return nodes.Total(one.constant, addends, one.turning)


def _place(one: meaning.Meaning) -> places.Place:
    if isinstance(one, meaning.Total):
        return places.Place(() if one.word is None else (one.word,), None, one.owners)
    if isinstance(one, meaning.GivenWord | meaning.TurnSum):
        return places.Place(() if one.word is None else (one.word,))
    return places.Place(one.pieces.words, one.pieces.product)
