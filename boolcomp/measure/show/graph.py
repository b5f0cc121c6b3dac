"""A word graph on a page: its picture, whose words say who they are, and all that is known of them.

The script fills in the words of a state, and what is known of a word where one points at it;
without scripts the picture and the table of words remain.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from boolcomp.measure.show.effects import effects_of
from boolcomp.words.drawing import HIGH, LEGEND, MARGIN, WIDE, curve_points, laid_out
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.measure.show.model import Subject
    from boolcomp.words.drawing import Box
    from boolcomp.words.graph import Node, WordGraph

EXACT = 50  # bits of a sum that doubles hold with room to spare
LONGEST = 27  # characters of a title that fit a box
BESIDE = 16  # with a curve beside them
LETTER, SMALL_GRAPH, DIGIT = 6.0, 4.8, 6.4  # how wide they are, about
KINDS = {InputWord: "input", Angles: "angle", Lookup: "table", Heap: "sum"}


def graph_values(subject: Subject, graph: WordGraph) -> dict[str, Any] | None:
    """Return a graph's nodes for the script; None where doubles cannot hold its sums."""
    if max(node.bits for node in graph.nodes) > EXACT:
        return None
    joint = subject.load.joint
    assert joint is not None  # noqa: S101 (a graph is that of a joint network)
    words = subject.program.inputs
    results = {result.node: k for k, result in enumerate(graph.results)}
    meanings = subject.load.meanings or tuple(f"w{k}" for k in range(len(graph.nodes)))
    return {
        "inputs": [[w.input, words[w.input].code.bits - w.bits] for w in joint.words],
        "nodes": [
            {"name": name, "bits": node.bits, "result": results.get(k), **node_values(graph, node)}
            for k, (node, name) in enumerate(zip(graph.nodes, meanings, strict=True))
        ],
        "effects": [
            {
                "least": one.least, "most": one.most, "rounds": one.rounds,
                "moves": [round(x, 5) for x in one.moves],
                "budget": [round(x, 5) for x in one.budget],
            }
            for one in effects_of(graph)
        ],
        "text": str(graph).splitlines()[: len(graph.nodes)],
    }  # fmt: skip


def node_values(graph: WordGraph, node: Node) -> dict[str, Any]:
    """Return a node as core.js calculates it: what is read of which word, and where it stands."""
    bits = [one.bits for one in graph.nodes]
    if isinstance(node, InputWord):
        return {"kind": "input"}
    if isinstance(node, Angles):
        turns = [
            [turn.node, bits[turn.node] - turn.read, turn.read, turn.shift, turn.negative]
            for turn in node.turns
        ]
        return {"kind": "angles", "turns": turns, "constant": node.constant}
    if isinstance(node, Lookup):
        return {
            "kind": "table",
            "source": node.source,
            "drop": bits[node.source] - node.read,
            "picked": list(node.picked) if node.mask else None,
            "entries": list(node.entries),
        }
    rows, products = [], []
    for part in node.parts:
        if isinstance(part, Bits):
            row = part.layout(graph.nodes)
            rows.append([part.node, row.drop, row.column, row.bits, part.negative])
        else:
            products.append(_products(graph, part))
    return {"kind": "sum", "words": rows, "products": products, "constant": node.constant}


def _products(graph: WordGraph, part: PartialProducts) -> list[Any]:
    grid, a, b = part.layout(graph.nodes), part.a, part.b
    if grid.a > grid.b:
        grid, a, b = grid.swapped, b, a
    return [a, b, part.negative, [[digit, *row] for digit, row in grid.rows()]]


def draw_graph(subject: Subject, graph: WordGraph) -> str:
    """Return a graph as SVG: every word a group that one can point at, every line with its ends."""
    symbols = [one.symbol for one in subject.load.outputs]
    spans = {word.name: word.code.range for word in subject.program.inputs}
    boxes, lines = laid_out(graph, spans, symbols)
    wide = max(box.x for box in boxes) + WIDE + MARGIN
    high = max(box.y for box in boxes) + HIGH + MARGIN
    picture = [
        (
            f'<svg id="graph-picture" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" '
            f'height="{high:g}" role="group" aria-label="the word graph">'
        )
    ]
    picture += [
        f'<path class="line{"" if line.pair is None else f" product pair{line.pair}"}" '
        f'data-from="{line.source}" data-to="{line.place}" d="{line.path}"/>'
        for line in lines
    ]
    widths = {result.node: result.bits for result in graph.results}
    for place, (box, node) in enumerate(zip(boxes, graph.nodes, strict=True)):
        digits = widths.get(place) or len(str((1 << node.bits) - 1))
        picture += _word(place, box, node, digits)
    return "\n".join([*picture, "</svg>"])


def _word(place: int, box: Box, node: Node, digits: int) -> Iterator[str]:
    """Yield a word: its value, of so many digits, stands in the line that has room for it."""
    title, detail = html.escape(box.title), html.escape(box.detail)
    curve = isinstance(node, Lookup) and node.read > 0
    room = BESIDE if curve else LONGEST
    above = not curve and SMALL_GRAPH * len(box.detail) + DIGIT * digits > WIDE - 20
    if above:
        room = max(3, int((WIDE - 20 - DIGIT * digits) / LETTER))
    cut = box.title if len(box.title) <= room else f"{box.title[: room - 1]}…"
    yield (
        f'<g class="word {box.kind}" data-word="{place}" tabindex="0" role="button" '
        f'aria-label="{title}, {detail}" transform="translate({box.x:.1f},{box.y:.1f})">'
    )
    yield f'<rect width="{WIDE}" height="{HIGH}" rx="6"/>'
    yield f'<text x="8" y="16">{html.escape(cut)}</text>'
    yield f'<text class="small" x="8" y="31">{detail}</text>'
    if curve and isinstance(node, Lookup):
        moved = f'transform="translate({-box.x:.1f},{-box.y:.1f})"'
        yield f'<polyline class="curve" {moved} points="{curve_points(node, box)}"/>'
        yield '<circle class="spot" r="3.2"/>'
    else:
        yield f'<text class="value" x="{WIDE - 8}" y="{16 if above else 31}"></text>'
    yield f'<rect class="level" y="{HIGH - 3}" width="{WIDE}" height="3"/>'
    yield "</g>"


def legend(graph: WordGraph) -> str:
    """Return what the colours mean, as HTML."""
    kinds = {KINDS[type(node)] for node in graph.nodes}
    said = {"torque": "output"}
    return "".join(
        f'<span class="key"><i class="k-{kind}"></i>{html.escape(said.get(kind, meaning))}</span>'
        for kind, meaning in LEGEND.items()
        if kind in kinds or kind == "torque"
    )


def words_table(
    values: dict[str, Any], symbols: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Return every word of a graph as a row of texts, under its heads."""
    heads = ["word", "stands for", "kind", "bits", "seen", *(f"budget of {x}" for x in symbols)]
    rows = []
    for k, (node, one) in enumerate(zip(values["nodes"], values["effects"], strict=True)):
        budget = [f"{x:.3f}" if x else "–" for x in one["budget"]]
        seen = f"{one['least']} … {one['most']}"
        rows.append([f"w{k}", node["name"], node["kind"], str(node["bits"]), seen, *budget])
    return heads, rows
