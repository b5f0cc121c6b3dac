"""Does a cover implement a function? Decided exactly; where not, a point says so.

Functions of few inputs are compared as truth tables, others by cofactor recursion on cube lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import dense as truth
from boolcomp.twolevel import function_kernels, lists
from boolcomp.twolevel.cubes import Cubes, unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.function import Function

_PAIRS = 1 << 26  # pairs of cubes compared between two looks at the clock
_FEW_PAIRS = 1 << 24  # fewer than these are compared without drawing truth tables


@dataclass(frozen=True, slots=True)
class Witness:
    """A point where a cover is wrong: it must have `expected` there and has the other value."""

    output: int
    point: str
    expected: int

    def __str__(self) -> str:
        return (
            f"output {self.output} at inputs {self.point or '(none)'} is {1 - self.expected}, "
            f"must be {self.expected}"
        )


def verify(function: Function, cubes: Cubes, clock: Clock | None = None) -> Witness | None:
    """Return a point where the cover is wrong, or None where it is right.

    Raises `lists.GaveUpError` where the clock runs out first (functions of many inputs only).
    """
    if (cubes.inputs, cubes.outputs) != (function.inputs, function.outputs):
        raise ValueError("the cover has other inputs or outputs than the function")
    cubes = cubes.valid()
    if function.is_dense and truth.raster_work(cubes) <= truth.MOST_WORK:
        return _verify_dense(function.dense, cubes)
    return missing(function, cubes, clock) or _excess(function, cubes, clock)


def _verify_dense(table: truth.Dense, cubes: Cubes) -> Witness | None:
    got = truth.rasterised(cubes)
    for wrong, expected in ((table.on & ~got, 1), (table.off & got, 0)):
        place = _first_bit(wrong)
        if place is not None:
            return Witness(place[0], truth.point(table.inputs, place[1]), expected)
    return None


def _first_bit(planes: NDArray[np.uint64]) -> tuple[int, int] | None:
    """Return row and index of some set bit."""
    where = np.flatnonzero(planes.ravel())
    if not len(where):
        return None
    row, word = divmod(int(where[0]), planes.shape[1])
    bits = int(planes[row, word])
    return row, 64 * word + (bits & -bits).bit_length() - 1


def missing(function: Function, cubes: Cubes, clock: Clock | None) -> Witness | None:
    """Return a required point outside the cover."""
    return _outside(function.on, cubes.joined(function.dc), 1, clock)


def _excess(function: Function, cubes: Cubes, clock: Clock | None) -> Witness | None:
    """Return a forbidden point inside the cover."""
    if function.given_off is not None:
        met = meeting(cubes, function.given_off, clock)
        return None if met is None else Witness(met[0], met[1], 0)
    return _outside(cubes, function.on.joined(function.dc), 0, clock)


def _outside(targets: Cubes, space: Cubes, expected: int, clock: Clock | None) -> Witness | None:
    """Return a point of some target outside `space`."""
    targets = _not_contained(targets, space)
    left = unpack(np.bitwise_or.reduce(targets.out)[None], targets.outputs)[0]
    for j in np.flatnonzero(left).tolist():
        mine = space.take(space.owned_by(j))
        part = lists.first_uncovered(targets.take(targets.owned_by(j)), mine, clock)
        if part is not None:
            return Witness(j, lists.some_point(part, targets.inputs), expected)
        if clock is not None and clock.over:
            raise lists.GaveUpError
    return None


def _not_contained(targets: Cubes, space: Cubes) -> Cubes:
    """Return the targets for the outputs where no single cube of `space` holds them."""
    targets = targets.valid()
    if not 0 < len(targets) * len(space) <= _FEW_PAIRS:
        return targets
    out = targets.out.copy()
    function_kernels.drop_contained(
        targets.zero, targets.one, out, space.zero, space.one, space.out
    )
    return Cubes(targets.inputs, targets.outputs, targets.zero, targets.one, out).valid()


def meeting(first: Cubes, second: Cubes, clock: Clock | None = None) -> tuple[int, str] | None:
    """Return an output and a point that two lists have in common, or None."""
    first, second = first.valid(), second.valid()
    pairs = len(first) * len(second)
    if pairs == 0:
        return None
    if (
        pairs > _FEW_PAIRS
        and truth.fits(first.inputs, first.outputs)
        and (truth.raster_work(first) + truth.raster_work(second) <= truth.MOST_WORK)
    ):
        place = _first_bit(truth.rasterised(first) & truth.rasterised(second))
        return None if place is None else (place[0], truth.point(first.inputs, place[1]))
    return _meeting_by_pairs(first, second, clock)


def _meeting_by_pairs(first: Cubes, second: Cubes, clock: Clock | None) -> tuple[int, str] | None:
    step = max(1, _PAIRS // len(second))
    for start in range(0, len(first), step):
        i, k = function_kernels.first_meeting(
            first.zero, first.one, first.out, second.zero, second.one, second.out,
            first.inputs, start, min(start + step, len(first)),
        )  # fmt: skip
        if i >= 0:
            zero = first.zero[i : i + 1] & second.zero[k : k + 1]
            common = first.out[i : i + 1] & second.out[k : k + 1]
            output = int(unpack(common, first.outputs).argmax())
            return output, lists.some_point(zero, first.inputs)
        if clock is not None and clock.over:
            raise lists.GaveUpError
    return None
