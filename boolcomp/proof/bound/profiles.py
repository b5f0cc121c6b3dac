"""What groups err by at all cells of their angles: tables by word, and chords between points.

The linear inputs of a group may be cut into blocks; then it is what they err by within each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.envelope_kernels import add_group, envelope, spread
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.groups import POINTS
from boolcomp.proof.bound.sweep import Sweep, Turning, ancestors

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.groups import Group
    from boolcomp.proof.bound.sweep import LookedUp
    from boolcomp.words.graph import WordGraph

    Words = NDArray[np.int64]
    Profile = tuple[Sweep, dict[tuple[int, ...], tuple[Words, Words]]]

FARTHEST = np.iinfo(np.int64).max // 2


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks of a group's states: one for every state, and which of them holds each of all."""

    block: Words
    count: int
    own: Words


@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """A group's errors: for every number of its frontier (by `row`) on a grid of a, by block.

    `most` and `least` are what it puts into the heap.
    """

    group: Group
    waves: list[LookedUp]
    row: Words
    first: Words
    step: Words
    high: Words
    low: Words
    most: Words
    least: Words
    own: Words

    @property
    def tiny(self) -> int:
        """By how many units its errors may be larger, because waves are looked up."""
        most = max(np.abs(self.group.least).max(), np.abs(self.group.most).max())
        return (2 * len(self.waves) + 1) * int(most)

    def which(self, values: Sequence[Words]) -> Words:
        """Return the rows for words of many angles."""
        found = self.row[self.group.frontier.packed(values)]
        return np.broadcast_to(found, len(values[0])).copy()

    def add(self, up: Words, down: Words, which: Words, a: Words) -> None:
        """Add largest and least errors by cell and block."""
        add_group(
            up, down, which, a, self.first, self.step, self.high, self.low, self.own
        )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """The angles of an output, and the unit in which it is counted."""

    graph: WordGraph
    angles: tuple[Turning, ...]
    scale: int
    effort: int

    def sweep(self, words: Sequence[int], names: Iterable[int]) -> tuple[Sweep, list[int]]:
        """Return a way through the cells of angles that words and names need, and the nodes."""
        nodes, used = ancestors(self.graph, words), set(names)
        angles = [one for one in self.angles if one.node in nodes or one.meaning in used]
        return Sweep(self.graph, tuple(angles), self.scale), nodes

    def sweep_of(self, groups: Sequence[Group]) -> tuple[Sweep, list[int]]:
        """Return a way through the cells of those angles that groups see, and what they read."""
        names = {name for one in groups for angle in one.exact.series for name, _ in angle}
        return self.sweep([k for one in groups for k in one.frontier.words], names)

    def tabled(self, group: Group, blocks: Blocks | None = None) -> Tabled:
        """Return a group's largest and least errors for all words that it may read."""
        states = len(group.least)
        if blocks is None:
            blocks = Blocks(np.zeros(states, np.int64), 1, np.zeros(1, np.int64))
        sweep, nodes = self.sweep_of([group])
        waves = sweep.waves(group.exact.series, group.exact.scale)
        first, last = (np.full(group.frontier.count, end) for end in (FARTHEST, -FARTHEST))
        for block in sweep.blocks():
            values = sweep.values(block, nodes)
            which = np.broadcast_to(group.frontier.packed(values), len(values[0])).copy()
            for corner in sweep.corners:
                spread(which, sweep.exact(waves, block, corner), first, last)
        there = np.flatnonzero(first <= last)
        if len(there) * states * POINTS > self.effort:
            raise NotPlainError
        row = np.zeros(len(first), np.int64)
        row[there] = np.arange(len(there))
        step = np.maximum(1, -(-(last[there] - first[there]) // (POINTS - 1)))
        high, low = (
            np.full((len(there), blocks.count, POINTS), end) for end in (-FARTHEST, FARTHEST)
        )
        most, least = high[..., 0].copy(), low[..., 0].copy()
        for k, number in enumerate(there.tolist()):
            grid = first[number] + step[k] * np.arange(POINTS, dtype=np.int64)
            said = group.said(number, self.scale)
            envelope(said, group.least, group.most, blocks.block, grid, high[k], low[k])
            np.maximum.at(most[k], blocks.block, said)
            np.minimum.at(least[k], blocks.block, said)
        return Tabled(
            group, waves, row, first[there], step, high, low, most, least, blocks.own
        )  # fmt: skip

    def profile(self, tabled: Tabled) -> Profile:
        """Return a group's largest and least errors at all cells of its angles, by corner."""
        sweep, nodes = self.sweep_of([tabled.group])
        found = {corner: ([], []) for corner in sweep.corners}  # type: ignore[var-annotated]
        for block in sweep.blocks():
            values = sweep.values(block, nodes)
            which = tabled.which(values)
            for corner, (highs, lows) in found.items():
                up, down = (np.zeros((len(which), 1), np.int64) for _ in range(2))
                tabled.add(up, down, which, sweep.exact(tabled.waves, block, corner))
                highs.append(up[:, 0])
                lows.append(down[:, 0])
        return sweep, joined(found)


def joined(
    found: dict[tuple[int, ...], tuple[list[Words], list[Words]]],
) -> dict[tuple[int, ...], tuple[Words, Words]]:
    """Return the blocks of a sweep one after the other."""
    return {
        corner: (np.concatenate(highs), np.concatenate(lows))
        for corner, (highs, lows) in found.items()
    }
