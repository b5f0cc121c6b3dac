"""Products by the points that they hold: a minimum cover where primes are too many to list.

Of some points of ON, list the largest sets that a product can hold together (no cube of OFF in the
smallest cube around them). They are the columns of a covering problem with those points as rows,
whose optimum no cover goes below. Where its products, grown to primes, miss points, some of those
become rows as well, until the bound meets the best cover known or nothing is missed. Most primes
differ in points that do not matter, so the sets are few where primes are beyond number.

McGeer, Sanghavi, Brayton and Sangiovanni-Vincentelli, 1993, go to the same end by signature cubes.
"""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import unlisted_kernels as kernels
from boolcomp.twolevel.cubes import Clock, Shape, packed, size_order, unpack, unpacked
from boolcomp.twolevel.function import (
    Cover,
    GaveUpError,
    SearchEndedError,
    complement,
    missed_part,
    missing,
    point_of,
    serving,
)
from boolcomp.twolevel.primes import SearchedDemands, essential, primes_around
from boolcomp.twolevel.primes_kernels import maximal
from boolcomp.twolevel.setcover import (
    UNIT,
    CoverMatrix,
    LocalSearch,
    Solution,
    greedy_columns,
    independent,
    lagrangian,
    reduced,
    solve_block,
)
from boolcomp.twolevel.solvers import MEMORY, Milp

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.function import Function


# --------------------------------------------------------------------------------------------------
# A lower bound that needs no primes: points of which no product can hold two.
# --------------------------------------------------------------------------------------------------


MOST_TRIED = 2000


def points_apart(
    on: NDArray[np.uint64],
    dont_care: NDArray[np.uint64],
    allowed: NDArray[np.uint64],
    shape: Shape,
    end: float,
) -> int:
    """Return how many points of ON were found, until `end`, that need a product each.

    Two points can share a product only if the smallest cube around both lies in ON or DC for the
    outputs of both. `allowed` are cubes of ON and DC.
    """
    planes = shape.out_at
    random = np.random.default_rng(1)

    @cache  # only of the outputs that are drawn: there may be very many
    def space(output: int) -> NDArray[np.uint64]:
        return allowed[serving(allowed, output, shape), :planes]

    kept: list[tuple[int, NDArray[np.uint64]]] = []
    try:
        for at in random.permutation(len(on))[:MOST_TRIED]:
            serves = np.flatnonzero(unpack(on[at : at + 1, planes:], shape.outputs)[0])
            output = int(random.choice(serves))
            free = dont_care[serving(dont_care, output, shape), :planes]
            taste = random.integers(0, 2**64, shape.words, dtype=np.uint64)
            part = missed_part(free, on[at, :planes], taste, end)
            if part is None:
                continue
            point = point_of(part, taste, output, shape)[:planes]
            if not any(
                _inside(space(output), point | other, taste, end)
                and _inside(space(place), point | other, taste, end)
                for place, other in kept
            ):
                kept.append((output, point))
    except SearchEndedError:
        pass
    return len(kept)


def _inside(
    space: NDArray[np.uint64], cube: NDArray[np.uint64], taste: NDArray[np.uint64], end: float
) -> bool:
    return missed_part(space, cube, taste, end) is None


# --------------------------------------------------------------------------------------------------
# Products by the points that they hold: a minimum cover where primes are too many to list.
# --------------------------------------------------------------------------------------------------


SEED = 1
LEAST_ROOM, MOST_ROOM = 1 << 12, 1 << 20
"""Sets that a list has room for at first, and at last."""

LOOKS = 10**7
"""Cubes of OFF looked at between two looks at the clock."""

FRESH = 40
"""Points that join the rows at once, at least; or an eighth of what are rows already."""

GATHER_STEPS = 20_000
"""Steps of local search for a block that is not solved to the end."""


class TooManySetsError(Exception):
    """The points can be held together in more ways than there is room for."""


