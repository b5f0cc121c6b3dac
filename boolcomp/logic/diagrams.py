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

from boolcomp.logic.network import CONSTANTS, Builder, copied
from boolcomp.logic.simulation import truth_planes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network

    Pairs = NDArray[np.int64]  # of each node where it goes on a 0 and on a 1: nodes a level below


# --------------------------------------------------------------------------------------------------
# A table as the levels of a decision diagram, one input a level, in any order of the inputs.
#
# Every path goes through all levels, through tests whose two branches are the same as well: then
# two neighbouring inputs change places without any other level taking notice. Tests that decide
# nothing are left out when a diagram is made of the levels (`diagram`).
# --------------------------------------------------------------------------------------------------


DIRECT = 1 << 12


class Levels:
    """The distinct parts of a table level by level; `order` says which input each level tests.

    Branches of the last level count among `leaves`, the words that the table has, rising. No two
    nodes of a level have the same branches: as many nodes as the table has different parts there.
    """

    def __init__(self, words: NDArray[np.int64], inputs: int, order: Sequence[int]) -> None:
        if len(words) != 1 << inputs or sorted(order) != list(range(inputs)):
            raise ValueError("a table has a word for every combination of its inputs")
        self.order = list(order)
        turned = np.ascontiguousarray(words.reshape((2,) * inputs).transpose(order)).ravel()
        self.leaves, places = _distinct(turned, int(turned.max()) + 1)
        found: list[Pairs] = []
        below = len(self.leaves)
        for _ in range(inputs):
            pairs, places = _numbered(places.reshape(-1, 2), below)
            found.append(pairs)
            below = len(pairs)
        self.pairs = found[::-1]
        self.sizes = [_tests(pairs) for pairs in self.pairs]

    @property
    def size(self) -> int:
        """The tests that decide something."""
        return sum(self.sizes)

    def swap(self, level: int) -> None:
        """Let a level and the next one change places."""
        upper, lower = self.pairs[level], self.pairs[level + 1]
        last = level + 2 == len(self.pairs)
        below = len(self.leaves) if last else len(self.pairs[level + 2])
        on_zero, on_one = lower[upper[:, 0]], lower[upper[:, 1]]
        crossed = np.concatenate([np.stack([on_zero[:, k], on_one[:, k]], axis=1) for k in (0, 1)])
        self.pairs[level + 1], places = _numbered(crossed, below)
        self.pairs[level] = places.reshape(2, -1).T.copy()
        self.sizes[level : level + 2] = map(_tests, self.pairs[level : level + 2])
        self.order[level : level + 2] = self.order[level + 1], self.order[level]


