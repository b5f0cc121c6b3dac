"""Diagrams as instructions in a row: test a bit and jump, or fall through to the next one.

A test is followed by one of the two nodes that it leads to, and jumps to the other. A node can
follow one test only; so what follows what is a matching of tests with nodes, and the more pairs it
has the fewer instructions are spent on jumps that test nothing. A test that nothing can follow has
a leaf of its own behind it where it leads to a leaf, which takes as many instructions as a jump
and a cycle less, else a jump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.diagrams.forest import Forest
    from boolcomp.logic.diagrams import DiagramNode


class Branch(NamedTuple):
    """Go to the instruction `target` where a bit is `when`, else to the next one."""

    bit: int
    when: int
    target: int


class Leaf(NamedTuple):
    """The end of a walk, and its word."""

    word: int


Instruction = Branch | Leaf


class Layout(NamedTuple):
    """Instructions, and at which of them every walk begins."""

    instructions: tuple[Instruction, ...]
    entries: tuple[int, ...]


def laid_out(forest: Forest, roots: Sequence[int], always: int) -> Layout:
    """Return the instructions of a forest; `always` is the number of a bit that is always 1."""
    after = followers(forest.nodes, visits(forest, roots))
    followed = set(after.values())
    places: dict[int, int] = {}
    row: list[int | None] = []  # nodes in order; None: a jump to what the node before it has left
    for head in (k for k in reversed(range(len(forest.nodes))) if k not in followed):
        at: int | None = head
        while at is not None:
            places.setdefault(at, len(row))
            row.append(at)
            at = after.get(at) if at >= 0 else None
        if (last := row[-1]) is not None and last >= 0:
            row.append(_spare(forest.nodes[last]))
            if (leaf := row[-1]) is not None:
                places.setdefault(leaf, len(row) - 1)
    for leaf in range(len(forest.leaves)):
        if ~leaf not in places:
            places[~leaf] = len(row)
            row.append(~leaf)
    made: list[Instruction] = []
    for place, one in enumerate(row):
        if one is None:
            before = row[place - 1]
            made.append(Branch(always, 1, places[forest.nodes[before or 0].zero]))
        elif one < 0:
            made.append(Leaf(forest.leaves[~one]))
        else:
            node, following = forest.nodes[one], row[place + 1]
            when = int(following in (None, node.zero))
            made.append(Branch(node.input, when, places[node.one if when else node.zero]))
    return Layout(tuple(made), tuple(places[root] for root in roots))


def _spare(node: DiagramNode) -> int | None:
    """Return the leaf that stands behind a test that nothing follows, if it leads to one."""
    return next((one for one in (node.zero, node.one) if one < 0), None)


def visits(forest: Forest, roots: Sequence[int]) -> list[float]:
    """Return how often each test is made on the mean, where bits are drawn at random."""
    found = [0.0] * len(forest.nodes)
    for root in roots:
        if root >= 0:
            found[root] += 1
    for k in reversed(range(len(found))):  # tests stand after those that they lead to
        for one in (forest.nodes[k].zero, forest.nodes[k].one):
            if one >= 0:
                found[one] += found[k] / 2
    return found


def followers(nodes: Sequence[DiagramNode], weights: Sequence[float]) -> dict[int, int]:
    """Return by test the node behind it, for as many tests as can be.

    Of all such matchings it is the one that takes the fewest jumps on the mean: tests that would
    need one come first, the most frequent of them before others, and none that has a node behind
    it loses it to a later one (the sets that can be matched are a matroid).
    """
    order = sorted(range(len(nodes)), key=lambda k: (_spare(nodes[k]) is not None, -weights[k], k))
    after: dict[int, int] = {}
    owner: dict[int, int] = {}
    dead: set[int] = set()  # from here no free node is found, now or later
    for start in order:
        came: dict[int, int] = {}
        waiting = [start]
        free = None
        for test in waiting:
            for one in (nodes[test].zero, nodes[test].one):
                if one in came or one in dead:
                    continue
                came[one] = test
                if one not in owner:
                    free = one
                    break
                waiting.append(owner[one])
            if free is not None:
                break
        if free is None:
            dead.update(came)
            continue
        while free is not None:
            test = came[free]
            before = None if test == start else after[test]
            after[test], owner[free] = free, test
            free = before
    return after