class Gathering:
    """Points as rows, and the largest sets of them that a product can hold as columns."""

    def __init__(self, off: NDArray[np.uint64], shape: Shape) -> None:
        self.rows = shape.none()
        self.sets = np.zeros((0, 0), np.uint64)
        self._off, self._shape = off, shape

    def add(self, points: NDArray[np.uint64], end: float) -> None:
        """Add rows, and the columns that hold them; `SearchEndedError` at the end of the time.

        Raises `TooManySetsError` where they are too many.
        """
        first = len(self.rows)
        rows = np.concatenate([self.rows, points])
        known = self._points(rows)
        size = known.ones.shape[1]
        found = [np.zeros((0, size), np.uint64)]
        before = np.zeros((len(self.sets), size), np.uint64)
        before[:, : self.sets.shape[1]] = self.sets
        found.append(before)
        found += [self._around(known, row, end) for row in range(first, len(rows))]
        every = np.unique(np.concatenate(found), axis=0)
        every = every[size_order(every)]
        kept = np.empty(len(every), np.int64)
        self.sets = every[kept[: maximal(every, 0, len(every), kept, 0)]]
        self.rows = rows

    def _points(self, rows: NDArray[np.uint64]) -> kernels.Points:
        """Return the rows, and the sets of those that have each input at 1, or each output."""
        shape, size = self._shape, (len(rows) + 63) // 64
        planes = []
        for first, last, bits in (
            (shape.words, shape.out_at, shape.inputs), (shape.out_at, shape.width, shape.outputs),
        ):  # fmt: skip
            has = unpack(np.ascontiguousarray(rows[:, first:last]), bits)
            padded = np.zeros((64 * size, (last - first) * 64), np.bool_)
            padded[: len(rows), :bits] = has
            sets = np.packbits(np.ascontiguousarray(padded.T), axis=1, bitorder="little")
            planes.append(sets.view(np.uint64))
        return kernels.Points(rows, *planes)

    def _around(self, known: kernels.Points, row: int, end: float) -> NDArray[np.uint64]:
        """Return the largest sets around one row."""
        size, most = known.ones.shape[1], 64 * self._shape.words + 2
        room = LEAST_ROOM
        while room <= MOST_ROOM:
            leaves, seen = kernels.new_sets(room, size), kernels.new_sets(room, size)
            stack, height = np.zeros((room + 2 * most, size), np.uint64), np.ones(1, np.int64)
            # Without those that are in no such set with it, far fewer ways are looked at.
            kernels.friends(known.rows, self._off, row, self._shape.words, stack[0])
            nodes = 1 + LOOKS // (1 + len(self._off))
            while kernels.gathered(
                known, self._off, row, self._shape.words, leaves, seen, stack, height, nodes
            ):
                if not height[0]:
                    return leaves.sets[: leaves.size[0]]
                if time.monotonic() > end:
                    raise SearchEndedError
            room *= 8
        raise TooManySetsError

    @property
    def matrix(self) -> CoverMatrix:
        """The covering problem."""
        holds = unpack(self.sets, len(self.rows))
        starts = np.concatenate([[0], np.cumsum(holds.sum(axis=1))]).astype(np.int64)
        indices = np.nonzero(holds)[1].astype(np.int32)
        return CoverMatrix(starts, indices, len(self.rows)).turned

    def primes(self, columns: NDArray[np.int64], seed: int, end: float) -> NDArray[np.uint64]:
        """Return a prime around each of some columns; `SearchEndedError` at the end of the time."""
        cubes = np.zeros((len(columns), self._shape.width), np.uint64)
        for cube, column in zip(cubes, columns, strict=True):
            kernels.around(self.rows, self.sets[column], cube)
        return grown(cubes, self._off, self._shape, end, seed)


def grown(
    cubes: NDArray[np.uint64],
    off: NDArray[np.uint64],
    shape: Shape,
    end: float,
    seed: int | None = None,
) -> NDArray[np.uint64]:
    """Return a prime around each of some implicants; literals go before outputs come.

    In their order where no seed is given, else at random. Raises `SearchEndedError` when
    `time.monotonic()` passes `end`.
    """
    variables = np.arange(shape.inputs + shape.outputs)
    order = np.tile(variables, (len(cubes), 1))
    if seed is not None:
        random = np.random.default_rng(seed)
        for part in (order[:, : shape.inputs], order[:, shape.inputs :]):
            random.permuted(part, axis=1, out=part)
    cubes = cubes.copy()
    step = 1 + LOOKS // (1 + len(off) * len(variables))
    for at in range(0, len(cubes), step):
        kernels.grow(cubes[at : at + step], off, order[at : at + step], shape.inputs)
        if time.monotonic() > end:
            raise SearchEndedError
    return cubes