def _numbered(pairs: Pairs, below: int) -> tuple[Pairs, NDArray[np.int64]]:
    """Return the different pairs, rising, and for every given one its place among them."""
    keys, places = _distinct(pairs[:, 0] * below + pairs[:, 1], below * below)
    return np.stack([keys // below, keys % below], axis=1), places


def _distinct(numbers: NDArray[np.int64], end: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different numbers, rising, and for every given one its place among them.

    All of them are from 0 to `end`: where these are few, nothing is sorted.
    """
    if end > max(DIRECT, 2 * len(numbers)):
        found, places = np.unique(numbers, return_inverse=True)
        return found, places.reshape(-1).astype(np.int64)
    there = np.zeros(end, np.bool_)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _tests(pairs: Pairs) -> int:
    return int(np.count_nonzero(pairs[:, 0] != pairs[:, 1]))


# --------------------------------------------------------------------------------------------------
# An order of inputs in which a diagram has few tests, by sifting (Rudell, 1993).
#
# One input after the other, those of the largest levels first, is moved through all levels and left
# where the diagram was smallest; again while that helps. What comes out depends on the table alone.
# --------------------------------------------------------------------------------------------------


ROUNDS = 8
GROWTH = 1.3  # of the smallest diagram so far: an input that makes more of it turns back


def sifted(words: NDArray[np.int64], inputs: int, orders: Sequence[Sequence[int]]) -> Levels:
    """Return the levels of a table in the best order that sifting finds from several first ones."""
    found = [Levels(words, inputs, order) for order in orders]
    for levels in found:
        _sift(levels)
    return min(found, key=lambda levels: (levels.size, levels.order))


def _sift(levels: Levels) -> None:
    for _ in range(ROUNDS):
        before = levels.size
        by_size = sorted(zip(levels.sizes, levels.order, strict=True), key=lambda x: (-x[0], x[1]))
        for _, one in by_size:
            _settle(levels, levels.order.index(one))
        if levels.size == before:
            return


def _settle(levels: Levels, start: int) -> None:
    """Move the input of a level to where the diagram is smallest; it stays if that is no gain."""
    last = len(levels.order) - 1
    best = (levels.size, 0, start)
    place = start
    ways = (1, -1) if last - start <= start else (-1, 1)  # the shorter one first
    for step in ways:
        while 0 <= place + step <= last:
            place = _moved(levels, place, step)
            best = min(best, (levels.size, abs(place - start), place))
            if levels.size > GROWTH * best[0]:
                break
    while place != best[2]:
        place = _moved(levels, place, 1 if place < best[2] else -1)


def _moved(levels: Levels, place: int, step: int) -> int:
    levels.swap(min(place, place + step))
    return place + step


# --------------------------------------------------------------------------------------------------
# A decision diagram whose leaves are words: reduced, ordered, all bits of a word in one.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Diagrams over one set of bits, side by side: equal parts of all of them are there once.
# --------------------------------------------------------------------------------------------------


class Forest:
    """Tests of numbered bits, each after the tests that it leads to; the words of leaves.

    Nodes are numbered as in a diagram: a test by its place, a leaf by ~ its place.
    """

    def __init__(self) -> None:
        self.nodes: list[DiagramNode] = []
        self.leaves: list[int] = []
        self._nodes: dict[DiagramNode, int] = {}
        self._leaves: dict[int, int] = {}

    def add(self, diagram: Diagram, bits: Sequence[int]) -> int:
        """Add a diagram whose inputs are these bits; return where a walk through it begins."""
        leaves = [self._leaf(word) for word in diagram.leaves]
        places = [0] * len(diagram.tests)

        def place(node: int) -> int:
            return leaves[~node] if node < 0 else places[node]

        for k in reversed(range(len(places))):
            test = diagram.tests[k]
            made = DiagramNode(bits[test.input], place(test.zero), place(test.one))
            places[k] = self._nodes.setdefault(made, len(self.nodes))
            if places[k] == len(self.nodes):
                self.nodes.append(made)
        return place(diagram.root)

    def _leaf(self, word: int) -> int:
        place = self._leaves.setdefault(word, len(self.leaves))
        if place == len(self.leaves):
            self.leaves.append(word)
        return ~place


# --------------------------------------------------------------------------------------------------
# The tables of networks, as words: what diagrams are made of.
# --------------------------------------------------------------------------------------------------


MOST_INPUTS = 22  # of one table, as of one in paper mode
MOST_WORD = 62  # bits


def words_of(network: Network) -> NDArray[np.int64]:
    """Return for every input word a network's output word, first outputs most significant."""
    rows = 1 << network.inputs
    if network.inputs > MOST_INPUTS or len(network.outputs) > MOST_WORD:
        raise ValueError(f"{network!r} is too large for a table")
    words = np.zeros(rows, np.int64)
    for plane in truth_planes(network):
        data = np.frombuffer(plane.to_bytes(-(-rows // 8), "little"), np.uint8)
        words = words << 1 | np.unpackbits(data, count=rows, bitorder="little")
    return words


def narrowed(network: Network) -> tuple[Network, tuple[int, ...]]:
    """Return a network without the inputs that nothing reads, and which inputs are left."""
    read = {signal for node in network.nodes for signal in node.operands} | {*network.outputs}
    kept = tuple(k for k in range(network.inputs) if CONSTANTS + k in read)
    builder = Builder(len(kept))
    literals = [0] * network.inputs
    for place, k in enumerate(kept):
        literals[k] = builder.input(place)
    return builder.build(copied(network, builder, literals)), kept
