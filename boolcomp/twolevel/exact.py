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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.errors import UsageError, shown
from boolcomp.base.loops import interpreting
from boolcomp.twolevel.cubes import MOST_INPUTS, Clock, Dense, Shape, literals, packed, unpacked
from boolcomp.twolevel.function import (
    Cover,
    GaveUpError,
    SearchEndedError,
    complement,
    isop,
    minterms,
    verify,
    without_idle_outputs,
)
from boolcomp.twolevel.minimisation import warm_exact
from boolcomp.twolevel.primes import (
    LEAF_INPUTS,
    PrimesTooManyError,
    SearchedDemands,
    TableDemands,
    all_primes,
)
from boolcomp.twolevel.setcover import greedy_columns, independent, reduced, solve_block
from boolcomp.twolevel.solvers import MEMORY, Milp
from boolcomp.twolevel.unlisted import LONGEST, Unlisted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.function import Function
    from boolcomp.twolevel.primes import Demands
    from boolcomp.twolevel.setcover import CoverMatrix, Solution


# --------------------------------------------------------------------------------------------------
# The search for a minimum cover: solve the rows known, look for points missed, and again.
#
# The optimum over some of the rows is a lower bound for all of them, and a cover that misses no
# point is an upper bound; once they meet the minimum is proved.
# --------------------------------------------------------------------------------------------------


class MinimumCover:
    """An anytime search: `best` (columns of a whole cover, or None) and `bound` improve as it runs.

    What of the bound is proved in whole numbers is `exact`; the rest is branch and bound's in
    floating point, and so is the least of the literals where they are not `literals_exact`.
    `fewest` looks for the fewest columns, `lightest` then for the least cost among those.
    """

    def __init__(
        self,
        demands: Demands,
        cost: NDArray[np.int64],
        milp: Milp,
        start: NDArray[np.int64] | None = None,
    ) -> None:
        self.best = start
        self.bound = self.exact = 0
        self.literals_exact = True
        self._demands = demands
        self._cost = cost
        self._milp = milp
        self._solved: dict[tuple[bytes, bytes], Solution] = {}

    @property
    def proved(self) -> bool:
        """Whether no cover has fewer columns than `best`."""
        return self.best is not None and self.bound >= len(self.best)

    def fewest(self, end: float) -> bool:
        """Search for the fewest columns until `time.monotonic()` is `end`; tell whether proved."""
        free = np.zeros(len(self._cost), np.int64)
        while not self.proved:
            try:
                essential, core = self._covered(free, end)
                if self.proved:
                    break
                chosen, bound, exact = self._minimum(core, end)
                self.bound = max(self.bound, len(essential) + bound)
                self.exact = max(self.exact, len(essential) + exact)
                whole = not self._demands.add_missed(np.concatenate([essential, chosen]), end)
            except SearchEndedError:
                return False
            if whole:
                self._offer(np.concatenate([essential, chosen]))
                return self.proved
            if time.monotonic() > end:
                return False
        return True

    def lightest(self, end: float) -> bool:
        """After `fewest` proved a minimum: least cost with as many columns; tell if proved."""
        while time.monotonic() < end:
            assert self.best is not None  # noqa: S101 (the caller asked `fewest` first)
            try:
                essential, core = reduced(self._demands.matrix, self._cost, end)
                found = self._light_core(core, len(self.best) - len(essential), end)
                if found is None:
                    return False
                chosen, exact = np.concatenate([essential, found[0]]), found[1]
                whole = not self._demands.add_missed(chosen, end)
            except SearchEndedError:
                return False
            if whole:
                if self._cost[chosen].sum() < self._cost[self.best].sum():
                    self.best = np.sort(chosen)
                return exact
        return False

    def _covered(
        self, cost: NDArray[np.int64], end: float
    ) -> tuple[NDArray[np.int64], CoverMatrix]:
        """Add rows until a greedy cover of them misses no point; return the last reduction."""
        while True:
            essential, core = reduced(self._demands.matrix, cost, end)
            greedy = np.concatenate([essential, greedy_columns(core)])
            self.exact = max(self.exact, len(essential) + independent(core))
            self.bound = max(self.bound, self.exact)
            if not self._demands.add_missed(greedy, end):
                self._offer(greedy)
                return essential, core
            if time.monotonic() > end:
                raise SearchEndedError

    def _offer(self, columns: NDArray[np.int64]) -> None:
        if self.best is None or len(columns) < len(self.best):
            self.best = np.sort(columns)

    def _minimum(self, core: CoverMatrix, end: float) -> tuple[NDArray[np.int64], int, int]:
        """Return columns that meet every row of a core, and proved bounds on their number."""
        chosen, bound, exact = [np.zeros(0, np.int64)], 0, 0
        for block in core.blocks():
            solution = self._block(block, end)
            chosen.append(solution.chosen)
            bound += solution.bound
            exact += solution.exact
        return np.concatenate(chosen), bound, exact

    def _block(self, block: CoverMatrix, end: float) -> Solution:
        """Solve a block; blocks solved before are remembered."""
        key = (block.starts.tobytes(), block.indices.tobytes())
        known = self._solved.get(key)
        if known is not None:
            return known
        solution = solve_block(block, self._milp, end)
        if solution.proved:
            self._solved[key] = solution
        return solution

    def _light_core(
        self, core: CoverMatrix, count: int, end: float
    ) -> tuple[NDArray[np.int64], bool] | None:
        """Return `count` columns of little cost that meet a core, and whether it is the least."""
        blocks = list(core.blocks())
        chosen, exact = [np.zeros(0, np.int64)], True
        for k, block in enumerate(blocks):
            least = count  # what is left for the last and largest block
            if k + 1 < len(blocks):
                solution = self._block(block, end)
                if not solution.proved:
                    return None
                least = solution.value
            columns, local = np.unique(block.indices, return_inverse=True)
            cost = self._cost[columns]
            left = end - time.monotonic()
            hint = None if self.best is None else np.flatnonzero(np.isin(columns, self.best))
            answer = self._milp.solve(block.starts, local, cost, left, least, hint=hint)
            if answer.chosen is None:
                return None
            value = int(cost[answer.chosen].sum())
            exact = exact and answer.bound >= value
            in_doubles = answer.exact < value <= answer.bound
            self.literals_exact = self.literals_exact and not in_doubles
            chosen.append(columns[answer.chosen].astype(np.int64))
            count -= least
        return np.concatenate(chosen), exact


