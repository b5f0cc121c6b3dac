"""Covers of least cost, where a product and a literal each have a price: exact, with a bound.

Among all covers of least cost there is one of primes, because a product within a prime has no fewer
literals. So it is the covering problem of `exact`, with a price on every column.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.common.errors import UsageError, shown
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.exact import PRIME_LIMIT, demands_of, sets_of
from boolcomp.twolevel.function import Cover
from boolcomp.twolevel.lists import GaveUpError
from boolcomp.twolevel.milp import MEMORY, Milp
from boolcomp.twolevel.packed import Shape, literals, packed, unpacked
from boolcomp.twolevel.primes import PrimesTooManyError, all_primes
from boolcomp.twolevel.setcover import reduced
from boolcomp.twolevel.sparse import without_idle_outputs
from boolcomp.twolevel.unlisted import LONGEST
from boolcomp.twolevel.warm_exact import warm_exact
from boolcomp.twolevel.witness import SearchEndedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.function import Function
    from boolcomp.twolevel.points import Demands

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
