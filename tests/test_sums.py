"""Sums of terms: every cell against exact fractions, and the text of the smallest networks."""

from fractions import Fraction
from itertools import product
from math import floor

import pytest

from boolcomp.logic import Addend, Sum, evaluate, sum_network

# Addends as (bits, code, times), the output's bits, its guard bits.
Case = tuple[list[tuple[int, str, int]], int, int]
CASES: list[Case] = [
    ([(2, "natural", 1)], 1, 1),
    ([(2, "gray", 1)], 2, 1),
    ([(3, "natural", 1), (2, "gray", 1)], 3, 1),
    ([(4, "gray", 1), (3, "natural", 1), (3, "gray", 1)], 3, 2),
    ([(3, "gray", 2), (2, "natural", 1)], 4, 1),
    ([(3, "gray", 3), (1, "gray", 1)], 4, 2),
    ([(2, "natural", 5)], 2, 2),
    ([(4, "gray", 1), (4, "gray", 1), (1, "natural", 1)], 3, 0),
    ([(1, "natural", 1), (1, "gray", 2)], 4, 2),
    ([(3, "natural", 6), (3, "natural", 1)], 2, 3),
    ([(5, "gray", 1)], 1, 2),
    ([], 3, 2),
]


def exact(case: Case, cells: tuple[int, ...]) -> tuple[int, bool]:
    """Return the cell of the sum of cell centres, the output's range 1 about zero, by fractions."""
    addends, bits, guard = case
    step = Fraction(2, 1 << bits) / (1 << guard)
    total = Fraction(0)
    for (width, _, times), cell in zip(addends, cells, strict=True):
        reach = step * (1 << width) / 2
        total += times * (-reach + (cell + Fraction(1, 2)) * step)
    cell = floor((total + 1) / Fraction(2, 1 << bits))
    last = (1 << bits) - 1
    return min(max(cell, 0), last), not 0 <= cell <= last


def word(cell: int, bits: int, kind: str) -> tuple[int, ...]:
    """Return the bits of a cell's word, the most significant first; Gray by reflection."""
    if bits == 0:
        return ()
    half = 1 << (bits - 1)
    upper = cell >= half
    rest = cell - half if upper else cell
    if upper and kind == "gray":
        rest = half - 1 - rest
    return (int(upper), *word(rest, bits - 1, kind))


def summed(case: Case) -> Sum:
    addends, bits, guard = case
    return Sum(tuple(Addend(b, kind, times) for b, kind, times in addends), bits, guard)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_sum_is_rounded_down_and_saturated_at_every_cell(case: Case) -> None:
    addends, bits, _ = case
    total = summed(case)
    network = sum_network(total)
    raw = []
    for cells in product(*(range(1 << b) for b, _, _ in addends)):
        cell, saturated = exact(case, cells)
        assert total.cell(cells) == (cell, saturated)
        inputs = [
            x for (b, kind, _), k in zip(addends, cells, strict=True) for x in word(k, b, kind)
        ]
        assert evaluate(network, tuple(inputs)) == (*word(cell, bits, "natural"), int(saturated))
        raw.append(total.offset + sum(t * k for (_, _, t), k in zip(addends, cells, strict=True)))
    assert (total.offset, total.highest) == (min(raw), max(raw))


@pytest.mark.parametrize(
    ("case", "text"),
    [
        (([(2, "natural", 1), (2, "gray", 1)], 2, 1),
         ("network 4 inputs 3 outputs 4 nodes\nn0 = i2 ^ i3\nn1 = i1 | n0\n"
         "n2 = 0xE8(i0, i2, n1)\nn3 = i0 ^ i2 ^ n1\noutputs n2 n3 0\n")),
        (([(3, "natural", 1)], 1, 1),  # it saturates below and above
         ("network 3 inputs 2 outputs 5 nodes\nn0 = i0 | i1\nn1 = ~(i0 ^ i1)\nn2 = ~i1 | n1\n"
         "n3 = n0 & n2\nn4 = ~n0 | n1\noutputs n3 n4\n")),
    ],
)  # fmt: skip
def test_the_text_of_the_smallest_sums(case: Case, text: str) -> None:
    assert str(sum_network(summed(case))) == text
