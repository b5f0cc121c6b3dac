"""Primes that every prime cover has, found from one cover, without a list of all primes.

A prime of a cover is essential where the consensus of the other cubes (and the don't-cares) with it
leaves a part of it uncovered that is no don't-care: no other prime holds that part (Brayton,
Hachtel, McMullen, Sangiovanni-Vincentelli, 1984, theorem 4.4).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes, pack
from boolcomp.twolevel.function import Function
from boolcomp.twolevel.lists import GaveUpError
from boolcomp.twolevel.packed import Shape, literals, packed, unpacked
from boolcomp.twolevel.verify import missing

if TYPE_CHECKING:
    from numpy.typing import NDArray


def primes_around(function: Function, cover: Cubes, clock: Clock | None = None) -> Cubes:
    """Return a cover's cubes, each grown to a prime: literals go, then outputs come, in order.

    Raises `lists.GaveUpError` where the clock runs out.
    """
    allowed = function.on.joined(function.dc)
    grown = [_grown(allowed, cover.take(np.array([k])), clock) for k in range(len(cover))]
    if not grown:
        return cover
    zero, one, out = (
        np.concatenate([getattr(cube, plane) for cube in grown]) for plane in ("zero", "one", "out")
    )
    return Cubes(cover.inputs, cover.outputs, zero, one, out).canonical()


def _grown(allowed: Cubes, cube: Cubes, clock: Clock | None) -> Cubes:
    for k in range(cube.inputs):
        bit = pack(np.eye(1, cube.inputs, k, np.bool_))
        if (cube.zero & cube.one & bit).any():
            continue
        wider = Cubes(cube.inputs, cube.outputs, cube.zero | bit, cube.one | bit, cube.out)
        cube = wider if _inside(wider, allowed, clock) else cube
    for j in range(cube.outputs):
        bit = pack(np.eye(1, cube.outputs, j, np.bool_))
        more = Cubes(cube.inputs, cube.outputs, cube.zero, cube.one, cube.out | bit)
        if not (cube.out & bit).any() and _inside(more, allowed, clock):
            cube = more
    return cube


def _inside(cube: Cubes, space: Cubes, clock: Clock | None) -> bool:
    """Tell whether a cube lies in a union of cubes, for all its outputs."""
    target = Function.from_cubes(cube)
    return missing(target, space, clock) is None


def essential(
    function: Function, primes: Cubes, clock: Clock | None = None, each: float = math.inf
) -> NDArray[np.bool_]:
    """Tell which primes of a cover are essential.

    `primes` cover the function, and each is a prime of it. Of one that takes more than `each`
    seconds it is not told. Raises `lists.GaveUpError` where the clock runs out.
    """
    clock = clock or Clock()
    shape = Shape(primes.inputs, primes.outputs)
    own, free = packed(primes), packed(function.dc)
    found = np.zeros(len(own), np.bool_)
    for k, prime in enumerate(own):
        others = np.concatenate([own[:k], own[k + 1 :], free])
        reached = unpacked(consensus_within(others, prime, shape), shape)
        target = Function.from_cubes(primes.take(np.array([k])), function.dc)
        try:
            found[k] = missing(target, reached, Clock(min(each, clock.left))) is not None
        except GaveUpError:
            if clock.over:
                raise
    return found


def consensus_within(
    cubes: NDArray[np.uint64], prime: NDArray[np.uint64], shape: Shape
) -> NDArray[np.uint64]:
    """Return what of a prime other primes hold, as far as the consensus of cubes with it tells.

    A cube that conflicts with it in one variable covers their common part with that variable as in
    the prime. One that conflicts in none covers the common part, for all outputs of the prime where
    it has one more. The outputs are one variable.
    """
    common = cubes & prime
    masks = [_mask(variable, shape) for variable in range(shape.inputs + 1)]
    conflicts = np.stack([~(common & mask).any(axis=1) for mask in masks], axis=1)
    count = conflicts.sum(axis=1)
    parts = [shape.none()]
    for variable, mask in enumerate(masks):
        parts.append(common[(count == 1) & conflicts[:, variable]] & ~mask | prime & mask)
    more = (cubes & ~prime & masks[-1]).any(axis=1)
    parts.append(common[(count == 0) & more] & ~masks[-1] | prime & masks[-1])
    parts.append(common[(count == 0) & ~more])  # of one within the prime: a don't-care
    return np.unique(np.concatenate(parts), axis=0)


def _mask(variable: int, shape: Shape) -> NDArray[np.uint64]:
    """Return the bits of an input's two values, or, for the last variable, of all outputs."""
    mask = np.zeros(shape.width, np.uint64)
    if variable == shape.inputs:
        mask[shape.out_at :] = shape.everything()[shape.out_at :]
    else:
        bit = np.uint64(1 << (variable % 64))
        mask[variable // 64] = mask[shape.words + variable // 64] = bit
    return mask


def lightest_first(cubes: Cubes) -> Cubes:
    """Return cubes in the order of their literals, as lists of primes are read."""
    shape = Shape(cubes.inputs, cubes.outputs)
    return cubes.take(np.argsort(literals(packed(cubes), shape), kind="stable"))
