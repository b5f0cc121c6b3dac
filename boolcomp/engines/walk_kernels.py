"""Walking decision diagrams and adding words, sample by sample; compiled by numba."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Any

from boolcomp.common.loops import njit

WALK, ADD = 0, 1  # what a step does
NATURAL, GRAY, TWOS, SIGN = range(4)  # codes of words that are added


@njit(cache=True)
def cell_of(word: Any, bits: Any, kind: Any) -> Any:
    """Return the cell of a mid-rise word in a code."""
    half = 1 << (bits - 1)
    if kind == GRAY:
        shift = 1
        while shift < bits:
            word ^= word >> shift
            shift <<= 1
    elif kind == TWOS:
        word ^= half
    elif kind == SIGN:
        word = half - 1 - (word ^ half) if word >= half else word + half
    return word


@njit(cache=True)
def walk(words: Any, steps: Any, nodes: Any, leaves: Any, addends: Any, sums: Any) -> None:
    """Fill the columns of words, step by step, in the rows of all samples.

    A step is (what, column to fill, node to begin at | place of the sum); a node (column, shift,
    node on a 0, node on a 1), a leaf ~ its place; an addend (column, shift, bits, kind, times); a
    sum (first addend, end, offset, guard bits, bits).
    """
    for row in range(len(words)):
        given = words[row]
        for k in range(len(steps)):
            target, at = steps[k, 1], steps[k, 2]
            if steps[k, 0] == WALK:
                while at >= 0:
                    at = nodes[at, 2 + (given[nodes[at, 0]] >> nodes[at, 1] & 1)]
                given[target] = leaves[~at]
                continue
            total = sums[at, 2]
            for j in range(sums[at, 0], sums[at, 1]):
                bits = addends[j, 2]
                word = given[addends[j, 0]] >> addends[j, 1] & ((1 << bits) - 1)
                total += addends[j, 4] * cell_of(word, bits, addends[j, 3])
            total >>= sums[at, 3]
            last = (1 << sums[at, 4]) - 1
            cell = min(max(total, 0), last)
            given[target] = cell << 1 | (cell != total)
