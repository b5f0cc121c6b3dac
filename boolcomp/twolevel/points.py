"""Rows of the covering problem: points of ON, each with the list of primes that hold it.

Points in the same primes make one row. Functions of few inputs have all their points in a table,
and every class of points becomes a row at once. Others start without rows; `add_missed` searches
points that a proposed cover misses, moves them to where few primes are, and adds them. When it
finds none the proposal covers the function: that search is complete in both cases.
"""

from __future__ import annotations

import abc
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import point_kernels as kernels
from boolcomp.twolevel.cubes import pack
from boolcomp.twolevel.dense import IndexCubes, from_index, to_index
from boolcomp.twolevel.dense_kernels import signatures
from boolcomp.twolevel.packed import Shape, literals, packed, unpacked
from boolcomp.twolevel.selection import incidence
from boolcomp.twolevel.setcover import CoverMatrix, distinct
from boolcomp.twolevel.witness import SearchEndedError, missed_part, point_of, serving

if TYPE_CHECKING:
    from numpy.typing import NDArray

TABLE_POINTS = 2**23
"""The most points times outputs that are held as a table (67 MB a plane)."""

TABLE_WORK = 3 * 10**9
"""The most steps that marking all points of all primes may take (about 5 s)."""

WORK_PER_SECOND = 2 * 10**7
"""Likewise for every second of the deadline: marking is done four times, within a fifth of it."""

ROW_ENTRIES = 2 * 10**7
"""The most entries of the first matrix; further points join it when they are missed."""

SEED = 20_240_229


