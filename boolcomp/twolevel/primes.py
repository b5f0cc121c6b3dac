"""All multi-output primes of a function given by cubes.

A multi-output implicant is a cube with a set of outputs, in all of which it lies inside ON or DC;
it is prime when neither a literal can be dropped nor an output added. Over few inputs the outputs
of all 3ⁿ cubes fit into one array and primes are read off it. Beyond, the function is split on
an input: with P0, P1 the primes of the two halves, the primes of the whole are the maximal cubes
among `p0 & p1`, `x' & p0` and `x & p1` (Quine's theorem for one variable).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.twolevel import primes_kernels
from boolcomp.twolevel.packed import Shape, size_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAF_INPUTS = 10
"""A part with no more inputs than this is solved on the array of all its cubes."""

MANY_CUBES = 300
"""A part of so many cubes is solved on that array whenever it fits: merging would take longer."""

DENSE_BYTES = 400 * 2**20
"""The largest array of the outputs of all cubes that is made at once: 3¹⁸ cubes of 8 outputs."""

SHORT, MOST_KNOWN = 64, 20_000
"""Parts of so few cubes are remembered, and so many of them (at most 150 MB for 32 inputs)."""

BYTES_PER_SECOND = 5 * 10**8
"""How fast the primes are read off that array, per byte and input; the least to expect."""

PAIRS = 5 * 10**6
"""Pairs of cubes of at most `USUAL` words compared between two looks at the clock."""

USUAL = 4


FREE = 2
"""The digit of an input that a cube leaves open."""


class PrimesTooManyError(Exception):
    """There are more primes than allowed, or the time ended before all were known."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What prime generation may use: a number of cubes and a moment of `time.monotonic`.

    `known` remembers the primes of parts: those of wide functions come again and again.
    """

    limit: int
    end: float
    known: dict[bytes, NDArray[np.uint64]] = field(default_factory=dict)

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.monotonic()

    def check(self, count: int) -> None:
        """Raise `PrimesTooManyError` if so many cubes or the time by now are too much."""
        if count > self.limit:
            raise PrimesTooManyError(f"more than {self.limit} primes")
        if time.monotonic() > self.end:
            raise PrimesTooManyError("time ended before all primes were known")


def all_primes(
    cubes: NDArray[np.uint64], shape: Shape, limit: int, end: float
) -> NDArray[np.uint64]:
    """Return the packed primes of the union of packed cubes, largest first.

    Raises `PrimesTooManyError` beyond `limit` primes (of the function or of a part of it), or when
    `time.monotonic()` passes `end`.
    """
    if len(cubes) == 0:
        return shape.none()
    budget = Budget(limit, end)
    primes = _split(_irredundant(cubes, budget), shape, budget)
    budget.check(len(primes))
    return primes[size_order(primes)]


def _pairs(cubes: NDArray[np.uint64]) -> int:
    """Return the pairs of such cubes to compare between two looks: wide ones take longer."""
    return PAIRS * USUAL // max(USUAL, int(cubes.shape[1]))


def _irredundant(cubes: NDArray[np.uint64], budget: Budget) -> NDArray[np.uint64]:
    """Return the cubes that lie in no other, largest first."""
    ordered, pairs = cubes[size_order(cubes)], _pairs(cubes)
    kept = np.empty(len(ordered), np.int64)
    size = at = 0
    while at < len(ordered):
        # The cubes of a step are compared among themselves too, so a first step must be short.
        step = min(len(ordered) - at, 1 + pairs // (size + 1), 1 + isqrt(pairs))
        size = primes_kernels.maximal(ordered, at, at + step, kept, size)
        at += step
        budget.check(size // 2)
    return ordered[kept[:size]]


def _inside_any(
    small: NDArray[np.uint64], large: NDArray[np.uint64], budget: Budget
) -> NDArray[np.bool_]:
    """Tell for every cube of `small` whether some cube of `large` holds it."""
    step = 1 + _pairs(small) // (len(large) + 1)
    parts = [np.zeros(0, np.bool_)]
    for at in range(0, len(small), step):
        parts.append(primes_kernels.contained(small[at : at + step], large))
        budget.check(0)
    return np.concatenate(parts)


def _products(
    low: NDArray[np.uint64], high: NDArray[np.uint64], shape: Shape, budget: Budget
) -> NDArray[np.uint64]:
    """Return pairwise intersections; those in a larger one of the same `low` cube are left out."""
    step = 1 + _pairs(low) // (len(high) + 1)
    parts = [shape.none()]
    size = 0
    for at in range(0, len(low), step):
        parts.append(
            primes_kernels.products(low[at : at + step], high, shape.words, shape.everything())
        )
        size += len(parts[-1])
        budget.check(size // 20)  # most of these are not maximal
    return np.concatenate(parts)


def _literal_counts(
    cubes: NDArray[np.uint64], shape: Shape
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many cubes exclude 0, and how many exclude 1, at every input."""
    counts = []
    for plane in (0, shape.words):
        words = cubes[:, plane : plane + shape.words]
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        counts.append(len(cubes) - bits[:, : shape.inputs].sum(axis=0, dtype=np.int64))
    return counts[0], counts[1]


