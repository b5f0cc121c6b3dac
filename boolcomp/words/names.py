"""What the words of a graph mean, read off the graph alone: cos(q1+q2), qdd1·(0.8+cos(q2)).

Factors that only scale are left out. A table is named by the waves or powers that its entries
follow; one that corrects another (a bipartite pair) is the fine part of it. Angles are those of
inputs: the ranges of input words say what their indices stand for. In sums and products speeds,
accelerations and slides count from the middle of their ranges.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.problem.interval import Interval
from boolcomp.problem.span import part_of
from boolcomp.words.graph import ANGLE_BITS, Angles, Bits, Heap, InputWord, Lookup
from boolcomp.words.simulation import is_sum, power_name, wave_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

Ranges: TypeAlias = "Mapping[str, Interval]"

LONGEST = 26  # characters: a longer name says less than `w7`
WHOLE = Interval(-np.pi, np.pi)  # what an angle's word spans that no range is known of
ABOUT_ZERO = Interval(-0.5, 0.5)  # and any other's
NEARLY = 1e-6  # of a step
_NUMBER = re.compile(r"w\d+")


def word_names(graph: WordGraph, ranges: Ranges | None = None) -> tuple[str, ...]:
    """Return a name for every word; `w7` where its meaning takes too long to write.

    `ranges` are what the input words span, by name: a whole turn where nothing is said.
    """
    known = ranges or {}
    spans = [known.get(node.name, WHOLE if node.angle else ABOUT_ZERO) for node in graph.inputs]
    namer = _Namer(graph, spans)
    for place in range(len(graph.nodes)):
        name = namer.name(place)
        namer.names.append(name if 0 < len(name) <= LONGEST else f"w{place}")
    return tuple(_told_apart(graph, namer.names))


def _told_apart(graph: WordGraph, names: list[str]) -> list[str]:
    """Return names of which none is another word's: a multiple of a word is not that word."""
    inputs = {node.name for node in graph.inputs}
    found = []
    for place, (node, name) in enumerate(zip(graph.nodes, names, strict=True)):
        taken = name in inputs or (_NUMBER.fullmatch(name) and name != f"w{place}")
        if isinstance(node, InputWord) or not taken:
            found.append(name)
        else:
            wraps = isinstance(node, Heap) and node.wraps
            found.append(f"{name}, in turns" if wraps else f"{name}, scaled")
    return found


