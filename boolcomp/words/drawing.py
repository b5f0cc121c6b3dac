"""Name the words of a word graph by their meanings, and draw the graph as SVG text."""

from __future__ import annotations

import html
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.problem.words import Interval, part_of
from boolcomp.words.graph import ANGLE_BITS, Angles, Bits, Heap, InputWord, Lookup, reads
from boolcomp.words.simulation import is_sum, power_name, wave_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.words.graph import Node, WordGraph

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Names of words from the graph alone: cos(q1+q2), qdd1·(0.8+cos(q2)).
#
# Scaling factors are left out. A table is named by the waves or powers that its entries follow; the
# second table of a bipartite pair is called the fine part of the first. In sums and products
# speeds, accelerations and slides count from the middle of their ranges.
# --------------------------------------------------------------------------------------------------

Ranges: TypeAlias = "Mapping[str, Interval]"

LONGEST = 26  # characters: a longer name is replaced by `w7`
WHOLE = Interval(-np.pi, np.pi)  # the default range of an angle
ABOUT_ZERO = Interval(-0.5, 0.5)  # and of another input
NEARLY = 1e-6  # of a step
_NUMBER = re.compile(r"w\d+")


def word_names(graph: WordGraph, ranges: Ranges | None = None) -> tuple[str, ...]:
    """Return a name for every word; `w7` if its meaning is too long.

    `ranges` are the ranges of input words by name; the default of an angle is a whole turn.
    """
    known = ranges or {}
    spans = [known.get(node.name, WHOLE if node.angle else ABOUT_ZERO) for node in graph.inputs]
    namer = _Namer(graph, spans)
    for place in range(len(graph.nodes)):
        name = namer.name(place)
        namer.names.append(name if 0 < len(name) <= LONGEST else f"w{place}")
    return tuple(_unique(graph, namer.names))


def _unique(graph: WordGraph, names: list[str]) -> list[str]:
    """Mark names that are equal to that of an input or of a numbered word."""
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
    """Names words in their order; `spans` are the ranges of inputs."""

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
        """Return the multiples of other words in an angle sum."""
        node = self.graph.nodes[place]
        if isinstance(node, InputWord):  # over a part of a turn leading bits are missing
            return {place: 2.0 ** (part_of(self.spans[place]) or 0)}
        if not isinstance(node, Angles):
            return {place: 1.0}
        total: dict[int, float] = {}
        for turn in node.turns:
            # Leading bits that are shifted past the top make a multiple of the angle.
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
        pair = graph.nodes[place - 1]  # the second of a pair follows the first
        if isinstance(pair, Lookup) and pair.source == node.source and pair.read < node.read:
            return f"{self.names[place - 1].removesuffix(', fine')}, fine"
        return f"f({of})"

    def part_name(self, node: Lookup, of: str) -> str:
        """Name a table of some bits of a word: those bits themselves, or a correction."""
        if node.entries == tuple(range(len(node.entries))):
            return f"low bits of {of}"
        return f"f({of}), fine"

    def angles(self, node: Lookup) -> Floats:
        """Return the angles of the problem at the cells of a table."""
        source, scale = self.graph.nodes[node.source], self.graph.scales[node.source]
        count = len(node.entries)
        cells = np.arange(count) + 0.5
        if isinstance(source, InputWord):
            span = self.spans[node.source]
            return span.low + cells / count * span.width
        if isinstance(source, Heap):  # relative to the middle of the word's range
            return 2 * np.pi * (cells / count - 0.5 + scale.offset / (1 << ANGLE_BITS))
        offset = scale.offset
        if abs(offset * (1 << source.bits) + 0.5) < NEARLY:  # bit 0 is a guard: always 0
            # Coarser cells have only even words; odd cells mirror the even ones.
            full = node.read == source.bits
            offset = 0.0 if full else 2 * offset
            cells += np.where(np.arange(count) % 2, 0.5, -0.5) * full
        return 2 * np.pi * (cells / count - 0.5 + offset) + self.zero(node.source)

    def zero(self, place: int) -> float:
        """Return the angle of the problem at which the sum of an angle sum's words is 0."""
        zero = 0.0
        for k, times in self.turns(place).items():
            if isinstance(self.graph.nodes[k], InputWord):
                zero += times * (self.spans[k].low + np.pi)
        return zero

    def linear_values(self, node: Lookup) -> Floats:
        """Return the values of a linear word at the cells of a table."""
        scale, count = self.graph.scales[node.source], len(node.entries)
        width = 2.0 ** (scale.lsb + self.graph.nodes[node.source].bits)
        words = ((np.arange(count) + 0.5) / count - 0.5) * width + scale.offset
        step, centre = self.linear(node.source) or (1.0, 0.0)
        return np.asarray(centre + step * words)

    def linear(self, place: int) -> tuple[float, float] | None:
        """Return the unit of a linear word and the value of its 0; None if unknown."""
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
    """Join names with their signs and integer multiples."""
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
    """Name a sum by its addends; the digits of a constant are one factor, with the first sign."""
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
    """Name a product: speeds and accelerations first, the sign before all."""
    minus = 0
    factors = []
    for name in (a, b):
        plain = name.startswith("-") and not is_sum(name[1:])
        minus += plain
        factors.append(name[1:] if plain else name)
    factors.sort(key=lambda name: ("cos" in name or "sin" in name, len(name), name))
    text = "·".join(f"({name})" if is_sum(name) else name for name in factors)
    return f"-{text}" if minus % 2 else text


