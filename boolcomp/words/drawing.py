"""A word graph as a picture: SVG text, from inputs on the left to torques on the right.

Words are named by what they mean. Tables show their entries as a curve; products are drawn as two
lines of one colour into a sum. A legend and a note on torques with a bit more stand below.
"""

from __future__ import annotations

import html
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, reads
from boolcomp.words.names import word_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.problem.interval import Interval
    from boolcomp.words.graph import Node, WordGraph

WIDE, HIGH = 176, 40  # a box
ACROSS, DOWN = 246, 54  # from box to box
MARGIN = 24
POINTS = 48  # of a table's curve
SWEEPS = 6  # over the columns, to put boxes near what they read
FILLS = {"input": "#eceff4", "angle": "#d7e5f7", "table": "#dcefdc", "sum": "#fbe8cf"}
TORQUE = "#f4cccc"
LEGEND = {
    "input": "input",
    "angle": "sum of angles",
    "table": "table, with its entries",
    "sum": "sum of words and products",
    "torque": "torque",
}
BESIDE = 17  # characters of a title that leave room for a curve beside it
LEGEND_WIDE = 790  # pixels: no picture is narrower
LANE = 0.35  # of a box's room, for a line that crosses a column
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
    """A word in the picture: its two lines of text, its kind, and its corner."""

    title: str
    detail: str
    kind: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line from a word to one that reads it; `pair` is the product it belongs to, if any."""

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
    """Return the picture of a word graph; the same graph is the same text.

    `bits` are those asked for: of a torque with more the picture says why. `ranges` are what the
    input words span, `results` the names of the outputs where they are no torques.
    """
    boxes, lines = laid_out(graph, ranges, results)
    wide = max(box.x for box in boxes) + WIDE + MARGIN
    below = max(box.y for box in boxes) + HIGH + MARGIN
    wide = max(wide, LEGEND_WIDE)
    notes = _notes(graph, bits, results)
    legend = list(_legend(graph, notes, below, "output" if results else "torque"))
    high = below + MARGIN + LINE * (2 + len(notes))
    text = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:g}" height="{high:g}" '
            f'viewBox="0 0 {wide:g} {high:g}">'
        ),
        f"<style>{STYLE}</style>",
        f'<rect width="{wide:g}" height="{high:g}" fill="white"/>',
        f'<text x="{MARGIN}" y="{MARGIN}" font-weight="bold">{html.escape(title)}</text>',
        *(_edge(line) for line in lines),
        *(line for place, box in enumerate(boxes) for line in _box(box, graph.nodes[place])),
        *legend,
        "</svg>",
    ]
    return "\n".join(text) + "\n"


def laid_out(
    graph: WordGraph,
    ranges: Mapping[str, Interval] | None = None,
    results: Sequence[str] = (),
) -> tuple[list[Box], list[Line]]:
    """Return where all words of a graph stand, and the lines between them."""
    names = word_names(graph, ranges)
    called = list(results) or [f"torque {k}" for k in range(1, len(graph.results) + 1)]
    columns = _columns(graph)
    rows, lanes = _rows(graph, columns)
    outputs = {result.node: name for result, name in zip(graph.results, called, strict=True)}
    boxes = [
        Box(
            outputs.get(place, names[place]),
            _detail(graph, place),
            "torque" if place in outputs else _kind(node),
            MARGIN + columns[place] * ACROSS,
            2 * MARGIN + rows[place] * DOWN,
        )
        for place, node in enumerate(graph.nodes)
    ]
    return boxes, list(_lines(graph, boxes, columns, lanes))


def _columns(graph: WordGraph) -> list[int]:
    """Return how far right every node stands: one further than all that it reads."""
    columns: list[int] = []
    for node in graph.nodes:
        columns.append(max((columns[k] + 1 for k in reads(node)), default=0))
    # An input that is first needed far to the right stands just before.
    first = dict.fromkeys(range(len(graph.inputs)), max(columns))
    for place, node in enumerate(graph.nodes):
        for k in reads(node):
            if k in first:
                first[k] = min(first[k], columns[place] - 1)
    return [first.get(place, column) for place, column in enumerate(columns)]


Stop = tuple[int, int]  # a word in a column: its own, or one that it crosses


def _ways(graph: WordGraph, columns: Sequence[int]) -> dict[Stop, list[Stop]]:
    """Return every stop, words' own first, with those that lines join it to.

    A word that is read further right has a lane through each column between.
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
    """Return how far down every word stands, and every lane: near what each is joined to."""
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


def _kind(node: Node) -> str:
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
    """Yield what the colours mean, a line on products, and the notes."""
    kinds = {_kind(node) for node in graph.nodes} | {"torque"}
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
    graph: WordGraph,
    boxes: Sequence[Box],
    columns: Sequence[int],
    lanes: Mapping[Stop, float],
) -> Iterator[Line]:
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
            yield Line(source, place, joined.get(source), _path(boxes[source], boxes[place], ends))


def _middle(row: float) -> float:
    return 2 * MARGIN + row * DOWN + HIGH / 2


def _edge(line: Line) -> str:
    style = "" if line.pair is None else f' style="stroke:{PRODUCTS[line.pair]}"'
    return f'<path class="edge"{style} d="{line.path}"/>'


def _path(start: Box, end: Box, lanes: Sequence[float]) -> str:
    """Return the way from box to box, straight through every column that it crosses."""
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
    """Return a table's entries as a small curve in the right half of its box."""
    count = min(POINTS, len(node.entries))
    top = max(1, (1 << node.bits) - 1)
    left, wide, low = box.x + 118, 50.0, box.y + HIGH - 6
    high = HIGH - (14.0 if len(box.title) <= BESIDE else 24.0)
    points = []
    for k in range(count):
        entry = node.entries[k * (len(node.entries) - 1) // max(1, count - 1)]
        points.append(f"{left + wide * k / max(1, count - 1):.1f},{low - high * entry / top:.1f}")
    return " ".join(points)
