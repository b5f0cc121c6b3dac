"""The layout of heaps: which bit of which word stands in which column, and what the constant is.

Said once, for the noise model, the realisation, the logic and the simulation. Columns count from
the lowest of a heap, 2^cut; what would stand below column 0 is discarded. A word's bit i counts
±2^(lsb + i - 1) (see `graph`); so discarding bits loses nothing in the mean, and the constant is
the heap's middle and half of all that is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.compact.graph.tabulate import needed_bits
from boolcomp.compact.sketch.poly import signed_digits
from boolcomp.compact.sketch.variables import Role, Widths
from boolcomp.words.layout import Grid, HeapRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.compact.sketch.sketch import Linear, Product

MARGIN = 1.02  # a sampled extreme may be exceeded by this much
SLACK_STEPS = 3  # and by the errors of what is added, in steps of the heap
HALF = 1e-6
DIGITS = 12  # signed digits of a constant at most


@dataclass(frozen=True, slots=True)
class Statistics:
    """What samples say of a sketch's values: the largest size of every node, means of addends.

    `sure` ones are of all states there are, at all of which graphs are simulated: outputs that
    leave their range are noticed, and need no room for it.
    """

    largest: tuple[float, ...]
    means: tuple[tuple[float, ...], ...]
    sure: bool = False

    def output_bits(self, place: int, lsb: int) -> int:
        """Return the columns of an output's heap."""
        largest = self.largest[place]
        return needed_bits(largest, lsb) if self.sure else heap_bits(largest, lsb, output=True)


class Format(NamedTuple):
    """A word: the exponent of its lowest bit, and how many bits it has."""

    lsb: int
    bits: int


def linear_rows(
    widths: Widths, place: int, k: int, addend: Linear, words: Sequence[Format]
) -> Iterator[tuple[int, float, HeapRow]]:
    """Yield how addend k of a sum stands in its heap: the place of a word, a digit, its row.

    `words` add up to what the addend reads. A row may be empty, where all is discarded.
    """
    cut, digits = widths[Role.CUT.of(place)], widths.get(Role.DIGITS.of(place, k), DIGITS)
    for i, word in enumerate(words):
        for digit in constant_digits(addend.factor, digits):
            column = _exponent(digit) + word.lsb - cut
            drop = min(max(0, -column), word.bits)
            yield i, digit, HeapRow(drop, column + drop, word.bits - drop)


def product_grid(widths: Widths, place: int, k: int, addend: Product, a: Format, b: Format) -> Grid:
    """Return how a product, addend k of a sum, stands in its heap; one digit is always left."""
    drop_a = min(widths.get(Role.DROP_A.of(place, k), 0), a.bits - 1)
    drop_b = min(widths.get(Role.DROP_B.of(place, k), 0), b.bits - 1)
    lowest = _exponent(addend.factor) + a.lsb + drop_a + b.lsb + drop_b - 1
    return Grid(
        lowest - widths[Role.CUT.of(place)], drop_a, a.bits - drop_a, drop_b, b.bits - drop_b
    )


def factor_grids(
    widths: Widths, place: int, k: int, addend: Linear, a: Format, b: Format
) -> Iterator[tuple[float, Grid]]:
    """Yield how the product of two words that are part of what addend k reads stands in its heap.

    There is one for every digit of the addend's constant.
    """
    cut, digits = widths[Role.CUT.of(place)], widths.get(Role.DIGITS.of(place, k), DIGITS)
    for digit in constant_digits(addend.factor, digits):
        yield digit, Grid(_exponent(digit) + a.lsb + b.lsb - 1 - cut, 0, a.bits, 0, b.bits)


@lru_cache(maxsize=1 << 16)
def constant_digits(factor: float, most: int) -> tuple[float, ...]:
    """Return the signed powers of two that stand for an addend's factor."""
    return signed_digits(factor, abs(factor) * 2.0**-20, most)


def _exponent(power: float) -> int:
    return math.frexp(abs(power))[1] - 1


def heap_bits(largest: float, lsb: int, *, output: bool) -> int:
    """Return the columns of a heap whose sum reaches ±largest; an output errs by whole steps."""
    slack = SLACK_STEPS * (1.0 if output else 2.0**lsb)
    return needed_bits(largest * MARGIN + slack, lsb)


def heap_constant(weight: int, centre: float, lsb: int, bits: int) -> float:
    """Return what a heap has to add, in steps, so that its word's middle stands for 0.

    `weight` is what all its bits count, `centre` what the sum is where all digits are zero.
    """
    return centre / 2.0**lsb - weight / 2 - 0.5 + 2.0 ** (bits - 1)


def is_half(constant: float) -> bool:
    """Tell whether a constant is no whole number by as much as can be.

    The word is then half a step off. Where it must lie about zero, a word in the heap gives up its
    lowest bit: that changes the parity of column 0.
    """
    return abs(constant - math.floor(constant) - 0.5) < HALF