# --------------------------------------------------------------------------------------------------
# Drawings as SVG text, from inputs on the left to outputs on the right.
#
# Tables show their entries as a curve; a product is a pair of lines of one colour into a sum.
# --------------------------------------------------------------------------------------------------

WIDE, HIGH = 176, 40  # a box
ACROSS, DOWN = 246, 54  # from box to box
MARGIN = 24
POINTS = 48  # of a curve
SWEEPS = 6  # over the columns, to shorten lines
FILLS = {"input": "#eceff4", "angle": "#d7e5f7", "table": "#dcefdc", "sum": "#fbe8cf"}
TORQUE = "#f4cccc"
LEGEND = {
    "input": "input",
    "angle": "sum of angles",
    "table": "table, with its entries",
    "sum": "sum of words and products",
    "torque": "torque",
}
BESIDE = 17  # characters of a title that leave room for a curve on its right
LEGEND_WIDE = 790  # pixels: the least width
LANE = 0.35  # of the height of a box, for a line that crosses a column
LINE = 20  # from one line of the legend to the next
PRODUCTS = ("#b0563d", "#7a5ca8", "#2f7f86", "#a8832a", "#8a3b6a")
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#223}"
    ".small{font-size:9.5px;fill:#556}"
    ".box{stroke:#778;stroke-width:1}"
    ".edge{fill:none;stroke:#99a;stroke-width:1.1}"
    ".curve{fill:none;stroke:#2b7a3a;stroke-width:1.3}"
)