class _Namer:
    """Names words one after the other; `spans` are what the inputs' words span."""

    def __init__(self, graph: WordGraph, spans: list[Interval]) -> None:
        self.graph, self.spans = graph, spans
        self.names: list[str] = []

    def name(self, place: int) -> str:
        node = self.graph.nodes[place]
        if isinstance(node, InputWord):
            return node.name
        if isinstance(node, Angles):
            turns = self.turns(place).items()
            return _joined([(self.names[k], factor) for k, factor in turns])
        if isinstance(node, Lookup):
            return self.table_name(place, node)
        return _heap_name(node, self.names)

    def turns(self, place: int) -> dict[int, float]:
        """Return how often an angle sum holds every word that is none itself."""
        node = self.graph.nodes[place]
        if isinstance(node, InputWord):  # a word over a part of a turn lacks leading bits
            return {place: 2.0 ** (part_of(self.spans[place]) or 0)}
        if not isinstance(node, Angles):
            return {place: 1.0}
        total: dict[int, float] = {}
        for turn in node.turns:
            # The leading bits of a word count turns: what shifts them past the top is a multiple.
            times = 2.0 ** (turn.read + turn.shift - node.bits) * (-1 if turn.negative else 1)
            for k, inner in self.turns(turn.node).items():
                total[k] = total.get(k, 0.0) + times * inner
        return {k: times for k, times in sorted(total.items()) if times}

    def table_name(self, place: int, node: Lookup) -> str:
        graph, of = self.graph, self.names[node.source]
        if node.mask:
            return self.part_name(node, of)
        source = graph.nodes[node.source]
        scale = graph.scales[place]
        middle = ((1 << node.bits) - 1) / 2
        lsb = 2.0**scale.lsb
        values = (np.array(node.entries) - middle) * lsb + scale.offset
        angle = (
            isinstance(source, Angles)
            or (isinstance(source, InputWord) and source.angle)
            or (isinstance(source, Heap) and source.wraps)
        )
        if angle:
            found = wave_name(values, self.angles(node), of, lsb)
        else:
            found = power_name(values, self.linear_values(node), of, lsb)
        if found:
            return found
        pair = graph.nodes[place - 1]  # the second of a pair stands right behind the first
        if isinstance(pair, Lookup) and pair.source == node.source and pair.read < node.read:
            return f"{self.names[place - 1].removesuffix(', fine')}, fine"
        return f"f({of})"

    def part_name(self, node: Lookup, of: str) -> str:
        """Return what a table of some bits of a word is: those bits themselves, or a correction."""
        if node.entries == tuple(range(len(node.entries))):
            return f"low bits of {of}"
        return f"f({of}), fine"

    def angles(self, node: Lookup) -> Floats:
        """Return the problem's own angles at the cells of a table."""
        source, scale = self.graph.nodes[node.source], self.graph.scales[node.source]
        count = len(node.entries)
        cells = np.arange(count) + 0.5
        if isinstance(source, InputWord):
            span = self.spans[node.source]
            return span.low + cells / count * span.width
        if isinstance(source, Heap):  # it starts from the middle of the word's own range
            return 2 * np.pi * (cells / count - 0.5 + scale.offset / (1 << ANGLE_BITS))
        offset = scale.offset
        if abs(offset * (1 << source.bits) + 0.5) < NEARLY:  # bit 0 is a guard: always 0
            # Coarser cells hold even words alone; of all cells the odd ones mirror the even ones.
            full = node.read == source.bits
            offset = 0.0 if full else 2 * offset
            cells += np.where(np.arange(count) % 2, 0.5, -0.5) * full
        return 2 * np.pi * (cells / count - 0.5 + offset) + self.zero(node.source)

    def zero(self, place: int) -> float:
        """Return the problem's own angle where that of an angle sum's words is 0."""
        zero = 0.0
        for k, times in self.turns(place).items():
            if isinstance(self.graph.nodes[k], InputWord):
                zero += times * (self.spans[k].low + np.pi)
        return zero

    def linear_values(self, node: Lookup) -> Floats:
        """Return what a linear word stands for at the cells of a table."""
        scale, count = self.graph.scales[node.source], len(node.entries)
        wide = 2.0 ** (scale.lsb + self.graph.nodes[node.source].bits)
        words = ((np.arange(count) + 0.5) / count - 0.5) * wide + scale.offset
        step, centre = self.linear(node.source) or (1.0, 0.0)
        return np.asarray(centre + step * words)

    def linear(self, place: int) -> tuple[float, float] | None:
        """Return the unit of a linear word and what its 0 stands for, where both are known."""
        node, scale = self.graph.nodes[place], self.graph.scales[place]
        if isinstance(node, InputWord):
            span = self.spans[place]
            return span.width / 2.0 ** (node.bits + scale.lsb), span.centre
        if not isinstance(node, Heap):
            return None
        centre, steps, seen = 0.0, set(), set()
        for part in node.parts:
            inner = self.linear(part.node) if isinstance(part, Bits) else None
            if not isinstance(part, Bits) or inner is None or part.node in seen:
                return None
            seen.add(part.node)
            shift = part.column + scale.lsb - part.drop - self.graph.scales[part.node].lsb
            steps.add(inner[0] / 2.0**shift)
            centre += -inner[1] if part.negative else inner[1]
        return (steps.pop(), centre) if len(steps) == 1 else None


def _joined(items: list[tuple[str, float]]) -> str:
    """Join names with their signs, and whole multiples beyond one."""
    total: dict[str, float] = {}
    for name, factor in items:
        total[name] = total.get(name, 0.0) + factor
    text = ""
    for name, factor in total.items():
        size = round(abs(factor))
        times = f"{size}" if size > 1 else ""
        inner = f"({name})" if times and is_sum(name) else name
        text += f"{'-' if factor < 0 else '+'}{times}{inner}"
    return text.replace("+-", "-").removeprefix("+")


def _heap_name(node: Heap, names: list[str]) -> str:
    """Name a sum by what is added; a constant's digits are one factor, with its first sign."""
    weights: dict[str, tuple[float, bool]] = {}
    for part in node.parts:
        if isinstance(part, Bits):
            name, weight = names[part.node], part.column - part.drop
        else:
            name, weight = _product(names[part.a], names[part.b]), part.column
        if name not in weights or weight > weights[name][0]:
            weights[name] = (weight, part.negative)
    if node.wraps and len(weights) == 1:
        return next(iter(weights))
    return _joined([(name, -1.0 if negative else 1.0) for name, (_, negative) in weights.items()])


def _product(a: str, b: str) -> str:
    """Write speeds and accelerations first, and a sign before all."""
    minus = 0
    factors = []
    for name in (a, b):
        plain = name.startswith("-") and not is_sum(name[1:])
        minus += plain
        factors.append(name[1:] if plain else name)
    factors.sort(key=lambda name: ("cos" in name or "sin" in name, len(name), name))
    text = "·".join(f"({name})" if is_sum(name) else name for name in factors)
    return f"-{text}" if minus % 2 else text
