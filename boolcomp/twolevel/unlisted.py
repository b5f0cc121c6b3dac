"""What is proved of a function whose primes are too many to list.

Primes that every cover has (`essential`), and for what they leave the fewest products by the points
that they hold (`gather`); where the OFF set is out of reach, points that need a product each
(`apart`).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.apart import points_apart
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.essential import essential, primes_around
from boolcomp.twolevel.function import Cover
from boolcomp.twolevel.gather import Gatherer, TooManySetsError, grown
from boolcomp.twolevel.lists import GaveUpError, complement
from boolcomp.twolevel.packed import Shape, packed, unpacked
from boolcomp.twolevel.verify import missing
from boolcomp.twolevel.witness import SearchEndedError, serving

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.cubes import Cubes
    from boolcomp.twolevel.function import Function

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
