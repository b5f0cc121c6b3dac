"""The bound of a sum of tables: what its output's word less the exact output may be.

    y(w) - τ(x) = [y(w) - Σ entries] + Σ [entry - term(x)]

The first is the rounding of the sum, of which all remainders are looked at. The second is the
largest sum of the terms' errors over all states of the inputs, in either direction.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.logic.adders import Addend, Sum
from boolcomp.proof.bound.enclosure import Enclosure, about, between, exactly
from boolcomp.proof.bound.fields import measured
from boolcomp.proof.bound.result import Bound, Bounds, Causes
from boolcomp.proof.bound.tabled import layout_of
from boolcomp.proof.tabled.elimination import largest
from boolcomp.proof.tabled.estimates import estimated
from boolcomp.proof.tabled.fields import function_of
from boolcomp.proof.tabled.places import SHIFT, line_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.problem import Input
    from boolcomp.proof.tabled.meaning import TabledSum
    from boolcomp.proof.tabled.places import Line

EFFORT = 30  # million numbers that are looked at for an output
PLACES = 16  # bits of a step's share that is the unit, where numbers leave room for them
DECODER = Fraction(1, 1 << 16)  # of a step: more than what decoders round


def bounds_of(outputs: Sequence[TabledSum], effort: float = EFFORT) -> Bounds:
    """Return the bounds of sums; `effort` counts millions of numbers for each."""
    return Bounds(tuple(bound_of(one, effort) for one in outputs))


def bound_of(output: TabledSum, effort: float = EFFORT) -> Bound:
    """Return the bound of a sum of tables, in steps of its word."""
    _check(output)
    rounding = _rounding(output)
    lines = _lines(output)
    unit, halves = _unit(output, lines)
    layout = layout_of(output.terms, lines, Fraction(output.word.step), int(effort * 1_000_000))
    found = [
        (estimated if one.estimated else measured)(one, axes, unit, halves)
        for one, axes in zip(output.terms, layout.axes, strict=True)
    ]
    factors = [one.factor for one in found]
    share = Fraction(1, 2 * halves << output.guard_bits)
    left = _left_out(output)
    high, low = (
        share * largest([(one.names, side) for one, side in sides], layout.order) + left
        for sides in (
            [(one, one.high) for one in factors],
            [(one, one.low) for one in factors],
        )
    )
    least, most = rounding.ends
    bent = share * sum(one.remainder for one in found)
    inputs, tables = (
        about(exactly(share * sum(s)))
        for s in ((one.inputs for one in found), (one.tables for one in found))
    )
    return Bound(
        output.name, output.unit, output.word.step,
        min(least - low, -Fraction(1, 2)), max(most + high, Fraction(1, 2)),
        Causes(inputs, tables, about(exactly(left)), rounding), "tight", float(bent),
    )  # fmt: skip


def _left_out(output: TabledSum) -> Fraction:
    """Return what all terms without tables never exceed together, in steps of the word."""
    sizes = {v.name: line_of(v, 1).size for term in output.left_out for v in term.variables}
    whole = sum((function_of(term).height(sizes) for term in output.left_out), Fraction(0))
    return whole / Fraction(output.word.step)


def _check(output: TabledSum) -> None:
    """Raise a `ValueError` where codes are not those of one sum, or inputs stand twice."""
    step = output.step
    for term in output.terms:
        names = [variable.name for variable in term.term.variables]
        if len(set(names)) < len(names):
            raise ValueError(f"{term.term.name} has an input in its coefficient and as a factor")
        if [word.variable.name for word in term.words] != names:
            raise ValueError(f"the table of {term.term.name} reads other inputs than it has")
        low = -step * term.code.cells / 2
        if Fraction(term.code.range.low) != low or Fraction(term.code.step) != step:
            raise ValueError(f"the code of {term.term.name} has another step than the sum")
        if term.code.tread or any(word.code.tread for word in term.words):
            raise ValueError(f"{term.term.name} has a cell at zero, which tables have not")


def _rounding(output: TabledSum) -> Enclosure:
    """Return by how much the output's word is more than the sum of the entries, in its steps."""
    addends = tuple(Addend(one.code.bits, one.code.kind, one.times) for one in output.terms)
    total = Sum(addends, output.word.bits, output.guard_bits)
    whole = 1 << output.guard_bits
    apart = math.gcd(whole, *(one.times for one in addends))
    rests = (total.offset % apart, total.offset % apart + whole - apart)
    # The sum of entries is N + ½ or N steps above the range's lower end, as halves are even.
    halves = (1 << (output.word.bits + output.guard_bits)) - sum(
        a.times * (a.cells - 1) for a in addends
    )
    within = Fraction(halves % 2, 2)
    above = Fraction(output.word.low) / output.step + (whole << output.word.bits) // 2
    ends = [(above + Fraction(whole, 2) - rest - within) / whole for rest in rests]
    return between(min(ends) - DECODER, max(ends) + DECODER)


def _lines(output: TabledSum) -> dict[str, Line]:
    """Return the cells of all inputs, by name."""
    inputs: dict[str, Input] = {}
    fewest: dict[str, int] = {}
    for term in output.terms:
        for variable in term.term.variables:
            inputs.setdefault(variable.name, variable)
        for word in term.words:
            name = word.variable.name
            fewest[name] = min(fewest.get(name, word.code.bits), word.code.bits)
    return {name: line_of(one, fewest.get(name, 1)) for name, one in inputs.items()}


def _unit(output: TabledSum, lines: dict[str, Line]) -> tuple[Fraction, int]:
    """Return what errors are counted in, and how many of these half a step has."""
    sizes = {name: line.size for name, line in lines.items()}
    heights = (function_of(one.term).height(sizes) for one in output.terms)
    steps = math.ceil(max(heights, default=Fraction(0)) / output.step)
    room = min(PLACES, 61 - SHIFT - steps.bit_length())
    if room < 1:
        raise ValueError(f"the terms of {output.name} have too many steps to be counted")
    return output.step / (1 << room), 1 << (room - 1)
