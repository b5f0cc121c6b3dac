"""What a list of cubes leaves uncovered, by cofactor recursion: for functions of many inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel import function_kernels as kernels
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes, pack, unpack, words_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LIST_BUDGET = 1 << 22  # cubes looked at between two looks at the clock: some ten milliseconds
_MOST_MEMBERS = 1 << 27
_MOST_WORDS = 1 << 23  # 64 MB


class GaveUpError(Exception):
    """The clock ran out, or the walk would need too much memory."""


def buffers(inputs: int, room: int, leaves: int = 1) -> kernels.Walk:
    """Return the buffers of walks over cubes of so many inputs, with room for so many members."""
    words, depth = words_for(inputs), inputs + 3
    return kernels.Walk(
        members=np.zeros(room, np.int32), start=np.zeros(depth, np.int64),
        split=np.zeros(depth, np.int64), side=np.zeros(depth, np.int64),
        region=np.zeros((2, words), np.uint64), state=np.array([0, 0, 1, 0], np.int64),
        bound=np.zeros((2, words), np.uint64), leaves=np.zeros((leaves, 2, words), np.uint64),
        tally=np.zeros(128 * words, np.int64),
    )  # fmt: skip


def _enlarged(walk: kernels.Walk, most: int) -> kernels.Walk:
    """Double the buffer that is full; raise `GaveUpError` where it has grown too large."""
    if walk.state[1] == len(walk.leaves):
        if walk.leaves.size > _MOST_WORDS or len(walk.leaves) >= most:
            raise GaveUpError
        return walk._replace(leaves=np.concatenate([walk.leaves, np.zeros_like(walk.leaves)]))
    if walk.members.size > _MOST_MEMBERS:
        raise GaveUpError
    return walk._replace(members=np.concatenate([walk.members, np.zeros_like(walk.members)]))


def first_uncovered(
    targets: Cubes, cubes: Cubes, clock: Clock | None = None
) -> NDArray[np.uint64] | None:
    """Return a part of some target outside every cube (outputs ignored), or None if there is none.

    Raises `GaveUpError` where the clock runs out.
    """
    if not len(targets):
        return None
    clock = clock or Clock()
    walk = buffers(cubes.inputs, 8 * len(cubes) + 64)
    at, budget = np.zeros(1, np.int64), _LIST_BUDGET
    while True:
        before = at[0]
        status = kernels.cover_all(
            targets.zero, targets.one, at, targets.inputs, cubes.zero, cubes.one, walk, budget
        )
        if status in (kernels.DONE, kernels.FOUND):
            return walk.region if status == kernels.FOUND else None
        if clock.over:
            raise GaveUpError
        if status == kernels.MORE_ROOM:
            walk = _enlarged(walk, 1)
        elif at[0] == before:
            budget *= 2


def uncovered_parts(
    cubes: Cubes, clock: Clock | None = None, most: int = _MOST_WORDS
) -> NDArray[np.uint64]:
    """Return what the cubes leave uncovered, as disjoint regions; gives up beyond `most`."""
    clock = clock or Clock()
    walk = buffers(cubes.inputs, 8 * len(cubes) + 64, 64)
    walk.region[:] = pack(np.ones((1, cubes.inputs), np.bool_))
    walk.members[: len(cubes)] = np.arange(len(cubes))
    walk.start[1:] = len(cubes)
    while True:
        status = kernels.explore(cubes.zero, cubes.one, walk, kernels.COLLECT, _LIST_BUDGET)
        if status == kernels.DONE:
            return walk.leaves[: walk.state[1]]
        if status == kernels.MORE_ROOM:
            walk = _enlarged(walk, most)
        if clock.over:
            raise GaveUpError


def complement(cubes: Cubes, clock: Clock | None = None, most: int = _MOST_WORDS) -> Cubes:
    """Return cubes for the points each output's cubes leave; equal parts are shared.

    Raises `GaveUpError` where the clock runs out or there are more than about `most` cubes.
    """
    zeros, ones, outs = [cubes.zero[:0]], [cubes.one[:0]], [cubes.out[:0]]
    total = 0
    for j in range(cubes.outputs):
        mine = cubes.take(cubes.owned_by(j))
        parts = uncovered_parts(mine, clock, most)
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
