"""Exact multi-output minimisation: fewest products, then fewest literals, with a proof.

1. List all multi-output primes, with points of ON as rows of a covering problem (`primes`).
2. Remove essential primes and dominated rows and columns; split into blocks (`setcover`).
3. Bound from both sides, and solve the rest (`solvers`), until no point is missed and both bounds
   meet.
4. Do the same for the literals; drop superfluous outputs of products.

If there are too many primes, points and the sets of them in a product take their place
(`unlisted`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.errors import UsageError, shown
from boolcomp.base.loops import interpreting
from boolcomp.twolevel.cubes import MOST_INPUTS, Clock, Cubes, GaveUpError, Shape, literals
from boolcomp.twolevel.function import Cover
from boolcomp.twolevel.heuristic import Sweeps
from boolcomp.twolevel.primes import (
    LEAF_INPUTS,
    Budget,
    PrimesTooManyError,
    SearchedDemands,
    TableDemands,
    all_primes,
    merged,
)
from boolcomp.twolevel.setcover import (
    Known,
    LocalSearch,
    greedy_columns,
    independent,
    lagrangian,
    reduced,
    solve_block,
    solved,
)
from boolcomp.twolevel.solvers import Milp, MilpAnswer
from boolcomp.twolevel.unlisted import LONGEST, Gatherer, Unlisted, independent_points

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.twolevel.cubes import I64, U64
    from boolcomp.twolevel.function import Function
    from boolcomp.twolevel.primes import Demands
    from boolcomp.twolevel.setcover import CoverMatrix


class MinimumCover:
    """An anytime search for a minimum cover: solve the known rows, add missed points, repeat.

    The optimum over some rows is a lower bound (`bound`); a cover that misses no point (`best`, its
    columns, or None) is an upper bound. `exact` is the bound proved in whole numbers; `bound` may
    be proved by branch and bound in floating point. Likewise the minimum of the literals, unless
    `literals_exact`.
    """

    def __init__(self, demands: Demands, cost: I64, milp: Milp) -> None:
        self.best: I64 | None = None
        self.bound = self.exact = self.least = 0
        self.literals_exact = True
        self._demands = demands
        self._cost = cost
        self._milp = milp
        self._known: Known = {}

    @property
    def proved(self) -> bool:
        return self.best is not None and self.bound >= len(self.best)

    def fewest(self, clock: Clock) -> bool:
        """Search for the fewest columns while time lasts; tell if proved."""
        while not self.proved:
            try:
                essential, core = self._covered(clock)
                if self.proved:
                    break
                found = solved(essential, core, self._milp, clock, self._known)
                self.bound = max(self.bound, found.bound)
                self.exact = max(self.exact, found.exact)
                whole = not self._demands.add_missed(found.chosen, clock)
            except GaveUpError:
                return False
            if whole:
                self._offer(found.chosen)
                return self.proved
            if clock.over:
                return False
        return True

    def lightest(self, clock: Clock, *, counted: bool = True) -> bool:
        """Search for the least cost, and keep a proved bound (`least`) of it; tell if proved.

        If `counted`, the number of columns is that of `best`, after `fewest` is True.
        """
        while not clock.over:
            try:
                essential, core = reduced(self._demands.matrix, clock, self._cost)
                count = (
                    len(self.best) - len(essential) if counted and self.best is not None else None
                )
                found = self._light_core(core, count, clock)
                if found.chosen is None:
                    return False
                chosen, fixed = np.append(essential, found.chosen), self._cost[essential].sum()
                self.least = max(self.least, int(fixed) + found.exact)
                whole = not self._demands.add_missed(chosen, clock)
            except GaveUpError:
                return False
            if whole:
                value = int(self._cost[chosen].sum())
                if self.best is None or value < self._cost[self.best].sum():
                    self.best = np.sort(chosen)
                proved = value <= fixed + found.bound
                self.literals_exact = not proved or value <= fixed + found.exact
                return bool(proved)
        return False

    def _covered(self, clock: Clock) -> tuple[I64, CoverMatrix]:
        """Add rows until a greedy cover misses no point; return the last reduction."""
        while True:
            essential, core = reduced(self._demands.matrix, clock)
            greedy = np.concatenate([essential, greedy_columns(core)])
            self.exact = max(self.exact, len(essential) + independent(core))
            self.bound = max(self.bound, self.exact)
            if not self._demands.add_missed(greedy, clock):
                self._offer(greedy)
                return essential, core
            clock.check()

    def _offer(self, columns: I64) -> None:
        if self.best is None or len(columns) < len(self.best):
            self.best = np.sort(columns)

    def _light_core(self, core: CoverMatrix, count: int | None, clock: Clock) -> MilpAnswer:
        """Return columns, `count` of them if given, that cover a core at low cost, and bounds."""
        blocks = list(core.blocks())
        chosen, bound, exact = [np.zeros(0, np.int64)], 0, 0
        for k, block in enumerate(blocks):
            least = count  # the rest, for the last and largest block
            if count is not None and k + 1 < len(blocks):
                solution = solve_block(block, self._milp, clock, self._known)
                least = solution.value
                count -= least
                if not solution.proved:
                    return MilpAnswer(None, 0, 0)
            columns, local = np.unique(block.indices, return_inverse=True)
            cost = self._cost[columns]
            hint = None if self.best is None else np.flatnonzero(np.isin(columns, self.best))
            answer = self._milp.solve(block.starts, local, cost, clock.left, least, hint=hint)
            if answer.chosen is None:
                return MilpAnswer(None, 0, 0)
            bound, exact = bound + answer.bound, exact + answer.exact
            chosen.append(columns[answer.chosen].astype(np.int64))
        return MilpAnswer(np.concatenate(chosen), bound, exact)


PRIME_LIMIT = 400_000  # listed primes, at most
# Shares of the time: for a proof without a list of primes, the same for functions without truth
# tables (they often have too many primes), and before primes are listed.
WITHOUT, WITHOUT_WIDE, AT_ONCE = 0.35, 0.8, 0.1


def minimise_exact(
    function: Function, start: Cubes, deadline: float, prime_limit: int = PRIME_LIMIT
) -> Cover:
    """Return a cover with the fewest products and, among those, the fewest literals.

    `start` is a cover of the function; it is not verified. `deadline` is in seconds (infinity
    allowed), without the compilation of loops. If it ends first, or there are more than
    `prime_limit` primes, the result is the best cover known, with a proved lower bound and a note.
    """
    if not interpreting():
        warm_exact()
    whole = Clock(min(deadline, LONGEST))
    clock, shape = Clock(0.97 * whole.left), start.shape
    try:
        on, dont_care, allowed = sets_of(function, start, clock)
    except GaveUpError:
        note = "deadline reached before ON and DC were known as cubes"
        return Cover(start, "given", note=note)
    unlisted = Unlisted(function, start, (on, dont_care, allowed))
    if shape.inputs > LEAF_INPUTS:  # else all primes are listed at once
        known = unlisted.needed(Clock(AT_ONCE * clock.left))
        if known.proved:
            return replace(known, seconds=whole.elapsed)
    try:
        kept = WITHOUT if shape.inputs <= MOST_INPUTS else WITHOUT_WIDE
        primes = all_primes(allowed, shape, prime_limit, Clock((1 - kept) * clock.left))
    except PrimesTooManyError as error:
        known = unlisted.prove(clock)
        note = known.note if known.proved else str(error)
        return replace(known, seconds=whole.elapsed, note=note)
    demands = demands_of(on, dont_care, primes, shape, clock)
    found, proved, bound, note = _searched(demands, start.valid_rows(), clock)
    cubes = _thinned(shape.cubes(found), dont_care, allowed, clock).canonical()
    return Cover(cubes, "exact", proved, bound, whole.elapsed, note)


def _thinned(cubes: Cubes, dont_care: U64, allowed: U64, clock: Clock) -> Cubes:
    """Drop superfluous outputs of products, those with many literals first, while time lasts."""
    work = Sweeps(cubes, dont_care, allowed, within=True)
    work.thin(np.argsort(-literals(cubes.packed, cubes.shape), kind="stable"), clock)
    return work.cubes()


def sets_of(function: Function, start: Cubes, clock: Clock) -> tuple[U64, U64, U64]:
    """Return cubes that cover ON within ON and DC (the start of a table), cubes of DC, and both.

    Raises `GaveUpError` where the clock runs out first.
    """
    stated = function.stated(clock)
    on = (stated.on if stated.given_table is None else start).valid_rows()
    dont_care = stated.dc.valid_rows()
    return on, dont_care, np.concatenate([on, dont_care])


def demands_of(on: U64, dont_care: U64, primes: U64, shape: Shape, clock: Clock) -> Demands:
    """Return the points to cover: in a table where it fits, else points as they are missed."""
    kind = TableDemands if TableDemands.fits(primes, shape, clock.left) else SearchedDemands
    return kind(on, dont_care, primes, shape)


def _searched(demands: Demands, first: U64, clock: Clock) -> tuple[U64, bool, int, str]:
    """Return the best cover, whether it is proved, the bound, and a note."""
    note = ""
    with Milp() as milp:
        search = MinimumCover(demands, literals(demands.primes, demands.shape), milp)
        proved = search.fewest(clock)
        if search.best is None or len(first) < len(search.best):
            if len(first) > search.bound:
                return first, False, search.bound, "deadline reached before the proof"
            search.best = demands.primes_around(first)
            proved = True
        if not proved:
            note = "deadline reached before the proof"
        elif not search.lightest(clock):
            note = "deadline reached before the literals were proved minimal"
        note = "; ".join([*filter(None, [note]), *_in_floating_point(search)])
    return demands.primes[search.best], proved, search.bound, note


def _in_floating_point(search: MinimumCover) -> Iterator[str]:
    """Yield a note on results that are proved in floating point only."""
    if search.exact < search.bound:
        yield (
            f"at least {search.bound} by branch and bound in floating point; in whole numbers "
            f"at least {search.exact}"
        )
    elif not search.literals_exact:
        yield "the minimum of literals is proved in floating point only"


# --------------------------------------------------------------------------------------------------
# Covers of least cost, for prices of products and literals: exact, with a bound.
#
# There is a cover of least cost made of primes, because a product within a prime has no fewer
# literals. This is the covering problem above with a price on every column.
# --------------------------------------------------------------------------------------------------

MOST = 1_000_000
NAMED = {"products": (1, 0), "literals": (0, 1)}


class ProductPrices(NamedTuple):
    """The cost of a product and of each of its literals."""

    product: int
    literal: int

    def of(self, cubes: U64, shape: Shape) -> I64:
        return self.product + self.literal * literals(cubes, shape)


class PricedCover(NamedTuple):
    """A cover, its cost, and a lower bound on the cost of any cover."""

    cover: Cover
    cost: int
    bound: int


def prices(text: str) -> ProductPrices:
    """Parse `products`, `literals`, or whole numbers for a product and a literal: `3:1`."""
    if text in NAMED:
        return ProductPrices(*NAMED[text])
    first, colon, second = text.partition(":")
    if not (colon and all(part.isascii() and part.isdigit() for part in (first, second))):
        raise UsageError(
            f"unknown cost {shown(text)}", "give products, literals, or prices of both, as 3:1"
        )
    found = ProductPrices(int(first), int(second))
    if not 0 < max(found) <= MOST:
        raise UsageError(
            f"cost {shown(text)} has an invalid price", f"use 0 to {MOST}, one above 0"
        )
    return found


def cheapest(
    function: Function, price: ProductPrices, start: Cover, deadline: float | None = None
) -> PricedCover:
    """Return a cover of least cost; at the deadline the best one known."""
    warm_exact()
    whole = Clock(min(LONGEST, LONGEST if deadline is None else deadline))
    clock, shape = Clock(0.97 * whole.left), start.cubes.shape
    first = int(price.of(start.cubes.packed, shape).sum())
    try:
        on, free, allowed = sets_of(function, start.cubes, clock)
        primes = all_primes(allowed, shape, PRIME_LIMIT, Clock(clock.left / 2))
    except (GaveUpError, PrimesTooManyError):
        return PricedCover(start, first, 0)
    with Milp() as milp:
        demands = demands_of(on, free, primes, shape, clock)
        search = MinimumCover(demands, price.of(primes, shape), milp)
        search.lightest(clock, counted=False)
    if search.best is None or int(price.of(primes[search.best], shape).sum()) > first:
        return PricedCover(start, first, search.least)
    cubes = _thinned(shape.cubes(primes[search.best]), free, allowed, clock).canonical()
    cost = int(price.of(cubes.packed, shape).sum())
    return PricedCover(Cover(cubes, "exact", seconds=whole.elapsed), cost, search.least)


@cache
def warm_exact() -> None:
    """Compile or load the loops of exact minimisation, once per process."""
    rows = [(f"{x:03b}", f"{w:02b}") for x, w in enumerate((1, 3, 3, 2, 2, 3, 3, 1))]
    cubes, clock = Cubes.from_rows(3, 2, rows), Clock()
    on, shape = cubes.valid_rows(), cubes.shape
    primes = merged(on[:4], on[4:], 0, shape, Budget(1000, clock))
    for kind in (TableDemands, SearchedDemands):
        demands = kind(on, on[:0], primes, shape)
        demands.add_missed(np.zeros(0, np.int64), clock)
        demands.primes_around(on)
    matrix = demands.matrix
    list(matrix.blocks())
    reduced(matrix, clock)
    lagrangian(matrix, greedy_columns(matrix), clock)
    LocalSearch(matrix, greedy_columns(matrix), 0).run(5, clock)
    _thinned(cubes, on[:1], on, clock)
    independent_points(on, on[:1], on, shape, clock)
    off = Cubes.from_rows(3, 2, [("000", "10"), ("011", "01")]).valid_rows()
    Gatherer(on, on[:0], off, shape).search(clock)
