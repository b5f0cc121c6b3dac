"""A decision diagram whose leaves are words: reduced, ordered, all bits of a word in one.

    node 0 … a test: which input, where to go on a 0, where to go on a 1
    ~0, ~1 … a leaf, by its place among the words that there are

A diagram of words tests a bit once for all bits of the word; one of bits would have to be walked
for each of them. No test has two equal branches, and no two tests are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.diagrams.sifting import sifted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.diagrams.levels import Levels

TRIED = 20  # inputs: larger tables are made in one first order only, which takes long enough


class DiagramNode(NamedTuple):
    """A test of an input, and the nodes that follow on a 0 and on a 1."""

    input: int
    zero: int
    one: int


@dataclass(frozen=True, slots=True, repr=False)
class Diagram:
    """The tests of a function of `inputs` bits, those that are reached first; its leaves' words."""

    inputs: int
    order: tuple[int, ...]
    tests: tuple[DiagramNode, ...]
    leaves: tuple[int, ...]

    @property
    def root(self) -> int:
        """Where a walk begins: the first test, or the only leaf."""
        return 0 if self.tests else ~0

    def words(self) -> NDArray[np.int64]:
        """Return the word of every combination of inputs, the first input most significant."""
        rows = np.arange(1 << self.inputs)
        at = np.full(len(rows), self.root)
        leaves = np.asarray(self.leaves, np.int64)
        if self.tests:
            tests = np.asarray(self.tests, np.int64)
            for _ in self.order:
                one = tests[np.maximum(at, 0)]
                bit = rows >> (self.inputs - 1 - one[:, 0]) & 1
                at = np.where(at < 0, at, np.where(bit == 1, one[:, 2], one[:, 1]))
        found: NDArray[np.int64] = leaves[~at]
        return found

    def __str__(self) -> str:
        def name(node: int) -> str:
            return f"= {self.leaves[~node]}" if node < 0 else f"n{node}"

        lines = [f"diagram of {self.inputs} inputs from {name(self.root)}"]
        lines += [
            f"n{k}: x{test.input} ? {name(test.one)} : {name(test.zero)}"
            for k, test in enumerate(self.tests)
        ]
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"Diagram({self.inputs} inputs, {len(self.tests)} tests, {len(self.leaves)} leaves)"


def diagram_of(words: NDArray[np.int64], inputs: int, spans: Sequence[int] = ()) -> Diagram:
    """Return the diagram of a table of words in the best order that is found.

    Row r is the word for the inputs r, the first of them most significant. Inputs may be the bits
    of several words, `spans` bits each: then they are tried in turn, a bit of each word, as well.
    The diagram is held against the whole table.
    """
    widths = spans or (inputs,)
    if sum(widths) != inputs:
        raise ValueError(f"{widths} bits are not {inputs} inputs")
    straight = list(range(inputs))
    firsts = [sum(widths[:k]) for k in range(len(widths))]
    turns = [
        first + k
        for k in range(max(widths, default=0))
        for first, width in zip(firsts, widths, strict=True)
        if k < width
    ]
    orders = [turns] if inputs > TRIED else [straight, straight[::-1], turns, turns[::-1]]
    different = [order for k, order in enumerate(orders) if order not in orders[:k]]
    made = reduced(sifted(np.asarray(words, np.int64), inputs, different))
    if not np.array_equal(made.words(), words):
        raise AssertionError("a diagram is not its table")
    return made


def reduced(levels: Levels) -> Diagram:
    """Return the diagram of levels, without the tests that decide nothing."""
    below = ~np.arange(len(levels.leaves))
    found: list[DiagramNode] = []  # last levels first
    for one, pairs in zip(reversed(levels.order), reversed(levels.pairs), strict=True):
        targets = below[pairs]
        below = targets[:, 0].copy()
        for k in np.flatnonzero(targets[:, 0] != targets[:, 1]).tolist():
            below[k] = len(found)
            found.append(DiagramNode(one, *targets[k].tolist()))
    last = len(found) - 1

    def turned(node: int) -> int:
        return node if node < 0 else last - node

    tests = tuple(DiagramNode(t.input, turned(t.zero), turned(t.one)) for t in reversed(found))
    order = tuple(levels.order)
    return Diagram(len(order), order, tests, tuple(levels.leaves.tolist()))
