"""The section `cones`: bits of sums that other logic makes (see `words.cones`), and what they move.

Whatever stands in a spot, the full adders after it add it up: so a heap is more than its parts by
what the cone is more than the bit that it stands for, times what its column counts. Both are looked
at for all values of some signals that they are made of, cones of a word together as far as these
are few; whichever signals are taken, nothing that can happen is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.checker.network import FirstNetwork, cones_of
from boolcomp.checker.steps import DoesNotHoldError, Found, Step, checked
from boolcomp.words.graph import Heap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.checker.container import Section
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.words.cones import Spot
    from boolcomp.words.graph import WordGraph

WIDEST = 16  # signals of which all values are looked at


def check_cones(load: LoadFiles) -> Iterator[Step]:
    """Yield whether cones stand in sums that do not wrap, and what they move them by."""
    yield checked("cones: bits of sums", "all values of what they read", lambda: _cones_found(load))


def _cones_found(load: LoadFiles) -> Found:
    if load.graph is None:
        raise DoesNotHoldError("cones: the program has no word graph")
    count = len(cones_of(load.sections))
    moved = moved_by(load.graph, load.sections)
    said = ", ".join(f"w{word} by {low} .. {high}" for word, (low, high) in moved.items())
    return Found(count, f"{count} cones move {said or 'nothing'}")


def moved_by(graph: WordGraph, sections: Mapping[str, Section]) -> Mapping[int, tuple[int, int]]:
    """Return by how many of their steps words are moved, at least and at most."""
    if "cones" not in sections:
        return {}
    first = FirstNetwork(graph, sections["first"], cones_of(sections))
    by_word: dict[int, list[Spot]] = {}
    for spot in sorted(first.replaced):
        heap = graph.nodes[spot.word]
        if not isinstance(heap, Heap) or heap.wraps:
            raise DoesNotHoldError(f"cones: w{spot.word} is no sum, or one that wraps")
        by_word.setdefault(spot.word, []).append(spot)
    return {word: _moved(first, spots) for word, spots in by_word.items()}


def _moved(first: FirstNetwork, spots: Sequence[Spot]) -> tuple[int, int]:
    groups: list[list[Spot]] = []
    for spot in spots:
        near = (g for g in groups if len(_cut(first, [*g, spot])) <= WIDEST)
        group = next(near, None)
        if group is None:
            groups.append([spot])
        else:
            group.append(spot)
    ends = [_ends(first, group) for group in groups]
    return sum(low for low, _ in ends), sum(high for _, high in ends)


def _cut(first: FirstNetwork, spots: Sequence[Spot]) -> set[int]:
    """Return signals that what stands in spots, and stood there, are functions of."""
    below = first.nodes.operands
    cut = {literal >> 1 for spot in spots for literal in first.replaced[spot]} - {0}
    while True:
        wider = [
            (len(after), -signal)
            for signal in cut
            if below[signal] and len(after := _expanded(below, cut, signal)) <= WIDEST
        ]
        if not wider:
            return cut
        cut = _expanded(below, cut, -min(wider)[1])


def _expanded(below: Sequence[tuple[int, ...]], cut: set[int], signal: int) -> set[int]:
    return (cut - {signal}) | ({literal >> 1 for literal in below[signal]} - {0})


def _ends(first: FirstNetwork, spots: Sequence[Spot]) -> tuple[int, int]:
    """Return the least and the most that the cones of some spots add together."""
    cut = sorted(_cut(first, spots))
    rows = 1 << len(cut)
    ones = (1 << rows) - 1
    planes = {signal: _column(k, rows) for k, signal in enumerate(cut)}
    sums = {0: ones}  # which rows are moved by how much
    for spot in spots:
        there, before = first.nodes.values(first.replaced[spot], dict(planes), ones)
        counts, after = 1 << spot.column, dict[int, int]()
        for total, which in sums.items():
            for more, moves in (
                (counts, there & ~before), (-counts, before & ~there), (0, ~(there ^ before)),
            ):  # fmt: skip
                if hit := which & moves & ones:
                    after[total + more] = after.get(total + more, 0) | hit
        sums = after
    return min(sums), max(sums)


def _column(place: int, rows: int) -> int:
    """Return bit `place` of the numbers of rows, as a plane."""
    step, plane = 1 << place, 0
    ones = ((1 << step) - 1) << step
    while ones.bit_length() <= rows:
        plane |= ones
        ones <<= 2 * step
    return plane