def sketched(block: CoverMatrix, end: float) -> Solution:
    """Return few columns that meet every row of a block, and the bound of prices; no solver."""
    columns, local = np.unique(block.indices, return_inverse=True)
    matrix = CoverMatrix(block.starts, local.astype(np.int32), len(columns))
    best, bound = greedy_columns(matrix), independent(matrix)
    if bound < len(best):
        value, _, best = lagrangian(matrix, best, end)
        search = LocalSearch(matrix, best, max(bound, -(-value // UNIT)))
        search.run(GATHER_STEPS, end)
        best, bound = search.best, min(len(search.best), max(bound, -(-value // UNIT)))
    return Solution(columns[best].astype(np.int64), bound, bound, len(best))


class Gatherer:
    """The search for the fewest products that cover the points of `left` outside `free`.

    All cubes are packed; no point of `off` may be covered. `best` are few such products at any
    time, `bound` is proved. A search can be continued.
    """

    def __init__(
        self,
        left: NDArray[np.uint64],
        free: NDArray[np.uint64],
        off: NDArray[np.uint64],
        shape: Shape,
    ) -> None:
        self.best, self.bound = left, min(1, len(left))
        self._left, self._free, self._shape = left, free, shape
        self._gathering = Gathering(off, shape)
        self._random = np.random.default_rng(SEED)
        self._fresh: NDArray[np.uint64] | None = None
        self._rounds = 0

    @property
    def proved(self) -> bool:
        """Whether there are no fewer products."""
        return self.bound >= len(self.best)

    def search(self, end: float) -> bool:
        """Search until `time.monotonic()` is `end`, or solvers get no farther; tell whether proved.

        Raises `TooManySetsError` where there is no use in going on.
        """
        try:
            with Milp(MEMORY) as milp:
                while not self.proved and (self._fresh is None or len(self._fresh)):
                    self._round(milp, end)
        except SearchEndedError:
            pass
        return self.proved

    def _round(self, milp: Milp, end: float) -> None:
        """Add rows, and choose columns that meet all of them; first few of them, then the fewest.

        What is not yet all rows need not be solved to the end.
        """
        fresh = self._alone(end) if self._fresh is None else self._fresh
        self._gathering.add(fresh, end)
        cubes = self._chosen(lambda block: sketched(block, end), end)
        most = max(FRESH, len(self._gathering.rows) // 8)
        self._fresh = self._missed(np.concatenate([cubes, self._free]), self._left, most, end)
        if not len(self._fresh) and not self.proved:
            cubes = self._chosen(lambda block: solve_block(block, milp, end), end)
            self._fresh = self._missed(np.concatenate([cubes, self._free]), self._left, most, end)
        if not len(self._fresh) and len(cubes) < len(self.best):
            self.best = cubes
        if time.monotonic() > end:
            raise SearchEndedError

    def _chosen(self, solve: Callable[[CoverMatrix], Solution], end: float) -> NDArray[np.uint64]:
        """Return primes around columns that meet all rows, and note what bound they prove."""
        matrix = self._gathering.matrix
        essential, core = reduced(matrix, np.zeros(matrix.columns, np.int64), end)
        chosen, bound = [essential], len(essential)
        for block in core.blocks():
            solution = solve(block)
            chosen.append(solution.chosen)
            bound += solution.exact
        self.bound = max(self.bound, min(bound, len(self.best)))
        self._rounds += 1
        return self._gathering.primes(np.concatenate(chosen), self._rounds, end)

    def _alone(self, end: float) -> NDArray[np.uint64]:
        """Return a point of every product that no other covers."""
        found = [self._shape.none()]
        for k in range(len(self._left)):
            others = np.concatenate([self._left[:k], self._left[k + 1 :], self._free])
            found.append(self._missed(others, self._left[k : k + 1], 1, end))
        return np.concatenate(found)

    def _missed(
        self, cover: NDArray[np.uint64], parts: NDArray[np.uint64], most: int, end: float
    ) -> NDArray[np.uint64]:
        """Return points of parts that a cover misses, as many as are wanted at most."""
        shape, found = self._shape, []
        owned = np.argwhere(unpack(np.ascontiguousarray(parts[:, shape.out_at :]), shape.outputs))
        spaces: dict[int, NDArray[np.uint64]] = {}
        for k, output in self._random.permutation(owned).tolist():
            if output not in spaces:
                spaces[output] = cover[serving(cover, output, shape), : shape.out_at]
            taste = self._random.integers(0, 2**64, shape.words, dtype=np.uint64)
            part = missed_part(spaces[output], parts[k, : shape.out_at], taste, end)
            if part is not None:
                found.append(point_of(part, taste, output, shape))
                if len(found) == most:
                    break
        return np.unique(np.array(found, np.uint64).reshape(len(found), shape.width), axis=0)


# --------------------------------------------------------------------------------------------------
# What is proved of a function whose primes are too many to list.
#
# Primes that every cover has (`essential`), and for what they leave the fewest products by the
# points that they hold (`gather`); where the OFF set is out of reach, points that need a product
# each (`apart`).
# --------------------------------------------------------------------------------------------------


MOST_OFF = 200_000
"""Cubes of the OFF set, at most, against which products grow."""

LONGEST = 1e7
"""Seconds that stand for no deadline (four months)."""

UNPROVED = "the literals were not proved least"


class Unlisted:
    """A cover and a bound, from ON, don't-cares and both together; a proof can be continued."""

    def __init__(
        self,
        function: Function,
        first: NDArray[np.uint64],
        sets: tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.uint64]],
    ) -> None:
        self._function = function
        self._shape = Shape(function.inputs, function.outputs)
        self._cubes, self._method, self._sets = unpacked(first, self._shape), "given", sets
        self._off: NDArray[np.uint64] | None = None
        self._needed: Cubes | None = None
        self._gatherer: Gatherer | None = None

    def needed(self, clock: Clock) -> Cover:
        """Find the primes that every prime cover has; they alone may be the cover.

        They are in any minimum, and no other product has fewer literals in their place; what they
        leave takes a product at least.
        """
        half = Clock(min(clock.left, LONGEST) / 2)
        try:
            self._off = self._off_set(half)
            primes = self._primes(half)
            chosen = essential(self._function, primes, half, half.left / (10 + len(primes)))
            needed = primes.take(np.flatnonzero(chosen))
            if missing(self._function, needed, half) is None:
                return Cover(needed, "exact", proved=True, lower_bound=len(needed))
        except (GaveUpError, SearchEndedError):
            return Cover(self._cubes, "given")
        self._cubes = primes if len(primes) < len(self._cubes) else self._cubes
        self._needed = needed
        left = packed(primes.take(np.flatnonzero(~chosen)))
        if self._off is not None:
            free = np.concatenate([self._sets[1], packed(needed)])
            self._gatherer = Gatherer(left, free, self._off, self._shape)
        return self._cover(len(needed) + 1)

    def prove(self, clock: Clock) -> Cover:
        """Go on until the cover is proved or the clock ends."""
        end = time.monotonic() + min(clock.left, LONGEST)
        if self._needed is None:
            known = self.needed(clock)
            if known.proved:
                return known
        needed = self._shape.none() if self._needed is None else packed(self._needed)
        bound, gatherer = len(needed), self._gatherer
        if gatherer is not None:
            try:
                gatherer.search(end)
                bound = len(needed) + gatherer.bound
                if len(needed) + len(gatherer.best) < len(self._cubes):
                    self._cubes = unpacked(np.concatenate([needed, gatherer.best]), self._shape)
                    self._method = "exact"
                return self._cover(bound)
            except TooManySetsError:
                bound = len(needed) + gatherer.bound
        on, dont_care, allowed = self._sets
        free = np.concatenate([dont_care, needed])
        apart = points_apart(_each_output(on, self._shape), free, allowed, self._shape, end)
        return self._cover(max(bound, len(needed) + apart))

    def _cover(self, bound: int) -> Cover:
        proved = len(self._cubes) <= bound
        return Cover(self._cubes, self._method, proved, bound, note=UNPROVED if proved else "")

    def _off_set(self, clock: Clock) -> NDArray[np.uint64] | None:
        """Return the cubes of OFF, None where they are too many."""
        given = self._function.given_off
        try:
            allowed = unpacked(self._sets[2], self._shape)
            return packed(complement(allowed, clock, MOST_OFF) if given is None else given)
        except GaveUpError:
            return None

    def _primes(self, clock: Clock) -> Cubes:
        """Return a prime around each of the cover's cubes."""
        if self._off is None:
            return primes_around(self._function, self._cubes, clock)
        end = time.monotonic() + clock.left
        rows = grown(packed(self._cubes), self._off, self._shape, end)
        return unpacked(np.unique(rows, axis=0), self._shape).canonical()


def _each_output(cubes: NDArray[np.uint64], shape: Shape) -> NDArray[np.uint64]:
    """Return every cube once for each of its outputs."""
    parts = [shape.none()]
    for output in range(shape.outputs):
        own = cubes[serving(cubes, output, shape)].copy()
        own[:, shape.out_at :] = 0
        own[:, shape.out_at + output // 64] = np.uint64(1 << (output % 64))
        parts.append(own)
    return np.concatenate(parts)


# --------------------------------------------------------------------------------------------------
# The fewest products out of a pool of implicants, for functions too wide to list all primes.
#
# Sweeps in changing orders leave many implicants behind. Which of them to take together is a
# covering problem of its own, whose rows are points found when a choice misses them. Work is
# counted, so that the same pool gives the same choice.
# --------------------------------------------------------------------------------------------------


POOLED_STEPS = 30_000
"""Steps of local search for a block."""

ROUNDS = 40
"""Choices made at most until one misses no point."""

"""Seconds that stand for no deadline."""


class Pool:
    """Implicants of a function, each once, those in others left out; the points known so far."""

    def __init__(self, function: Function) -> None:
        self._shape = Shape(function.inputs, function.outputs)
        self._on, self._free = packed(function.on), packed(function.dc)
        self._rows = self._shape.none()

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, cubes: Cubes) -> int:
        """Add implicants; return how many are new."""
        before = len(self._rows)
        joined = np.unique(np.concatenate([self._rows, packed(cubes)]), axis=0)
        self._rows = joined
        return len(joined) - before

    def fewest(self, clock: Clock) -> Cubes | None:
        """Return few of the implicants that cover the function, None where time ends before.

        All of ON must lie in the implicants and the don't-cares.
        """
        end = time.monotonic() + min(clock.left, LONGEST)
        rows = _maximal(self._rows, end)
        if rows is None:
            return None
        demands = SearchedDemands(self._on, self._free, rows, self._shape)
        try:
            for _ in range(ROUNDS):
                chosen = _chosen(demands.matrix, end)
                if not demands.add_missed(chosen, end):
                    return unpacked(rows[np.sort(chosen)], self._shape)
        except SearchEndedError:
            pass
        return None


def _maximal(rows: NDArray[np.uint64], end: float) -> NDArray[np.uint64] | None:
    """Return the implicants that lie in no other, largest first."""
    ordered = rows[size_order(rows)]
    kept = np.empty(len(ordered), np.int64)
    size = maximal(ordered, 0, len(ordered), kept, 0)
    return ordered[kept[:size]] if time.monotonic() < end else None


def _chosen(matrix: CoverMatrix, end: float) -> NDArray[np.int64]:
    """Return few columns that meet every row."""
    essential, core = reduced(matrix, np.zeros(matrix.columns, np.int64), end)
    parts = [essential]
    for block in core.blocks():
        search = LocalSearch(block, greedy_columns(block), independent(block))
        search.run(POOLED_STEPS, end)
        parts.append(search.best)
    return np.concatenate(parts)
