"""Sums of angles: the leading bits of words are added, modulo a turn."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.proof.bound.enclosure import ZERO, Enclosure, between, exactly
from boolcomp.proof.bound.known import NONE, Error, Known, Line, line_of
from boolcomp.words.graph import Angles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.proof.bound.meaning import TurnSum
    from boolcomp.words.graph import WordGraph

    Lines = Mapping[int, tuple[int, Line]]


def turns_known(
    graph: WordGraph,
    sum_: TurnSum,
    read: Mapping[int, Known],
    lines: Mapping[int, tuple[int, Line]],
) -> Known:
    """Return what is known of a sum of angles.

    `lines` are the nodes of its items' words, and what these stand for.
    """
    exact = inputs = ZERO
    for item, multiple in sum_.items:
        exact = exact + read[item].exact.times(Fraction(multiple))
        inputs = inputs + read[item].inputs.times(Fraction(multiple))
    if sum_.word is None:
        return Known(exact, exact, NONE, inputs)
    node = graph.nodes[sum_.word]
    if not isinstance(node, Angles):
        raise ValueError(f"word {sum_.word} is no sum of angles")  # noqa: TRY004 (of what is said)
    own = line_of(graph, sum_.word)
    constant, error = own.start + own.step * node.constant, NONE
    times = {item: Fraction(0) for item, _ in sum_.items}
    for turn in node.turns:
        size = own.step * (1 << turn.shift)
        if turn.negative:
            constant, size = constant + size * ((1 << turn.read) - 1), -size
        item = next(k for k, _ in sum_.items if k in lines and lines[k][0] == turn.node)
        drop = graph.nodes[turn.node].bits - turn.read
        line = lines[item][1]
        weight = size / (line.step * (1 << drop))
        times[item] += weight
        constant -= weight * line.start
        lost = between(0, ((1 << drop) - 1) * line.step)
        error = error + Error(ZERO, lost.times(-weight))
    for item, multiple in sum_.items:
        error = error + read[item].error.times(times[item])
        if times[item] != multiple:
            error = error + Error(ZERO, read[item].exact.times(times[item] - multiple))
    error = error + Error(ZERO, _nearest(exactly(constant), error.bits))
    return Known(exact, exact + error.total, error, inputs)


def _nearest(constant: Enclosure, beside: Enclosure) -> Enclosure:
    """Return a constant less whole turns such that with what is beside it is nearest to 0."""
    middle = sum((constant + beside).ends) / 2
    return constant - exactly(round(Fraction(middle)))
