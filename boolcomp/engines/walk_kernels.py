"""Numbers to words, walks through decision diagrams, sums, and words to numbers, compiled by numba.

Numbers are coded as `codes.Code` does it, operation for operation: equal bits depend on that.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import math
from typing import Any

from boolcomp.base.loops import njit
from boolcomp.codes import MOST_TURNS, TIE

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


@njit(cache=True)
def read(given: Any, words: Any, ports: Any, ranges: Any) -> Any:
    """Fill the first columns of words from numbers; return how many saturated, -1 for no number.

    A port is (column of numbers, cells, first cell that has a word, wraps, Gray), its range where
    it begins, its step, and the most steps that are within it.
    """
    outside = 0
    for row in range(len(given)):
        for k in range(len(ports)):
            cells = ports[k, 1]
            value = float(given[row, ports[k, 0]])
            scaled = (value - ranges[k, 0]) / ranges[k, 1]
            if not math.isfinite(value):
                return -1
            if ports[k, 3]:
                if abs(value) > MOST_TURNS * ranges[k, 2]:
                    return -1
                scaled -= math.floor(scaled / cells) * cells
                cell = math.floor(scaled + TIE) & (cells - 1)
            else:
                outside += scaled < -TIE or scaled > ranges[k, 2] + TIE
                scaled = min(max(scaled, 0.0), float(cells))
                cell = min(max(math.floor(scaled + TIE), ports[k, 2]), cells - 1)
            words[row, k] = cell ^ cell >> 1 if ports[k, 4] else cell
    return outside


@njit(cache=True)
def write(columns: Any, results: Any, runs: Any, scales: Any, values: Any, words: Any) -> Any:
    """Fill values and words of results from columns; return how many saturated.

    A result is (first run of bits, end, Gray, column and shift of its flag), a run (column, shift,
    bits), most significant first; its scale what a cell's number is raised by, where steps are
    counted from, and the step.
    """
    clipped = 0
    for row in range(len(columns)):
        for k in range(len(results)):
            cell = 0
            for j in range(results[k, 0], results[k, 1]):
                part = columns[row, runs[j, 0]] >> runs[j, 1] & ((1 << runs[j, 2]) - 1)
                cell = cell << runs[j, 2] | part
            values[row, k] = scales[k, 1] + (cell + scales[k, 0]) * scales[k, 2]
            words[row, k] = cell ^ cell >> 1 if results[k, 2] else cell
            clipped += columns[row, results[k, 3]] >> results[k, 4] & 1
    return clipped
