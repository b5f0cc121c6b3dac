"""Tight bounds of any output: branch and bound over boxes of its inputs.

In a box all that depends on its angles is known nearly; what is linear may be anything. The worst
box is split into two, at the input where that helps most. Whenever this ends the worst of all boxes
is a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.boxes import Boxing
from boolcomp.proof.bound.branch_kernels import sampled, search
from boolcomp.proof.bound.fixed import outward
from boolcomp.proof.bound.plain import at_rest, moved, rounding
from boolcomp.proof.bound.result import BOXES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.proof.bound.boxsteps import Boxed, Slot
    from boolcomp.proof.bound.plain import Forward

    Whole = NDArray[np.int64]
    Floats = NDArray[np.float64]


SAMPLES = 256  # cells, of which the worst say what splits are worth
KEPT = 24
TURNS = 6  # of climbing, for cells that are as bad as those that matter
SEED = 15
WIDEST = 17  # bits of a word and one


ADDEND = 400_000  # steps of all boxes, for an addend by itself
ROOM = 1 << 22  # boxes that are kept


@dataclass(frozen=True, slots=True)
class Searched:
    """The least and the largest error; the boxes looked at, and whether no split could help."""

    ends: tuple[Fraction, Fraction]
    boxes: int
    done: bool


def box_bound(forward: Forward, column: int, effort: int) -> Searched:
    """Return what an output errs by in the worst of all boxes; a `NotPlainError` where none are.

    Boxes are counted, so that the same effort gives the same bound anywhere.
    """
    result = forward.explained.results[column]
    boxed = Boxing(forward).boxed(result.meaning)
    search_ = Search(boxed, boxed.output, last_of(forward, column, boxed.output))
    found, done, seen = search_.run(effort * BOXES)
    return Searched(at_rest_too(forward, column, found), seen, done)


def last_of(forward: Forward, column: int, slot: Slot) -> tuple[int, ...]:
    """Return what follows an output's sum: what is added, and how its word is rounded."""
    explained = forward.explained
    result, output = explained.results[column], explained.graph.results[column]
    drop, shift = output.drop, slot.scale - output.drop
    if drop and shift >= 1:
        beside = outward(moved(explained, column, result), slot.scale)
        return *beside, explained.graph.nodes[output.node].bits, shift, drop
    return *outward(rounding(explained, column, result), slot.scale), 0, 0, 0


def table_bound(forward: Forward, column: int) -> tuple[Fraction, Fraction]:
    """Return what an output errs by where every addend of its sum is the worst by itself."""
    result = forward.explained.results[column]
    boxed = Boxing(forward).boxed(result.meaning)
    beside = rounding(forward.explained, column, result)
    unit = Fraction(2) ** -boxed.output.scale
    total = boxed.steps[boxed.output.place]
    low, high = int(total[8]) * unit, int(total[9]) * unit
    for addend in boxed.addends:
        part = boxed.until(addend)
        found, _, _ = Search(part, addend, (0,) * 5).run(ADDEND // len(part.steps))
        low, high = low + found[0], high + found[1]
    return at_rest_too(forward, column, (low + beside.ends[0], high + beside.ends[1]))


def at_rest_too(
    forward: Forward, column: int, found: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    """Return the ends of what an output errs by, be its word held at zero or not."""
    low, high = found
    result = forward.explained.results[column]
    if result.rest is not None:
        resting = -at_rest(forward.explained, result)
        low, high = min(low, resting.ends[0]), max(high, resting.ends[1])
    return low, high


class Search:
    """A search for the worst box, of one slot; `last` is what follows it (see `rounded`)."""

    def __init__(self, boxed: Boxed, slot: Slot, last: tuple[int, ...]) -> None:
        self.boxed, self.place = boxed, slot.place
        self.unit = Fraction(2) ** -slot.scale
        self.follows = np.array(last, np.int64)
        self.first = np.array(boxed.first, np.int64)
        self.last = np.array(boxed.last, np.int64)
        self.bits = [int(k).bit_length() for k in self.first ^ self.last]

    def run(self, budget: int) -> tuple[tuple[Fraction, Fraction], bool, int]:
        """Return the ends of a slot's errors, whether no split could help, and boxes looked at."""
        boxed = self.boxed
        budget = budget if self.bits else 1  # without inputs there is one box
        room = min(ROOM, max(2, budget // 2 + 2))
        worth = self.worth() if budget > 1 else np.zeros((len(self.bits), WIDEST))
        firsts = np.zeros((room, len(boxed.first)), np.uint16)
        lasts = np.zeros_like(firsts)
        firsts[0], lasts[0] = boxed.first, boxed.last
        result = np.zeros(4, np.int64)
        search(
            boxed.steps, boxed.args, boxed.low, boxed.high, boxed.known, *boxed.readers(), firsts,
            lasts, worth, self.place, self.follows, budget, result,
        )  # fmt: skip
        low, high, seen, done = (int(k) for k in result)
        return (low * self.unit, high * self.unit), bool(done), seen

    def keys(self, first: Whole, last: Whole) -> Whole:
        """Return the largest errors in some boxes, rounded for the most that can be.

        How a word is rounded says nothing of cells nearby, and so nothing of what splits are worth.
        """
        boxed, found = self.boxed, np.zeros(len(first), np.int64)
        follows = self.follows * (1, 1, 0, 0, 0)
        if self.follows[4]:
            half = ((1 << self.follows[4]) - 1) << (self.follows[3] - 1)
            follows[:2] += (-half, half)
        sampled(
            boxed.steps, boxed.args, boxed.low, boxed.high, boxed.known, first.astype(np.uint16),
            last.astype(np.uint16), self.place, follows, found,
        )  # fmt: skip
        return found

    def worth(self) -> Floats:
        """Return what a split is worth, by input and by how many of its bits are open.

        It is by how much less a box of few cells errs for every bit of an input that is known.
        """
        cells = self._cells()
        alone = self.keys(cells, cells)
        worth = np.zeros((len(self.bits), WIDEST))
        for dim, bits in enumerate(self.bits):
            gain = np.zeros(bits + 1)
            for k in range(1, bits + 1):
                first, last = cells.copy(), cells.copy()
                first[:, dim] = np.maximum(self.first[dim], cells[:, dim] >> k << k)
                last[:, dim] = np.minimum(self.last[dim], (cells[:, dim] >> k << k) + (1 << k) - 1)
                mean = float((self.keys(first, last) - alone).mean())
                gain[k] = max(mean, gain[k - 1])
                worth[dim, k] = max((gain[k] - gain[j]) / (k - j) for j in range(k))
        return worth

    def _cells(self) -> Whole:
        """Return single cells that err much."""
        rng = np.random.default_rng(SEED)
        size = (SAMPLES, len(self.bits))
        cells = rng.integers(self.first, self.last + 1, size)
        keys = self.keys(cells, cells)
        for _ in range(TURNS):
            order = np.argsort(-keys, kind="stable")[: SAMPLES // 2]
            cells, keys = np.tile(cells[order], (2, 1)), np.tile(keys[order], 2)
            flip = np.left_shift(1, rng.integers(0, np.maximum(1, self.bits), size))
            other = np.where(rng.random(size) < 2 / len(self.bits), cells ^ flip, cells)
            other = np.clip(other, self.first, self.last)
            found = self.keys(other, other)
            better = found > keys
            cells, keys = np.where(better[:, None], other, cells), np.where(better, found, keys)
        return np.asarray(cells[np.argsort(-keys, kind="stable")[:KEPT]], np.int64)