# --------------------------------------------------------------------------------------------------
# Exact multi-output minimisation: fewest products, then fewest literals, with a proof.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Covers of least cost, where a product and a literal each have a price: exact, with a bound.
#
# Among all covers of least cost there is one of primes, because a product within a prime has no
# fewer literals. So it is the covering problem of `exact`, with a price on every column.
# --------------------------------------------------------------------------------------------------


MOST = 1_000_000
NAMED = {"products": (1, 0), "literals": (0, 1)}


class Prices(NamedTuple):
    """What a product costs, and each of its literals."""

    product: int
    literal: int

    def of(self, cubes: NDArray[np.uint64], shape: Shape) -> NDArray[np.int64]:
        """Return the cost of every packed cube."""
        return self.product + self.literal * literals(cubes, shape)


class Priced(NamedTuple):
    """A cover, what it costs, and what any cover costs at least."""

    cover: Cover
    cost: int
    bound: int


def prices(text: str) -> Prices:
    """Read `products`, `literals`, or two whole numbers: `3:1` for a product and a literal."""
    if text in NAMED:
        return Prices(*NAMED[text])
    first, colon, second = text.partition(":")
    if not (colon and all(part.isascii() and part.isdigit() for part in (first, second))):
        raise UsageError(
            f"cost {shown(text)}: products, literals, or prices of a product and a literal: 3:1"
        )
    found = Prices(int(first), int(second))
    if not 0 < max(found) <= MOST:
        raise UsageError(f"cost {shown(text)}: prices are 0 to {MOST}, and one of them is not 0")
    return found


def cheapest(
    function: Function, price: Prices, start: Cover, deadline: float | None = None
) -> Priced:
    """Return a cover of least cost; at the deadline the best one known, at worst the start."""
    warm_exact()
    clock = Clock(min(LONGEST, LONGEST if deadline is None else deadline))
    end = time.monotonic() + 0.97 * clock.left
    shape = Shape(function.inputs, function.outputs)
    first = int(price.of(packed(start.cubes), shape).sum())
    try:
        on, free = sets_of(function, start.cubes, clock)
        primes = all_primes(np.concatenate([on, free]), shape, PRIME_LIMIT, end - clock.left / 2)
        demands = demands_of(on, free, primes, shape, clock)
        chosen, bound = _least(demands, price.of(primes, shape), end)
    except (GaveUpError, PrimesTooManyError, SearchEndedError):
        return Priced(start, first, 0)
    if chosen is None or int(price.of(primes[chosen], shape).sum()) > first:
        return Priced(start, first, bound)
    found = without_idle_outputs(primes[chosen], free, shape, end)
    cubes = unpacked(found, shape).canonical()
    cost = int(price.of(found, shape).sum())
    return Priced(Cover(cubes, "exact", seconds=clock.elapsed), cost, bound)


def _least(
    demands: Demands, cost: NDArray[np.int64], end: float
) -> tuple[NDArray[np.int64] | None, int]:
    """Return columns of least cost, None where they were not found, and a bound."""
    bound = 0
    with Milp(MEMORY) as milp:
        while time.monotonic() < end:
            essential, core = reduced(demands.matrix, cost, end)
            parts, total = [essential], int(cost[essential].sum())
            for block in core.blocks():
                columns, local = np.unique(block.indices, return_inverse=True)
                left = end - time.monotonic()
                answer = milp.solve(block.starts, local, cost[columns], left)
                if answer.chosen is None:
                    return None, bound
                parts.append(columns[answer.chosen].astype(np.int64))
                total += answer.exact
            bound = max(bound, total)
            chosen = np.concatenate(parts)
            if not demands.add_missed(chosen, end):
                return np.sort(chosen), bound
    return None, bound
