"""Compiled loops that find what is best in a node's place, at what its inversion costs row by row.

One inversion prices all changes of a node: each differs from it at some rows.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.compact.approximate.kernels import (
    ONE,
    attach,
    bit_at,
    popcount,
    release,
    saved_by,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOTHING = -1e300
PASSED_OVER = 0.25  # of near signals, at random: others are looked at each time
IDENTITY, INVERSE = 0xF0, 0x0F  # tables that pass their first operand on


class Active(NamedTuple):
    """The rows at which a node matters: what its inversion costs there, and its values."""

    rows: NDArray[np.int64]
    costs: NDArray[np.float64]
    values: NDArray[np.uint8]
    marks: NDArray[np.uint64]


class Choice(NamedTuple):
    """Signals that may stand in a node's place, and their values at active rows.

    The first `own` are the node's operands; functions are made of those before `together`.
    """

    signals: NDArray[np.int64]
    seen: NDArray[np.uint8]
    own: int
    together: int


@njit(cache=True)
def uniform(state: Any) -> Any:
    """Return the next random number in [0, 1)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.float64(state[0] >> np.uint64(11)) * 2.0**-53


@njit(cache=True)
def patience(state: Any) -> Any:
    """Return a random number of mean near 1.4 whose chance halves with every unit.

    It stands for a logarithm, which differs between machines in its last bit.
    """
    u, whole = 1.0 - uniform(state), 0
    while u <= 0.5:
        u, whole = 2 * u, whole + 1
    return whole + 2 * (1 - u)


@njit(cache=True)
def active_rows(by: Any, plane: Any, words: Any) -> Any:
    """Return the rows at which a node's inversion costs or gains something."""
    rows = np.flatnonzero(by)
    marks, values = np.zeros(words, np.uint64), np.empty(len(rows), np.uint8)
    for j, row in enumerate(rows):
        marks[row >> 6] |= ONE << np.uint64(row & 63)
        values[j] = bit_at(plane, row)
    return Active(rows, by[rows], values, marks)


@njit(cache=True)
def choose(nodes: Any, node: Any, planes: Any, active: Any, limits: Any, state: Any) -> Any:
    """Return the operands of a node, and signals like it: not too late, and not its readers.

    `limits` are the latest level, how many signals are chosen, how many for functions.
    """
    latest, alone, together = limits
    chosen, found = np.empty(3 + alone, np.int64), 0
    for s in nodes.fan[node]:
        if s >= 2 and not (chosen[:found] == s).any():
            chosen[found] = s
            found += 1
    own = found
    for s in nearest(nodes, node, planes, active, latest):
        if found == own + alone:
            break
        if not (chosen[:own] == s).any() and uniform(state) >= PASSED_OVER:
            chosen[found] = s
            found += 1
    seen = np.empty((found, len(active.rows)), np.uint8)
    for i in range(found):
        for j, row in enumerate(active.rows):
            seen[i, j] = bit_at(planes.now[chosen[i]], row)
    return Choice(chosen[:found], seen, own, min(found, max(own, together)))


@njit(cache=True)
def nearest(nodes: Any, node: Any, planes: Any, active: Any, latest: Any) -> Any:
    """Return signals by how little they, or their inverses, differ from a node where it matters."""
    near, off, count = np.empty(len(nodes.fan), np.int64), np.empty(len(nodes.fan), np.int64), 0
    total = len(active.rows)
    for s in range(2, len(nodes.fan)):
        if s >= nodes.first and (nodes.refs[s] <= 0 or nodes.size[s] != 1):
            continue
        if s == node or planes.marks[s] or nodes.level[s] > latest:
            continue
        differs = 0
        for k in range(len(active.marks)):
            differs += popcount((planes.now[s, k] ^ planes.now[node, k]) & active.marks[k])
        near[count], off[count] = s, min(differs, total - differs)
        count += 1
    return near[np.argsort(off[:count], kind="mergesort")]


@njit(cache=True)
def pooled(choice: Any, active: Any) -> Any:
    """Return patterns of values that occur, and what inverting the node at them costs.

    Bit 0 of a pattern is the node's value, bit i + 1 that of signal i.
    """
    count, total = choice.together, len(active.rows)
    sums, known = np.zeros(2 << count), np.zeros(2 << count, np.uint8)
    for j in range(total):
        pattern = np.int64(active.values[j])
        for i in range(count):
            pattern |= np.int64(choice.seen[i, j]) << (i + 1)
        sums[pattern] += active.costs[j]
        known[pattern] = 1
    patterns = np.flatnonzero(known)
    return patterns, sums[patterns]


