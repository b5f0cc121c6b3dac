"""Sums of angles: how finely each part is read, and what the sum's word then stands for.

A word of n bits stands for (k + ½)/2^n - ½ turns. One over a part 2^-p of a turn stands for
(k + ½)/2^(n+p) - ½ turns: it is a word of n + p bits whose leading p bits are 0, and not there.
The sum of two such words lies on whole steps,
so it is no such word. A plain sum reads all parts but the first half as finely, and is one. An
exact sum reads all parts as finely as they are, and has a guard bit where it then lies on whole
steps: bit 0 is always 0, and K of n + 1 bits stands for K/2^(n+1) - ½ turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.compact.sketch.sketch import TURN, AngleSum, Sketch, Source, WordSum
from boolcomp.compact.sketch.variables import Role
from boolcomp.words.graph import Angles, Turn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.compact.sketch.variables import Widths

NEARLY = 1e-6  # of a step: what is this near to a half or whole step is there


@dataclass(frozen=True, slots=True)
class AngleShape:
    """An angle's word: it has `bits`, and counts 2^-known turns.

    `offset` is what its mean lies beside (k + ½)/2^known - ½ turns; `part` leading bits of a turn
    are not in it, because they are 0.
    """

    bits: int
    known: int
    offset: float = 0.0
    part: int = 0

    @property
    def guarded(self) -> bool:
        """Whether the lowest bit is always 0."""
        return self.bits + self.part > self.known


@dataclass(frozen=True, slots=True)
class SumShape:
    """An angle sum's word, how many bits of a turn its parts are read to, and how far up they go.

    `shifts` are in steps of the bits that vary; `middle` is what halves of steps add up to, in
    such steps.
    """

    word: AngleShape
    reads: tuple[int, ...]
    shifts: tuple[int, ...]
    middle: float
    parts: tuple[int, ...]


def angle_shape(sketch: Sketch, widths: Widths, place: int) -> AngleShape:
    """Return the shape of a node that is an angle; sums take what their parts can give."""
    node = sketch.nodes[place]
    if isinstance(node, AngleSum):
        return sum_shape(sketch, widths, place).word
    if isinstance(node, Source):
        return AngleShape(node.bits, node.bits + node.part, 0.0, node.part)
    if isinstance(node, WordSum):
        bits = TURN - widths[Role.CUT.of(place)]
        return AngleShape(bits, bits)
    raise TypeError(f"node {place} is no angle")


def sum_shape(sketch: Sketch, widths: Widths, place: int) -> SumShape:
    """Return the shape of an angle sum."""
    node = sketch.nodes[place]
    if not isinstance(node, AngleSum):
        raise TypeError(f"node {place} is no angle sum")
    shifts = [shift_of(multiple) for _, multiple in node.items]
    parts = [angle_shape(sketch, widths, item) for item, _ in node.items]
    spare = [part.known - shift for part, shift in zip(parts, shifts, strict=True)]
    if node.exact:
        n = min(widths[Role.ANGLE_BITS.of(place)], max(spare))
        reads = tuple(min(p.known, n + z) for p, z in zip(parts, shifts, strict=True))
    else:
        n = min(
            widths[Role.ANGLE_BITS.of(place)],
            *(most + (k > 0) for k, most in enumerate(spare)),
        )
        reads = tuple(n - (k > 0) + z for k, z in enumerate(shifts))
    ups = tuple(n + z - read for z, read in zip(shifts, reads, strict=True))
    known = sum(m * part.offset for (_, m), part in zip(node.items, parts, strict=True))
    middle = sum(2.0**up for up in ups) / 2 + known * 2.0**n
    beside = middle - 0.5 - math.floor(middle)  # of a step, beside the middle of a cell
    if abs(beside) < NEARLY:
        word = AngleShape(n, n)
    elif node.exact and abs(abs(beside) - 0.5) < NEARLY:
        word = AngleShape(n + 1, n, -0.5 / 2.0**n)
    elif node.exact:
        word = AngleShape(n, n, beside / 2.0**n)
    else:
        raise ValueError(f"angle sum {place} does not lie on half steps")
    return SumShape(word, reads, ups, middle, tuple(part.part for part in parts))


def angle_node(node: AngleSum, shape: SumShape, places: Mapping[int, int]) -> tuple[Angles, float]:
    """Return the node of a graph for a sum, and its offset in turns; `places` are of its parts.

    Without a guard K + ½ - 2^(n-1) = Σ 2^up (k + ½) - Σ m 2^(n-1) modulo 2^n, but for the offset.
    With one K = 2 Σ 2^up (k + ½) + 2^n (1 - Σ m) modulo 2^(n+1).
    """
    word, guard = shape.word, int(shape.word.guarded)
    turns, absent = [], 0
    listed = zip(node.items, shape.reads, shape.shifts, shape.parts, strict=True)
    for (item, multiple), read, up, part in listed:
        there = max(0, read - part)
        if there:
            turns.append(Turn(places[item], there, up + guard, multiple < 0))
        if multiple < 0:  # what is not there is 0, and its inverse ones
            absent += ((1 << read) - (1 << there)) << up + guard
    n, multiples = word.known, sum(m for _, m in node.items)
    twice = (1 << n) * (1 - multiples)
    if guard:
        constant = round(2 * shape.middle) + twice + absent
        return Angles(tuple(turns), constant % (2 << n), n + 1), word.offset / 2
    constant = (round(2 * (shape.middle - word.offset * 2.0**n)) - 1 + twice) // 2 + absent
    return Angles(tuple(turns), constant % (1 << n), n), word.offset


def shift_of(multiple: int) -> int:
    """Return z of a multiple ±2^z."""
    return abs(multiple).bit_length() - 1