def _split(cubes: NDArray[np.uint64], shape: Shape, budget: Budget) -> NDArray[np.uint64]:
    """Return the primes of irredundant cubes."""
    budget.check(0)
    key = cubes.tobytes() if len(cubes) <= SHORT else b""
    known = budget.known.get(key)
    if known is not None:
        return known
    primes = _primes_of_part(cubes, shape, budget)
    if key and len(primes) <= 4 * SHORT and len(budget.known) < MOST_KNOWN:
        budget.known[key] = primes
    return primes


def _primes_of_part(cubes: NDArray[np.uint64], shape: Shape, budget: Budget) -> NDArray[np.uint64]:
    """Return the same, on the array of all cubes or from the two halves."""
    positive, negative = _literal_counts(cubes, shape)
    active = np.flatnonzero(positive + negative)
    size = 3 ** len(active) * _lane(shape.outputs).itemsize * (shape.width - shape.out_at)
    few = len(active) <= (LEAF_INPUTS if len(cubes) < MANY_CUBES else 20)
    if few and size <= DENSE_BYTES and size * len(active) < BYTES_PER_SECOND * budget.left:
        return _dense(cubes, active, shape, budget)
    choice = np.minimum(positive, negative) * (len(cubes) + 1) + positive + negative
    best = int(choice.argmax())
    word, bit = best // 64, np.uint64(1 << (best % 64))
    halves = []
    for plane in (0, shape.words):
        half = cubes[(cubes[:, plane + word] & bit) != 0]
        half[:, word] |= bit
        half[:, shape.words + word] |= bit
        halves.append(
            _split(_irredundant(half, budget), shape, budget) if len(half) else shape.none()
        )
    budget.check(max(len(half) for half in halves))
    return merged(halves[0], halves[1], best, shape, budget)


def merged(
    low: NDArray[np.uint64], high: NDArray[np.uint64], split: int, shape: Shape, budget: Budget
) -> NDArray[np.uint64]:
    """Return the primes of `x'·low + x·high` for the primes of the two halves."""
    low_in, high_in = _inside_any(low, high, budget), _inside_any(high, low, budget)
    both = _products(low[~low_in], high[~high_in], shape, budget)
    both = _irredundant(np.concatenate([low[low_in], high[high_in], both]), budget)
    budget.check(len(both))
    word, bit = split // 64, np.uint64(1 << (split % 64))
    parts = [both]
    for half, known, plane in ((low, low_in, shape.words), (high, high_in, 0)):
        rest = half[~known]
        rest = rest[~_inside_any(rest, both, budget)]
        rest[:, plane + word] &= ~bit
        parts.append(rest)
    return np.concatenate(parts)


def _lane(outputs: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the type that holds a set of outputs (or 64 of them)."""
    return np.min_scalar_type((1 << min(outputs, 64)) - 1)


def _dense(
    cubes: NDArray[np.uint64], active: NDArray[np.intp], shape: Shape, budget: Budget
) -> NDArray[np.uint64]:
    """Return the primes through the array of all cubes over the active inputs."""
    count, words = len(active), shape.width - shape.out_at
    masks = np.zeros((2,) * count + (words,), np.uint64)
    for cube in cubes:
        where: list[int | slice] = []
        for i in active:
            bit = np.uint64(1 << int(i % 64))
            zero, one = cube[i // 64] & bit, cube[shape.words + i // 64] & bit
            where.append(slice(None) if zero and one else int(one != 0))
        masks[tuple(where)] |= cube[shape.out_at :]
    digits, out = primes_of_points(masks.reshape(-1, words), shape.outputs, budget)
    primes = np.broadcast_to(shape.everything(), (len(out), shape.width)).copy()
    for column, i in enumerate(active):
        bit = np.uint64(1 << int(i % 64))
        primes[digits[:, column] == 1, i // 64] &= ~bit
        primes[digits[:, column] == 0, shape.words + i // 64] &= ~bit
    primes[:, shape.out_at :] = out
    return primes


def primes_of_points(
    allowed: NDArray[np.uint64], outputs: int, budget: Budget
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the digits (0, 1, `FREE`; a column an input) and outputs of all primes.

    `allowed` holds the outputs that allow each point, one row a point, the first input foremost.
    """
    inputs, words, lane = (len(allowed) - 1).bit_length(), allowed.shape[1], _lane(outputs)
    table = allowed.astype(lane)
    for i in range(inputs):
        # Inputs 0..i are ternary already: one more axis grows from (0, 1) to (0, 1, both).
        pair = table.reshape(3**i, 2, -1)
        table = np.empty((3**i, 3, pair.shape[2]), lane)
        table[:, :2] = pair
        np.bitwise_and(pair[:, 0], pair[:, 1], out=table[:, 2])
    table = table.reshape(-1, words)
    keep = (table != 0).any(axis=1)
    for i in range(inputs):
        cell = table.reshape(3**i, 3, -1, words)
        flags = keep.reshape(3**i, 3, -1)
        for digit in (0, 1):
            flags[:, digit] &= (cell[:, digit] != cell[:, 2]).any(axis=-1)
    found = np.flatnonzero(keep)
    budget.check(len(found))
    digits = found[:, None] // 3 ** np.arange(inputs)[::-1] % 3
    return digits, table[found].astype(np.uint64)
