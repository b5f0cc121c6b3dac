"""What a list of cubes leaves uncovered, by cofactor recursion: for functions of many inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import list_kernels as kernels
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes, pack, unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BUDGET = 1 << 22  # cubes looked at between two looks at the clock: some ten milliseconds
_MOST_MEMBERS = 1 << 27
_MOST_WORDS = 1 << 23  # 64 MB

Region = "NDArray[np.uint64]"  # row 0: zero words, row 1: one words


class GaveUpError(Exception):
    """The clock ran out, or the walk would need too much memory."""


class _Walk:
    """The buffers of one walk; see `list_kernels.explore`."""

    def __init__(
        self, cubes: Cubes, region: NDArray[np.uint64], room: int, most: int = _MOST_WORDS
    ) -> None:
        inputs = cubes.inputs
        self.cubes = cubes
        self.most = most
        self.region = region.copy()
        self.region.flags.writeable = True
        full = pack(np.ones((1, inputs), np.bool_))[0]
        meets = ((cubes.zero & region[0]) | (cubes.one & region[1])) == full
        first = np.flatnonzero(meets.all(axis=1)).astype(np.int32)
        self.members = np.zeros(8 * len(first) + 64, np.int32)
        self.members[: len(first)] = first
        self.start = np.zeros(inputs + 3, np.int64)
        self.start[1:] = len(first)
        self.split, self.side = np.zeros(inputs + 2, np.int64), np.zeros(inputs + 2, np.int64)
        self.state = np.array([0, 0, 1, 0], np.int64)
        self.count = np.zeros(2 * 64 * cubes.zero.shape[1], np.int64)
        self.bound = np.zeros_like(self.region)
        self.leaves = np.zeros((room, *region.shape), np.uint64)

    def run(self, mode: int, clock: Clock) -> bool:
        """Walk to the end, or, in mode FIND, to the first uncovered part (then True)."""
        while True:
            status = kernels.explore(
                self.cubes.zero, self.cubes.one, self.members, self.start, self.split, self.side,
                self.region, self.state, mode, self.bound, self.leaves, self.count, _BUDGET,
            )  # fmt: skip
            if status in (kernels.DONE, kernels.FOUND):
                return bool(status == kernels.FOUND)
            if status == kernels.MORE_ROOM:
                self.grow()
            if clock.over:
                raise GaveUpError

    def cover_all(self, targets: Cubes, at: NDArray[np.int64], budget: int) -> int:
        """Walk each target in turn; see `list_kernels.cover_all`."""
        status = kernels.cover_all(
            targets.zero, targets.one, at, targets.inputs,
            self.cubes.zero, self.cubes.one, self.members, self.start, self.split, self.side,
            self.region, self.state, self.bound, self.leaves, self.count, budget,
        )  # fmt: skip
        return int(status)

    def grow(self) -> None:
        """Double the buffer that is full."""
        if self.state[1] == len(self.leaves):
            if self.leaves.size > _MOST_WORDS or len(self.leaves) >= self.most:
                raise GaveUpError
            self.leaves = np.concatenate([self.leaves, np.zeros_like(self.leaves)])
        else:
            if self.members.size > _MOST_MEMBERS:
                raise GaveUpError
            self.members = np.concatenate([self.members, np.zeros_like(self.members)])


def uncovered(
    cubes: Cubes, region: NDArray[np.uint64], clock: Clock | None = None
) -> NDArray[np.uint64] | None:
    """Return some part of the region outside every cube (outputs ignored), or None if covered."""
    walk = _Walk(cubes, region, 1)
    return walk.region if walk.run(kernels.FIND, clock or Clock()) else None


def first_uncovered(
    targets: Cubes, cubes: Cubes, clock: Clock | None = None
) -> NDArray[np.uint64] | None:
    """Return a part of some target outside every cube (outputs ignored), or None if there is none.

    Raises `GaveUpError` where the clock runs out.
    """
    if not len(targets):
        return None
    clock = clock or Clock()
    walk = _Walk(cubes, everything(cubes.inputs), 1)
    at, budget = np.zeros(1, np.int64), _BUDGET
    while True:
        before = at[0]
        status = walk.cover_all(targets, at, budget)
        if status in (kernels.DONE, kernels.FOUND):
            return walk.region if status == kernels.FOUND else None
        if clock.over:
            raise GaveUpError
        if status == kernels.MORE_ROOM:
            walk.grow()
        elif at[0] == before:
            budget *= 2


def uncovered_bound(
    cubes: Cubes, region: NDArray[np.uint64], clock: Clock | None = None
) -> NDArray[np.uint64]:
    """Return the smallest cube around what the cubes leave of the region (empty: all zero)."""
    walk = _Walk(cubes, region, 1)
    walk.run(kernels.BOUND, clock or Clock())
    return walk.bound


def uncovered_parts(
    cubes: Cubes,
    region: NDArray[np.uint64],
    clock: Clock | None = None,
    most: int = _MOST_WORDS,
) -> NDArray[np.uint64]:
    """Return what the cubes leave of the region, as disjoint regions; gives up beyond `most`."""
    walk = _Walk(cubes, region, 64, most)
    walk.run(kernels.COLLECT, clock or Clock())
    return walk.leaves[: walk.state[1]]


def everything(inputs: int) -> NDArray[np.uint64]:
    """Return the region of all points."""
    full = pack(np.ones((1, inputs), np.bool_))
    return np.concatenate([full, full])


def complement(cubes: Cubes, clock: Clock | None = None, most: int = _MOST_WORDS) -> Cubes:
    """Return cubes for the points each output's cubes leave; equal parts are shared.

    Raises `GaveUpError` where the clock runs out or there are more than about `most` cubes.
    """
    zeros, ones, outs = [cubes.zero[:0]], [cubes.one[:0]], [cubes.out[:0]]
    total = 0
    for j in range(cubes.outputs):
        mine = cubes.take(cubes.owned_by(j))
        parts = uncovered_parts(mine, everything(cubes.inputs), clock, most)
        total += len(parts)
        if total > most or (clock is not None and clock.over):
            raise GaveUpError
        zeros.append(parts[:, 0])
        ones.append(parts[:, 1])
        owner = np.zeros((1, cubes.outputs), np.bool_)
        owner[0, j] = True
        outs.append(np.repeat(pack(owner), len(parts), axis=0))
    zero, one, out = (np.ascontiguousarray(np.concatenate(a)) for a in (zeros, ones, outs))
    return Cubes(cubes.inputs, cubes.outputs, zero, one, out).canonical()


def some_point(region: NDArray[np.uint64], inputs: int) -> str:
    """Return a point of a region as the letters of a PLA row."""
    zero = unpack(region[:1], inputs)[0]
    return "".join("0" if may_be_zero else "1" for may_be_zero in zero)
