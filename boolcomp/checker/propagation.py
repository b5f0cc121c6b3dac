"""Clauses checked by unit propagation: one follows where its negation leads to a conflict (RUP).

A literal is a variable from 1, negative where it is negated; in loops twice the variable, plus one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Clauses = Sequence[Sequence[int]]


def unproved(given: Clauses, added: Clauses) -> int | None:
    """Return which of the added clauses does not follow; None where all lead to a conflict.

    Where there is none in the end it is the one after the last.
    """
    return _proved(given, added, np.zeros(0, np.int64), np.zeros(0, np.int64))


def needed(given: Clauses, added: Clauses, most: int) -> list[int] | None:
    """Return which added clauses a conflict needs; None where there is none, or it is too long.

    At most so many numbers of clauses are remembered.
    """
    trace, bounds = np.zeros(most, np.int64), np.zeros(len(added) + 2, np.int64)
    if _proved(given, added, trace, bounds) is not None or bounds[-1] > most:
        return None
    wanted, first = {len(given) + len(added)}, len(given)
    for place in reversed(range(first, first + len(added) + 1)):
        if place in wanted:
            wanted.update(trace[bounds[place - first] : bounds[place - first + 1]].tolist())
    return sorted(k - first for k in wanted if first <= k < first + len(added))


def _proved(given: Clauses, added: Clauses, trace: Whole, bounds: Whole) -> int | None:
    clauses = [list(dict.fromkeys(clause)) for clause in (*given, *added)]
    ends = np.cumsum([0, *map(len, clauses)], dtype=np.int64)
    literals = np.array([2 * abs(x) + (x < 0) for clause in clauses for x in clause], np.int64)
    place = int(_run(literals, ends, len(given), trace, bounds))
    return None if place > len(clauses) else place - len(given)


@njit(cache=True)
def _run(literals: Whole, ends: Whole, given: int, trace: Whole, bounds: Whole) -> int:
    """Return the first clause that does not follow; after the last there must be a conflict."""
    size = 2 if len(literals) == 0 else int(literals.max()) + 2
    heads, follow = np.full(size, -1), np.full(2 * len(ends), -1)
    values, reasons, trail = np.zeros(size, np.int64), np.full(size, -1), np.zeros(size, np.int64)
    units, seen, stack = np.zeros(len(ends), np.int64), np.zeros(len(ends), np.int64), [0]
    count = 0  # of units
    for place in range(len(ends)):
        start, end = ends[place], ends[min(place + 1, len(ends) - 1)]
        if place >= given:
            assumed = _assumed(start, end, literals, values, trail)
            conflict, known = _conflict(
                units[:count], assumed, literals, ends, heads, follow, values, reasons, trail
            )
            if conflict >= 0 and len(bounds) > 0:
                bounds[place - given + 1] = _traced(
                    conflict, place, bounds[place - given], literals, ends, reasons, seen, stack,
                    trace,
                )  # fmt: skip
            for k in range(known):
                values[trail[k]] = values[trail[k] ^ 1] = 0
                reasons[trail[k] >> 1] = -1
            if conflict < 0:
                return place
        if end - start < 2:
            units[count] = place
            count += 1
        else:
            for k in range(2):
                follow[2 * place + k] = heads[literals[start + k]]
                heads[literals[start + k]] = 2 * place + k
    return len(ends)


@njit(cache=True)
def _assumed(start: int, end: int, literals: Whole, values: Whole, trail: Whole) -> int:
    """Assume that a clause does not hold; return how many literals that makes known."""
    count = 0
    for k in range(start, end):
        no = literals[k] ^ 1
        if values[no] == 0:
            values[no], values[no ^ 1] = 1, -1
            trail[count] = no
            count += 1
    return count


@njit(cache=True)
def _conflict(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    units: Whole, count: int, literals: Whole, ends: Whole, heads: Whole, follow: Whole,
    values: Whole, reasons: Whole, trail: Whole,
) -> tuple[int, int]:  # fmt: skip
    """Propagate; return a clause that cannot hold, or -1, and how many literals are known."""
    for clause in units:
        if ends[clause] == ends[clause + 1] or values[literals[ends[clause]]] < 0:
            return clause, count
        one = literals[ends[clause]]
        if values[one] == 0:
            values[one], values[one ^ 1], reasons[one >> 1] = 1, -1, clause
            trail[count] = one
            count += 1
    conflict, done = -1, 0
    while conflict < 0 and done < count:
        conflict, count = _propagate(
            trail[done] ^ 1, literals, ends, heads, follow, values, reasons, trail, count
        )
        done += 1
    return conflict, count


@njit(cache=True)
def _propagate(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    false: int, literals: Whole, ends: Whole, heads: Whole, follow: Whole, values: Whole,
    reasons: Whole, trail: Whole, count: int,
) -> tuple[int, int]:  # fmt: skip
    """Look at all clauses that watch a literal which became false; return a conflict, the trail."""
    watch, heads[false], conflict = heads[false], -1, -1
    while watch >= 0:
        later, clause, k = follow[watch], watch >> 1, watch & 1
        start = ends[clause]
        other, moved = literals[start + 1 - k], False
        if conflict < 0 and values[other] != 1:
            for j in range(start + 2, ends[clause + 1]):
                if values[literals[j]] >= 0:
                    literals[start + k], literals[j] = literals[j], false
                    new = literals[start + k]
                    follow[watch], heads[new], moved = heads[new], watch, True
                    break
            if not moved and values[other] < 0:
                conflict = clause
            elif not moved:
                values[other], values[other ^ 1], reasons[other >> 1] = 1, -1, clause
                trail[count] = other
                count += 1
        if not moved:
            follow[watch] = heads[false]
            heads[false] = watch
        watch = later
    return conflict, count


@njit(cache=True)
def _traced(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    conflict: int, stamp: int, start: int, literals: Whole, ends: Whole, reasons: Whole,
    seen: Whole, stack: list[int], trace: Whole,
) -> int:  # fmt: skip
    """Write down the clauses that a conflict comes from; return where they end."""
    stack.clear()
    stack.append(conflict)
    seen[conflict] = stamp
    while len(stack) > 0:
        clause = stack.pop()
        if start < len(trace):
            trace[start] = clause
        start += 1
        for k in range(ends[clause], ends[clause + 1]):
            reason = reasons[literals[k] >> 1]
            if reason >= 0 and seen[reason] != stamp:
                seen[reason] = stamp
                stack.append(reason)
    return start