class Demands(abc.ABC):
    """The points to cover, as far as they are rows yet."""

    def __init__(
        self,
        on: NDArray[np.uint64],
        dont_care: NDArray[np.uint64],
        primes: NDArray[np.uint64],
        shape: Shape,
    ) -> None:
        self.on = on
        self.dont_care = dont_care
        self.primes = primes
        self.shape = shape
        self.matrix = CoverMatrix(np.zeros(1, np.int64), np.zeros(0, np.int32), len(primes))
        self._seen: set[bytes] = set()

    @abc.abstractmethod
    def add_missed(self, chosen: NDArray[np.int64], end: float) -> int:
        """Add rows for ON points in none of the chosen primes; return how many points were found.

        0 means that there is no such point. Raises `SearchEndedError` when the time is over.
        """

    def primes_around(self, cubes: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return a prime around every implicant, each once; ValueError if one is no implicant."""
        found = kernels.first_around(cubes, self.primes)
        if (found < 0).any():
            raise ValueError("a cube of the start covers a point of the OFF set")
        return distinct(found, len(self.primes))

    def _add_points(self, points: NDArray[np.uint64]) -> int:
        """Add the rows of some points, once each."""
        starts, indices = kernels.covering_lists(points, self.primes)
        fresh = np.zeros(len(points), np.bool_)
        for k in range(len(points)):
            row = indices[starts[k] : starts[k + 1]].tobytes()
            fresh[k] = row not in self._seen
            self._seen.add(row)
        new = CoverMatrix(starts, indices, self.matrix.columns).keep(fresh)
        self.matrix = self.matrix.stacked(new)
        return len(points)


class TableDemands(Demands):
    """All points in a table of outputs by points, in the order of `dense`."""

    def __init__(
        self,
        on: NDArray[np.uint64],
        dont_care: NDArray[np.uint64],
        primes: NDArray[np.uint64],
        shape: Shape,
    ) -> None:
        super().__init__(on, dont_care, primes, shape)
        self._wanted = self._marked(on) & ~self._marked(dont_care)
        # Sums of random numbers tell classes apart; a clash only delays a row until it is missed.
        self._weights = np.random.default_rng(SEED).integers(1, 2**64, len(primes), dtype=np.uint64)
        self._class = self._sums(primes, self._weights)
        self._fill()

    @staticmethod
    def fits(primes: NDArray[np.uint64], shape: Shape, seconds: float) -> bool:
        """Tell whether the table is small enough, and marking the primes takes a small part."""
        if shape.inputs > 40 or shape.outputs << shape.inputs > TABLE_POINTS:
            return False
        free = shape.inputs - literals(primes, shape)
        owners = np.bitwise_count(primes[:, shape.out_at :]).sum(axis=1)
        return float((2.0**free * owners).sum()) < min(TABLE_WORK, WORK_PER_SECOND * seconds)

    def add_missed(self, chosen: NDArray[np.int64], end: float) -> int:
        """Add one row for every class of missed points, at most 2000, few primes first."""
        del end
        missed = self._wanted & ~self._marked(self.primes[chosen])
        outputs, points = self._classes(missed)
        if not len(points):
            return 0
        if len(points) > 2000:
            step = len(points) // 2000 + 1
            outputs, points = outputs[::step], points[::step]
        return self._add_points(self._packed(outputs, points))

    def _fill(self) -> None:
        """Make the first matrix: essential primes as rows of one, then all other classes."""
        outputs, points = self._classes(self._wanted)
        single = np.isin(self._class[outputs, points], self._weights)
        self._add_points(self._packed(outputs[single], points[single]))
        lengths = np.diff(self.matrix.starts)
        only = self.matrix.indices[self.matrix.starts[:-1][lengths == 1]]
        essential = distinct(only, self.matrix.columns)
        outputs, points = self._classes(self._wanted & ~self._marked(self.primes[essential]))
        ones = np.ones(len(self.primes), np.uint64)
        counts = self._sums(self.primes, ones)[outputs, points].astype(np.int64)
        order = np.argsort(counts, kind="stable")
        order = order[np.cumsum(counts[order]) <= ROW_ENTRIES]
        outputs, points, counts = outputs[order], points[order], counts[order]
        places = outputs * self._wanted.shape[1] + points
        rest = incidence(self._index(self.primes), self._wanted.shape, places, sys.maxsize)
        assert rest is not None  # noqa: S101 (there is no limit)
        self.matrix = self.matrix.stacked(rest)

    def _index(self, cubes: NDArray[np.uint64]) -> IndexCubes:
        return to_index(unpacked(cubes, self.shape))

    def _sums(self, cubes: NDArray[np.uint64], weights: NDArray[np.uint64]) -> NDArray[np.uint64]:
        sums = np.zeros((self.shape.outputs, 1 << self.shape.inputs), np.uint64)
        index = self._index(cubes)
        signatures(index.value, index.free, index.out, weights, sums)
        return sums

    def _marked(self, cubes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self._sums(cubes, np.ones(len(cubes), np.uint64)) != 0
        return mask

    def _classes(self, where: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return one (output, point) of every class that has a point there."""
        outputs, points = np.nonzero(where)
        _, first = np.unique(self._class[outputs, points], return_index=True)
        return outputs[first], points[first]

    def _packed(self, outputs: NDArray[np.intp], points: NDArray[np.intp]) -> NDArray[np.uint64]:
        out = pack(outputs[:, None] == np.arange(self.shape.outputs))
        index = IndexCubes(points, np.zeros_like(points), out)
        return packed(from_index(self.shape.inputs, self.shape.outputs, index))


class SearchedDemands(Demands):
    """Points found when a proposed cover misses them, for functions too wide for a table."""

    def __init__(
        self,
        on: NDArray[np.uint64],
        dont_care: NDArray[np.uint64],
        primes: NDArray[np.uint64],
        shape: Shape,
    ) -> None:
        super().__init__(on, dont_care, primes, shape)
        self._random = np.random.default_rng(SEED)

    def add_missed(self, chosen: NDArray[np.int64], end: float) -> int:
        """Add a row for at most one missed point of every ON cube and output."""
        mask = np.zeros(len(self.primes), np.bool_)
        mask[chosen] = True
        added = 0
        for output in range(self.shape.outputs):
            points = self._missed_of(output, mask, end)
            if len(points):
                added += self._add_points(self._moved(points, output, mask, end))
        return added

    def _missed_of(self, output: int, mask: NDArray[np.bool_], end: float) -> NDArray[np.uint64]:
        """Return missed points of one output."""
        shape, planes = self.shape, self.shape.out_at
        own = [
            self.primes[mask & serving(self.primes, output, shape), :planes],
            self.dont_care[serving(self.dont_care, output, shape), :planes],
        ]
        cover = np.concatenate(own)
        found = []
        for cube in self.on[serving(self.on, output, shape), :planes]:
            taste = self._random.integers(0, 2**64, shape.words, dtype=np.uint64)
            part = missed_part(cover, cube, taste, end)
            if part is not None:
                found.append(point_of(part, taste, output, shape))
        return np.array(found, np.uint64).reshape(len(found), shape.width)

    def _moved(
        self, points: NDArray[np.uint64], output: int, mask: NDArray[np.bool_], end: float
    ) -> NDArray[np.uint64]:
        """Return missed points in fewer primes, as near as single steps lead to them.

        Where there are so many primes that this takes long, only some of the points.
        """
        own = serving(self.primes, output, self.shape)
        dont_care = self.dont_care[serving(self.dont_care, output, self.shape)]
        step = max(1, 10**8 // (1 + self.shape.inputs * int(own.sum())))
        if len(points) > max(20, 10 * step):
            points = points[:: len(points) // max(20, 10 * step) + 1].copy()
        for at in range(0, len(points), step):
            part = points[at : at + step]
            kernels.harder(part, self.primes[own], mask[own], dont_care, self.shape.inputs)
            if time.monotonic() > end:
                raise SearchEndedError
        return np.unique(points, axis=0)
