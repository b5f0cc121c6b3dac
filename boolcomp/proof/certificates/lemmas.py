"""Proofs of SAT solvers cut down to what they need, each clause with those that show it.

A clause follows where its negation leads to a conflict by unit propagation (RUP).

A literal is a variable from 1, negative where it is negated; in loops twice the variable, plus one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.loops import njit

MOST_TRACED = 1 << 23

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Clauses = Sequence[Sequence[int]]


class Step(NamedTuple):
    """A clause, and those that show it: each but the last leaves one literal that must hold."""

    clause: tuple[int, ...]
    hints: tuple[int, ...]


def trimmed(given: Clauses, added: Clauses, most: int = MOST_TRACED) -> list[Step] | None:
    """Return the steps of a proof that a conflict needs, the last of them empty.

    Clauses are counted from 0, first those given, then the steps. None where one does not follow
    from those before, where there is no conflict in the end, or where more hints than so many are
    needed.
    """
    clauses = [list(dict.fromkeys(clause)) for clause in (*given, *added)]
    ends = np.cumsum([0, *map(len, clauses)], dtype=np.int64)
    literals = np.array([2 * abs(x) + (x < 0) for clause in clauses for x in clause], np.int64)
    trace, bounds = np.zeros(most, np.int64), np.zeros(len(added) + 2, np.int64)
    place = _run(literals, ends, len(given), trace, bounds)
    if place <= len(clauses) or bounds[-1] > most:
        return None
    first = len(given)
    hints = {first + k: trace[bounds[k] : bounds[k + 1]].tolist() for k in range(len(added) + 1)}
    wanted = {len(clauses)}
    for number in reversed(hints):
        if number in wanted:
            wanted.update(hints[number])
    kept = sorted(number for number in wanted if number >= first)
    numbers = {number: first + k for k, number in enumerate(kept)}
    return [
        Step(
            tuple(added[number - first]) if number < len(clauses) else (),
            tuple(numbers.get(hint, hint) for hint in hints[number]),
        )
        for number in kept
    ]


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
            if conflict >= 0:
                _mark(conflict, place, literals, ends, reasons, seen, stack)
                bounds[place - given + 1] = _traced(
                    conflict, place, bounds[place - given], trail[:known], reasons, seen, trace
                )
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
def _mark(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    conflict: int, stamp: int, literals: Whole, ends: Whole, reasons: Whole, seen: Whole,
    stack: list[int],
) -> None:  # fmt: skip
    """Mark the clauses that a conflict comes from."""
    stack.clear()
    stack.append(conflict)
    seen[conflict] = stamp
    while len(stack) > 0:
        clause = stack.pop()
        for k in range(ends[clause], ends[clause + 1]):
            reason = reasons[literals[k] >> 1]
            if reason >= 0 and seen[reason] != stamp:
                seen[reason] = stamp
                stack.append(reason)


@njit(cache=True)
def _traced(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    conflict: int, stamp: int, start: int, trail: Whole, reasons: Whole, seen: Whole, trace: Whole
) -> int:
    """Write down the marked clauses in the order in which they propagate; return where they end."""
    for k in range(len(trail) + 1):
        clause = conflict if k == len(trail) else reasons[trail[k] >> 1]
        if clause >= 0 and seen[clause] == stamp and (k == len(trail) or clause != conflict):
            if start < len(trace):
                trace[start] = clause
            start += 1
    return start
