"""Exact multi-output minimisation: fewest products, then fewest literals, with a proof.

1. All multi-output primes (`primes`).
2. Points of ON as rows of a covering problem (`points`).
3. Essential primes, dominance, independent blocks (`covering`).
4. Bounds from both sides, then HiGHS on what is left (`blocks`, `milp`), until no point is missed
   and both bounds meet (`search`).
5. The same once more for the literals; at last outputs that a product need not serve are dropped.

Where the primes are too many, points and the products that hold them take their place (`unlisted`).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.loops import interpreting
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.dense import MOST_INPUTS, Dense
from boolcomp.twolevel.function import Cover
from boolcomp.twolevel.isop import isop, minterms
from boolcomp.twolevel.lists import GaveUpError, complement
from boolcomp.twolevel.milp import MEMORY, Milp
from boolcomp.twolevel.packed import Shape, literals, packed, unpacked
from boolcomp.twolevel.points import SearchedDemands, TableDemands
from boolcomp.twolevel.primes import LEAF_INPUTS, PrimesTooManyError, all_primes
from boolcomp.twolevel.search import MinimumCover
from boolcomp.twolevel.sparse import without_idle_outputs
from boolcomp.twolevel.unlisted import LONGEST, Unlisted
from boolcomp.twolevel.verify import verify
from boolcomp.twolevel.warm_exact import warm_exact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.function import Function
    from boolcomp.twolevel.points import Demands

PRIME_LIMIT = 400_000
"""The most primes that are listed; beyond, nothing is proved but a bound."""

WITHOUT = 0.35
"""The part of the time that is kept for what needs no list of primes."""

WITHOUT_WIDE = 0.8
"""Likewise where truth tables do not fit: the primes of such functions are mostly too many."""

AT_ONCE = 0.1
"""The part of the time after which listing primes begins, if no proof without was found."""


def minimise_exact(
    function: Function,
    deadline: float,
    *,
    start: Cubes | None = None,
    memory: int = MEMORY,
    prime_limit: int = PRIME_LIMIT,
) -> Cover:
    """Return a cover with the fewest products and, among those, the fewest literals.

    `deadline` is in seconds (infinity allowed); compiling loops, once after installing, does not
    count. Where it ends first, or there are more than `prime_limit` primes, the best cover known
    (at worst `start`) comes with a proved lower bound and a note. `start` is any cover of the
    function (ValueError if it is none), by default its own ON cubes; `memory` limits HiGHS, in
    bytes.
    """
    if not interpreting():
        warm_exact()
    clock = Clock(min(deadline, LONGEST))
    end = time.monotonic() + 0.97 * clock.left
    shape = Shape(function.inputs, function.outputs)
    given, start = start, _sound(function, start, clock)
    try:
        on, dont_care = sets_of(function, start, clock)
    except GaveUpError:
        note = "deadline reached before ON and DC were known as cubes"
        return Cover(_at_once(function) if given is None else given, "given", note=note)
    first = on if start is None else packed(start)
    allowed = np.concatenate([on, dont_care])
    unlisted = Unlisted(function, first, (on, dont_care, allowed))
    if shape.inputs > LEAF_INPUTS:  # else listing all primes takes no time
        known = unlisted.needed(Clock(AT_ONCE * clock.left))
        if known.proved:
            return replace(known, seconds=clock.elapsed)
    try:
        kept = WITHOUT if shape.inputs <= MOST_INPUTS else WITHOUT_WIDE
        primes = all_primes(allowed, shape, prime_limit, end - kept * clock.left)
    except PrimesTooManyError as error:
        known = unlisted.prove(Clock(end - time.monotonic()))
        note = known.note if known.proved else str(error)
        return replace(known, seconds=clock.elapsed, note=note)
    demands = demands_of(on, dont_care, primes, shape, clock)
    found, proved, bound, note = _searched(demands, first, memory, end)
    cubes = unpacked(without_idle_outputs(found, dont_care, shape, end), shape).canonical()
    return Cover(cubes, "exact", proved, bound, clock.elapsed, note)


def _at_once(function: Function) -> Cubes:
    """Return a cover that takes no search."""
    return minterms(function.dense) if function.given_on is None else function.given_on


def _sound(function: Function, start: Cubes | None, clock: Clock) -> Cubes | None:
    """Return the start if it was found to be a cover in time; ValueError if it is none."""
    if start is None:
        return None
    try:
        witness = verify(function, start, Clock(clock.left / 10))
    except GaveUpError:
        return None
    if witness is not None:
        raise ValueError(f"the start is not a cover: {witness}")
    return start


def sets_of(
    function: Function, start: Cubes | None, clock: Clock
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return cubes around all of ON within ON and DC, and cubes of all of DC.

    Raises `GaveUpError` where the clock runs out first.
    """
    given = function.given_on is not None and function.given_dc is not None
    if given and function.given_off is None:
        return packed(function.on), packed(function.dc)
    if not function.is_dense:
        assert function.given_off is not None  # noqa: S101 (else it would be given or dense)
        return packed(function.on), packed(_free(function, clock))
    table = function.dense
    on = isop(table, clock) if start is None else start
    nothing = table.dc & ~table.dc
    dont_care = isop(Dense(table.inputs, table.outputs, table.dc, nothing), clock)
    if on is None or dont_care is None:
        raise GaveUpError
    return packed(on), packed(dont_care)


def demands_of(
    on: NDArray[np.uint64],
    dont_care: NDArray[np.uint64],
    primes: NDArray[np.uint64],
    shape: Shape,
    clock: Clock,
) -> Demands:
    """Return what of ON the primes are to cover: a table where it fits, else points as missed."""
    kind = TableDemands if TableDemands.fits(primes, shape, clock.left) else SearchedDemands
    return kind(on, dont_care, primes, shape)


def _free(function: Function, clock: Clock) -> Cubes:
    """Return the points outside OFF and ON, where OFF is given."""
    assert function.given_off is not None  # noqa: S101 (the caller looked)
    return complement(function.on.joined(function.given_off), clock).joined(function.dc)


def _searched(
    demands: Demands, first: NDArray[np.uint64], memory: int, end: float
) -> tuple[NDArray[np.uint64], bool, int, str]:
    """Return the best cover, whether it is proved, the bound, and what fell short."""
    note = ""
    with Milp(memory) as milp:
        search = MinimumCover(demands, literals(demands.primes, demands.shape), milp)
        proved = search.fewest(end)
        if search.best is None or len(first) < len(search.best):
            if len(first) > search.bound:
                return first, False, search.bound, "deadline reached before the proof"
            search.best = demands.primes_around(first)
            proved = True
        if not proved:
            note = "deadline reached before the proof"
        elif not search.lightest(end):
            note = "deadline reached before the literals were proved least"
        note = "; ".join([*filter(None, [note]), *_in_floating_point(search)])
    return demands.primes[search.best], proved, search.bound, note


def _in_floating_point(search: MinimumCover) -> Iterator[str]:
    """Say what is proved by branch and bound in floating point alone."""
    if search.exact < search.bound:
        yield (
            f"at least {search.bound} by branch and bound in floating point; in whole numbers "
            f"at least {search.exact}"
        )
    elif not search.literals_exact:
        yield "that literals are least is proved in floating point"
