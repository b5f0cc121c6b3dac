"""What a report's pictures need of one compilation: histogram and map of errors, a walk, its words.

A `Surveyor` sees the errors at the states that are drawn anyway, so pictures cost no evaluation of
logic but that of a walk. It chooses the two inputs of the map at the first errors that it sees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import UsageError, listing, shown, suggestion
from boolcomp.compact.network import word_logic
from boolcomp.words.graph import Angles, Heap, InputWord, Lookup, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.report.measure import Samples
    from boolcomp.problem.problem import Problem
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

BINS = 40  # of a histogram
CELLS = 16  # of a map, across and down
PARTS = 16  # of an input's range, where the inputs of the map are chosen
STEPS = 80  # of a walk
TURNS = (1, 2, 3, 5, 7, 11, 13, 17)  # periods of a walk's inputs: none is another's


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one compilation looks like; errors are in steps (LSB), of every output.

    `shares` are those of states between `edges`; `maps` the rms error of states in every
    cell of two inputs (NaN where there are none); `walked` the outputs along the walk. `words` are
    the words of its graph, with the nodes that each takes by rule, before any pass.
    """

    bits: int
    series: str
    edges: Floats
    shares: Floats
    maps: Floats
    walked: Floats
    words: tuple[WordNodes, ...] = ()
    grades: tuple[str, ...] = ()
    nodes: int | None = None
    lut6: int | None = None


@dataclass(frozen=True, slots=True)
class WordNodes:
    """A word of a graph: what it stands for, its bits, and the nodes that it takes."""

    name: str
    kind: str
    bits: int
    tables: int
    products: int
    sums: int

    @property
    def nodes(self) -> int:
        """All of them."""
        return self.tables + self.products + self.sums


def words_of(graph: WordGraph, names: Sequence[str]) -> tuple[WordNodes, ...]:
    """Return the words of a graph that take nodes, with those that its logic by rule takes."""
    counted: list[int] = []
    word_logic(graph, counted=counted)
    found = []
    for place, (node, nodes) in enumerate(zip(graph.nodes, counted, strict=True)):
        name = names[place] if place < len(names) else f"w{place}"
        products = 0
        if isinstance(node, Heap):
            parts = [part for part in node.parts if isinstance(part, PartialProducts)]
            rows = (row for part in parts for _, row in part.layout(graph.nodes).rows())
            products = min(nodes, sum(row.bits for row in rows))
        tables = nodes if isinstance(node, Lookup) else 0
        if nodes:
            kind = KINDS[type(node)]
            sums = nodes - tables - products
            found.append(WordNodes(name, kind, node.bits, tables, products, sums))
    return tuple(found)


KINDS = {InputWord: "input", Angles: "sum of angles", Lookup: "table", Heap: "sum"}


class Surveyor:
    """Looks at errors at the states of a report; `across` are the inputs of its maps, if named."""

    def __init__(self, samples: Samples, across: str | None = None) -> None:
        self.samples = samples
        problem = samples.problem
        self.columns = problem.columns(samples.arrays)
        self.across: tuple[str, str] | None = None
        if across is not None:
            self.across = _pair(problem, across)
        self.walk = walk(problem)
        self.exact = problem.reference(*self.walk)

    def look(self, bits: int, series: str, errors: Floats, logic: Callable[..., Floats]) -> Look:
        """Return the look of errors in steps, (states, outputs), and of logic along the walk."""
        across = self.across = self.across or self._telling(errors)
        most = max(1.0, float(np.ceil(2 * np.abs(errors).max()) / 2))
        edges = np.linspace(-most, most, BINS + 1)
        counts = np.array([np.histogram(column, edges)[0] for column in errors.T])
        places = self._cells(across)
        states = np.bincount(places, minlength=CELLS * CELLS).astype(np.float64)
        squares = [np.bincount(places, column**2, CELLS * CELLS) for column in errors.T]
        with np.errstate(invalid="ignore"):  # cells without states
            drawn = np.sqrt(np.array(squares) / states).reshape(-1, CELLS, CELLS)
        return Look(bits, series, edges, counts / len(errors), drawn, logic(*self.walk))

    def _cells(self, across: tuple[str, str]) -> NDArray[np.int64]:
        """Return the cell of the map in which every state is."""
        first, second = (self._parts(name, CELLS) for name in across)
        return first * CELLS + second

    def _parts(self, name: str, parts: int) -> NDArray[np.int64]:
        span = self.samples.problem.input(name).range
        scaled = (self.columns[name] - span.low) / (span.width or 1.0) * parts
        return np.clip(scaled.astype(np.int64), 0, parts - 1)

    def _telling(self, errors: Floats) -> tuple[str, str]:
        """Return the two inputs along which the mean square error varies most."""
        squares = (errors**2).sum(axis=1)
        varies = []
        for one in self.samples.problem.inputs:
            places = self._parts(one.name, PARTS)
            counts = np.maximum(1, np.bincount(places, minlength=PARTS))
            means = np.bincount(places, squares, minlength=PARTS) / counts
            varies.append(-round(float(means.std()), 12) if not one.range.single else 0.0)
        order = np.argsort(np.array(varies), kind="stable")[:2]
        names = [self.samples.problem.inputs[k].name for k in sorted(order.tolist())]
        return names[0], names[-1]

    def middles(self, name: str) -> Floats:
        """Return the middles of a map's cells along an input."""
        span = self.samples.problem.input(name).range
        return np.asarray(span.low + (np.arange(CELLS) + 0.5) * span.width / CELLS)


def _pair(problem: Problem, text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    known = [one.name for one in problem.inputs]
    for name in names:
        if name not in known:
            hint = suggestion(name, known)
            raise UsageError(f"--map: no input {shown(name)}{hint}: inputs are {listing(known)}")
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"--map {shown(text)}: give two inputs, such as {','.join(known[:2])}")
    return names[0], names[1]


def walk(problem: Problem) -> tuple[Floats, ...]:
    """Return a walk through the ranges of all inputs: each swings with a period of its own.

    Where groups are q, qd and qdd they are one motion: angles swing, and speeds and accelerations
    are what follows, all as large as their ranges allow.
    """
    phase = np.linspace(0.0, 2 * math.pi, STEPS, endpoint=False)
    groups = {group.name: group for group in problem.groups}
    columns: dict[str, Floats] = {}
    for k, one in enumerate(problem.inputs):
        middle, half = (one.range.low + one.range.high) / 2, one.range.width / 2
        columns[one.name] = middle + half * np.sin(TURNS[k % len(TURNS)] * phase)
    if {"q", "qd", "qdd"} <= set(groups):
        members = [groups[name].members for name in ("q", "qd", "qdd")]
        for k, names in enumerate(zip(*members, strict=True)):
            turns = TURNS[k % len(TURNS)]
            waves = np.sin(turns * phase), np.cos(turns * phase), -np.sin(turns * phase)
            for name, wave in zip(names, waves, strict=True):
                span = problem.input(name).range
                columns[name] = (span.low + span.high) / 2 + span.width / 2 * wave
    return tuple(
        np.stack([columns[name] for name in group.members], axis=1) for group in problem.groups
    )