@dataclass(frozen=True, slots=True)
class Box:
    """A word in the drawing: its two lines of text, its kind, and its corner."""

    title: str
    detail: str
    kind: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line from a word to a reader; `pair` is the product that it belongs to."""

    source: int
    place: int
    pair: int | None
    path: str


def draw_graph(
    graph: WordGraph,
    title: str = "",
    bits: int | None = None,
    ranges: Mapping[str, Interval] | None = None,
    results: Sequence[str] = (),
) -> str:
    """Draw a word graph; equal graphs give equal texts.

    `bits` is the specified word length, for a note on wider outputs. `ranges` are the ranges of
    inputs by name, `results` the names of outputs that are not torques.
    """
    boxes, lines = laid_out(graph, ranges, results)
    width = max(LEGEND_WIDE, max(box.x for box in boxes) + WIDE + MARGIN)
    below = max(box.y for box in boxes) + HIGH + MARGIN
    notes = _notes(graph, bits, results)
    legend = list(_legend(graph, notes, below, "output" if results else "torque"))
    height = below + MARGIN + LINE * (2 + len(notes))
    text = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">'
        ),
        f"<style>{STYLE}</style>",
        f'<rect width="{width:g}" height="{height:g}" fill="white"/>',
        f'<text x="{MARGIN}" y="{MARGIN}" font-weight="bold">{html.escape(title)}</text>',
        *(_edge(line) for line in lines),
        *(line for place, box in enumerate(boxes) for line in _box(box, graph.nodes[place])),
        *legend,
        "</svg>",
    ]
    return "\n".join(text) + "\n"


def laid_out(
    graph: WordGraph, ranges: Mapping[str, Interval] | None = None, results: Sequence[str] = ()
) -> tuple[list[Box], list[DrawnLine]]:
    """Return the boxes of all words of a graph, and the lines between them."""
    names = word_names(graph, ranges)
    called = list(results) or [f"torque {k}" for k in range(1, len(graph.results) + 1)]
    columns = _columns(graph)
    rows, lanes = _rows(graph, columns)
    outputs = {result.node: name for result, name in zip(graph.results, called, strict=True)}
    boxes = [
        Box(
            outputs.get(place, names[place]),
            _detail(graph, place),
            "torque" if place in outputs else kind_of(node),
            MARGIN + columns[place] * ACROSS,
            2 * MARGIN + rows[place] * DOWN,
        )
        for place, node in enumerate(graph.nodes)
    ]
    return boxes, list(_lines(graph, boxes, columns, lanes))


def _columns(graph: WordGraph) -> list[int]:
    """Return the column of every node: one to the right of all its operands."""
    columns: list[int] = []
    for node in graph.nodes:
        columns.append(max((columns[k] + 1 for k in reads(node)), default=0))
    # An input is one column to the left of its first reader.
    first = dict.fromkeys(range(len(graph.inputs)), max(columns))
    for place, node in enumerate(graph.nodes):
        for k in reads(node):
            if k in first:
                first[k] = min(first[k], columns[place] - 1)
    return [first.get(place, column) for place, column in enumerate(columns)]


Stop = tuple[int, int]  # a word in a column: its own, or one that it crosses


def _ways(graph: WordGraph, columns: Sequence[int]) -> dict[Stop, list[Stop]]:
    """Return the neighbours of every stop, those of words first.

    A word that is read further to the right has a lane through each column in between.
    """
    joined: dict[Stop, list[Stop]] = {stop: [] for stop in enumerate(columns)}
    for place, node in enumerate(graph.nodes):
        for k in dict.fromkeys(reads(node)):
            way = [(k, column) for column in range(columns[k], columns[place])]
            for one, other in itertools.pairwise([*way, (place, columns[place])]):
                joined.setdefault(one, []).append(other)
                joined.setdefault(other, []).append(one)
    return joined


def _rows(graph: WordGraph, columns: Sequence[int]) -> tuple[list[float], dict[Stop, float]]:
    """Return the rows of words and lanes, near those of their neighbours."""
    joined = _ways(graph, columns)
    stops = list(joined)
    at = {stop: index for index, stop in enumerate(stops)}
    neighbours = [[at[other] for other in others] for others in joined.values()]
    by_column: dict[int, list[int]] = {}
    for index, (_, column) in enumerate(stops):
        by_column.setdefault(column, []).append(index)
    need = [1.0 if index < len(columns) else LANE for index in range(len(stops))]
    tallest = max(sum(need[m] for m in members) for members in by_column.values())
    rows = [0.0] * len(stops)

    def settle(members: list[int]) -> None:
        space = tallest / sum(need[m] for m in members)
        above = 0.0
        for m in members:
            rows[m] = (above + need[m] / 2) * space - 0.5
            above += need[m]

    for members in by_column.values():
        settle(members)
    for sweep in range(SWEEPS):
        for column in sorted(by_column, reverse=bool(sweep % 2)):
            members = by_column[column]
            members.sort(key=lambda m: (_mean([rows[k] for k in neighbours[m]]), m))
            settle(members)
    lanes = {stop: rows[index] for stop, index in at.items() if index >= len(columns)}
    return rows[: len(columns)], lanes


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def kind_of(node: Node) -> str:
    """Return the kind of a word in drawings, as in `LEGEND`."""
    if isinstance(node, InputWord):
        return "input"
    return {Angles: "angle", Lookup: "table", Heap: "sum"}[type(node)]


def _detail(graph: WordGraph, place: int) -> str:
    node = graph.nodes[place]
    bits = next((r.bits for r in graph.results if r.node == place), node.bits)
    text = _count(bits, "bit")
    if isinstance(node, Lookup):
        return f"{text}, {len(node.entries)} entries"
    if isinstance(node, Heap):
        pairs = {(p.a, p.b) for p in node.parts if not isinstance(p, Bits)}
        words = {p.node for p in node.parts if isinstance(p, Bits)}
        parts = [_count(len(words), "word"), _count(len(pairs), "product")]
        return f"{text}, {' + '.join(filter(None, parts))}"
    return text


def _legend(graph: WordGraph, notes: Sequence[str], y: float, noun: str) -> Iterator[str]:
    """Yield the meanings of colours, a line on products, and the notes."""
    kinds = {kind_of(node) for node in graph.nodes} | {"torque"}
    x = float(MARGIN)
    for kind, meaning in LEGEND.items():
        text = noun if kind == "torque" else meaning
        if kind in kinds:
            fill = FILLS.get(kind, TORQUE)
            yield (
                f'<rect class="key" x="{x:.1f}" y="{y:.1f}" width="14" height="14" rx="3" '
                f'fill="{fill}" stroke="#778"/>'
            )
            yield f'<text class="legend" x="{x + 20:.1f}" y="{y + 11:.1f}">{text}</text>'
            x += 40 + 6.4 * len(text)
    lines = [
        "two lines of one colour into a sum: the product of two words; factors are not written"
    ]
    for k, text in enumerate([*lines, *notes], 1):
        at = f'x="{MARGIN}" y="{y + 11 + k * LINE:.1f}"'
        yield f'<text class="legend" {at}>{html.escape(text)}</text>'


def _notes(graph: WordGraph, bits: int | None, results: Sequence[str]) -> list[str]:
    called = results or [str(joint) for joint in range(1, len(graph.results) + 1)]
    wider = [
        name
        for name, result in zip(called, graph.results, strict=True)
        if bits is not None and result.bits > bits
    ]
    if not wider:
        return []
    which = ", ".join(wider)
    if not results:
        which = f"torque{'s' * (len(wider) > 1)} {which}"
    return [f"{which}: one bit more than {bits}, for it may exceed its range (not with --saturate)"]


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number > 1)}" if number else ""


def _lines(
    graph: WordGraph, boxes: Sequence[Box], columns: Sequence[int], lanes: Mapping[Stop, float]
) -> Iterator[DrawnLine]:
    for place, node in enumerate(graph.nodes):
        pairs = []
        if isinstance(node, Heap):
            pairs = list(dict.fromkeys((p.a, p.b) for p in node.parts if not isinstance(p, Bits)))
        joined: dict[int, int] = {}
        for k, pair in enumerate(pairs):
            for source in pair:
                joined.setdefault(source, k % len(PRODUCTS))
        for source in dict.fromkeys(reads(node)):
            crossed = range(columns[source] + 1, columns[place])
            ends = [_middle(lanes[source, column]) for column in crossed]
            yield DrawnLine(
                source, place, joined.get(source), _path(boxes[source], boxes[place], ends)
            )


def _middle(row: float) -> float:
    return 2 * MARGIN + row * DOWN + HIGH / 2


def _edge(line: DrawnLine) -> str:
    style = "" if line.pair is None else f' style="stroke:{PRODUCTS[line.pair]}"'
    return f'<path class="edge"{style} d="{line.path}"/>'


def _path(start: Box, end: Box, lanes: Sequence[float]) -> str:
    """Return the path from box to box, straight through every column in between."""
    x, y = start.x + WIDE, start.y + HIGH / 2
    path = f"M{x:.1f},{y:.1f}"
    for k, lane in enumerate([*lanes, end.y + HIGH / 2]):
        to = start.x + (k + 1) * ACROSS
        bend = (to - x) / 2
        path += f" C{x + bend:.1f},{y:.1f} {to - bend:.1f},{lane:.1f} {to:.1f},{lane:.1f}"
        x, y = to, lane
        if k < len(lanes):
            x += WIDE
            path += f" L{x:.1f},{y:.1f}"
    return path


def _box(box: Box, node: Node) -> Iterator[str]:
    fill = FILLS.get(box.kind, TORQUE)
    yield (
        f'<rect class="box" x="{box.x:.1f}" y="{box.y:.1f}" width="{WIDE}" height="{HIGH}" '
        f'rx="5" fill="{fill}"/>'
    )
    yield f'<text x="{box.x + 7:.1f}" y="{box.y + 16:.1f}">{html.escape(box.title)}</text>'
    yield (
        f'<text class="small" x="{box.x + 7:.1f}" y="{box.y + 31:.1f}">'
        f"{html.escape(box.detail)}</text>"
    )
    if isinstance(node, Lookup) and node.read:
        yield f'<polyline class="curve" points="{curve_points(node, box)}"/>'


def curve_points(node: Lookup, box: Box) -> str:
    """Draw a table's entries as a curve in the right half of its box."""
    count = min(POINTS, len(node.entries))
    top = max(1, (1 << node.bits) - 1)
    left, width, low = box.x + 118, 50.0, box.y + HIGH - 6
    height = HIGH - (14.0 if len(box.title) <= BESIDE else 24.0)
    points = []
    for k in range(count):
        entry = node.entries[k * (len(node.entries) - 1) // max(1, count - 1)]
        points.append(
            f"{left + width * k / max(1, count - 1):.1f},{low - height * entry / top:.1f}"
        )
    return " ".join(points)