@njit(cache=True)
def bare_move(nodes: Any, node: Any, choice: Any, active: Any) -> Any:
    """Return what the best constant or signal in a node's place gains, and that move."""
    best, new, move = NOTHING, np.zeros(3, np.int64), np.zeros(4, np.int64)
    ones = zeros = 0.0
    for j in range(len(active.costs)):
        if active.values[j]:
            ones += active.costs[j]
        else:
            zeros += active.costs[j]
    whole = release(nodes, node) + nodes.size[node]
    attach(nodes, node)
    for table, cost in ((0, ones), (255, zeros)):
        if whole - cost > best:
            best = whole - cost
            move[0], move[1:] = table, 0
    for i in range(len(choice.signals)):
        cost = 0.0
        for j in range(len(active.costs)):
            if choice.seen[i, j] != active.values[j]:
                cost += active.costs[j]
        inverse = ones + zeros - cost
        least = min(cost, inverse)
        if whole - least <= best:
            continue
        new[:] = choice.signals[i]
        gain = saved_by(nodes, node, new, 0) - least
        if gain > best:
            best = gain
            move[0], move[1:] = IDENTITY if cost <= inverse else INVERSE, new
    return best, move


@njit(cache=True)
def table_move(nodes: Any, node: Any, choice: Any, active: Any, least: Any, state: Any) -> Any:
    """Return what the best function of three signals gains, and that move.

    Where none gains anything, one of those that gain at least `least` is drawn.
    """
    best, beside, count, move = NOTHING, 0, choice.together, np.zeros(4, np.int64)
    patterns, costs = pooled(choice, active)
    gone = release(nodes, node)
    attach(nodes, node)
    new, one, zero = np.zeros(3, np.int64), np.zeros(8), np.zeros(8)
    for i in range(count):
        for j in range(i + 1, count):
            for k in range(j + 1, count):
                one[:], zero[:] = 0.0, 0.0
                for r in range(len(patterns)):
                    p = patterns[r]
                    row = (p >> (i + 1) & 1) << 2 | (p >> (j + 1) & 1) << 1 | p >> (k + 1) & 1
                    if p & 1:
                        zero[row] += costs[r]
                    else:
                        one[row] += costs[r]
                table, cost = 0, 0.0
                for row in range(8):
                    table |= int(one[row] < zero[row]) << row
                    cost += min(one[row], zero[row])
                bare = k < choice.own  # the node's own operands, with another table
                bound = (0 if bare else gone + nodes.size[node] - 1) - cost
                if bound < least or (bound <= best and best > 0) or (bare and cost > -1e-12):
                    continue
                new[0], new[1] = choice.signals[i], choice.signals[j]
                new[2] = choice.signals[k]
                gain = saved_by(nodes, node, new, 1) - cost
                if gain < least or (gain <= 0 and best > 0):
                    continue
                beside += 1
                if gain > max(best, 0.0) or (best <= 0 and uniform(state) * beside < 1):
                    best = gain
                    move[0], move[1:] = table, new
    return best, move


@njit(cache=True)
def completed(node: Any, planes: Any, active: Any, move: Any) -> Any:
    """Return a move's table, where no active row says what it must be as the node mostly is."""
    table, x, y, z = move[0], planes[move[1]], planes[move[2]], planes[move[3]]
    said = np.zeros(8, np.uint8)
    for row in active.rows:
        said[bit_at(x, row) << 2 | bit_at(y, row) << 1 | bit_at(z, row)] = 1
    for row in range(8):
        if said[row]:
            continue
        ones = zeros = 0
        for k in range(planes.shape[1]):
            here = x[k] if row & 4 else ~x[k]
            here &= y[k] if row & 2 else ~y[k]
            here &= z[k] if row & 1 else ~z[k]
            ones += popcount(here & planes[node, k])
            zeros += popcount(here & ~planes[node, k])
        table = table | 1 << row if ones > zeros else table & ~(1 << row)
    return table
