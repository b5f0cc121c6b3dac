"""Words named by what they mean: of graphs made by hand, and of graphs that ship."""

import hashlib
import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from shippedarms import built_of

from boolcomp.problem import Interval
from boolcomp.words import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    Node,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
    draw_graph,
    word_names,
)

ANGLES = (
    InputWord("q1", 8, angle=True),
    InputWord("q2", 8, angle=True),
    InputWord("qd1", 6, angle=False),
)
PHASE = 2 * np.pi * ((np.arange(64) + 0.5) / 64 - 0.5)


def graph_of(*nodes: Node, offset: float = 0.0) -> WordGraph:
    """Return a graph of the inputs and further nodes, the last of which has an offset."""
    every = (*ANGLES, *nodes)
    scales = (*(Scale(0, 0.0),) * (len(every) - 1), Scale(0, offset))
    return WordGraph(every, scales, ())


def table(values: object, source: int = 1, read: int = 6) -> Lookup:
    high = np.asarray(values)
    entries = np.rint((high - high.min()) / (high.max() - high.min()) * 255).astype(int)
    return Lookup(source, read, tuple(map(int, entries)), 8)


def entries_of(values: NDArray[np.float64]) -> tuple[int, ...]:
    return tuple(int(k) for k in np.rint(values))


def word(node: int, column: int = 0, drop: int = 0, *, negative: bool = False) -> Bits:
    return Bits(node, drop, column, negative=negative)


def turn(node: int, read: int = 8, shift: int = 0, *, negative: bool = False) -> Turn:
    return Turn(node, read, shift, negative=negative)


def heap(*parts: Bits | PartialProducts, bits: int = 9, wraps: bool = False) -> Heap:
    return Heap(parts, 0, bits, wraps)


def product(a: int, b: int) -> Heap:
    return heap(PartialProducts(a, 0, b, 0, 0, negative=False), bits=8)


BOTH = Angles((turn(0), turn(1)), 0, 8)
SINE, COSINE = table(-np.sin(PHASE)), table(np.cos(PHASE))
LONG = table(np.cos(PHASE) + 0.5 * np.sin(2 * PHASE) + 0.3 * np.cos(3 * PHASE))
ROUGH = table(np.random.default_rng(1).uniform(size=256), read=8)
NAMED: list[tuple[str, tuple[Node, ...]]] = [
    ("cos(q2)", (COSINE,)),
    ("-sin(q2)", (SINE,)),
    ("sin(2q2)", (table(np.sin(2 * PHASE)),)),
    ("cos(q2)+0.5sin(2q2)", (table(np.cos(PHASE) + 0.5 * np.sin(2 * PHASE)),)),
    ("f(q2)", (table(np.sign(PHASE)),)),
    ("q1+q2", (BOTH,)),
    ("q1+2q2", (BOTH, Angles((turn(3), turn(1)), 0, 8))),
    ("q1-2q2", (Angles((turn(0), turn(1, 7, 2, negative=True)), 0, 8),)),
    ("-qd1·sin(q2)", (SINE, product(2, 3))),  # the sign stands before all
    ("-qd1·sin(q2)", (SINE, product(3, 2))),
    ("qd1·cos(q2)", (COSINE, product(2, 3))),
    # The digits of a constant are one factor.
    ("qd1-q1", (heap(word(2, 3), word(2, negative=True), word(0, 2, negative=True), bits=12),)),
    ("cos(q2), fine", (COSINE, ROUGH)),
    ("w3", (LONG,)),
    ("w3, scaled", (LONG, heap(word(3, drop=1)))),
    ("qd1, scaled", (heap(word(2, 1)),)),
    ("q2, in turns", (heap(word(1, 1), wraps=True),)),
    ("q1-q2", (heap(word(0), word(1, negative=True), wraps=True),)),
    ("-qd1", (heap(word(2, 1, negative=True)),)),
    ("qd1, in turns", (heap(word(2, negative=True), bits=6, wraps=True),)),
    ("low bits of qd1", (Lookup(2, 5, (0, 1, 2, 3), 2, mask=0b101),)),
    ("f(qd1), fine", (Lookup(2, 5, (0, 1, 3, 2), 2, mask=0b101),)),
    ("qd1, scaled", (Lookup(2, 1, (0, 9), 4),)),
    ("-qd1", (Lookup(2, 1, (9, 0), 4),)),
    ("f(qd1)", (Lookup(2, 0, (9,), 4),)),
    ("qd1, scaled", (Lookup(2, 4, tuple(k // 4 for k in range(16)), 2),)),  # rounded to few bits
    ("qd1, scaled", (Lookup(2, 3, (0, 2, 4, 7, 9, 11, 14, 16), 5),)),  # no square of a far word
]


@pytest.mark.parametrize(("name", "nodes"), NAMED, ids=range(len(NAMED)))
def test_a_word_is_named_by_what_it_means(name: str, nodes: tuple[Node, ...]) -> None:
    assert word_names(graph_of(*nodes))[-1] == name


ARC, DOUBLE = (
    math.pi / 4 + (np.arange(64) + 0.5) / 64 * math.pi / 2,
    0.4 + (np.arange(32) + 0.5) / 32,
)


@pytest.mark.parametrize(("values", "offset", "low", "name"), [
    (1000 * (1 + np.sin(ARC)), 23.5, math.pi / 4, "sin(q2)"),
    (1000 * (1 - np.cos(2 * ARC)), 23.5, math.pi / 4, "-cos(2q2)"),
    # Waves of the angle follow it: not those of its double.
    (-10 * np.cos(DOUBLE) - 20 * np.sin(DOUBLE) + 31, 0.5, 0.4, "-0.5cos(q2)-sin(q2)"),
])  # fmt: skip
def test_a_table_over_an_arc_is_named_by_the_fewest_waves(
    values: NDArray[np.float64], offset: float, low: float, name: str
) -> None:
    read, bits, width = (6, 11, math.pi / 2) if len(values) == 64 else (5, 6, 1.0)
    graph = graph_of(Lookup(1, read, entries_of(values), bits), offset=offset)
    assert word_names(graph, {"q2": Interval(low, low + width)})[-1] == name


def test_the_square_of_a_word_beside_zero_says_where_it_lies() -> None:
    graph = graph_of(Lookup(2, 6, entries_of(np.linspace(-1, 1, 64) ** 2 * 200), 8))
    assert word_names(graph, {"qd1": Interval(-0.5, 1.0)})[-1] == "(qd1-0.25)²"
    assert word_names(graph, {"qd1": Interval(-1.0, 1.0)})[-1] == "qd1²"
    assert word_names(graph, {"qd1": Interval(102.0, 106.0)})[-1] == "(qd1-104)²"


def test_a_sum_of_several_words_that_wraps_names_them_all() -> None:
    both = heap(word(0), word(1, negative=True), bits=8, wraps=True)
    read = both, table(np.cos(PHASE), source=3)
    for turns, name in ((0.0, "cos(q1-q2)"), (0.25, "sin(q1-q2)")):  # the middle of its word
        scales = (*(Scale(0, 0.0),) * 3, Scale(0, turns * (1 << 16)), Scale(0, 0.0))
        assert word_names(WordGraph((*ANGLES, *read), scales, ()))[-1] == name


def test_the_square_of_a_sum_says_where_the_sum_is_zero() -> None:
    words = (*ANGLES[2:], InputWord("qd2", 6, angle=False))
    sums, entries = heap(word(0), word(1), bits=7), entries_of(np.linspace(-1, 1, 128) ** 2 * 200)
    graph = WordGraph((*words, sums, Lookup(2, 7, entries, 8)), (Scale(0, 0.0),) * 4, ())
    for low, name in ((-1.0, "(qd1+qd2)²"), (-0.5, "(qd1+qd2-0.5)²")):
        ranges = {"qd1": Interval(-1.0, 1.0), "qd2": Interval(low, low + 2.0)}
        assert word_names(graph, ranges)[-1] == name
    moved = replace(graph, scales=(*graph.scales[:2], Scale(0, 16.0), graph.scales[3]))
    assert word_names(moved, dict.fromkeys(("qd1", "qd2"), Interval(-1.0, 1.0)))[-1] == (
        "(qd1+qd2-0.5)²"  # half a unit is 16 steps of 64
    )


NAMES = {
    "machado-2r": "d150e8307e9e",
    "elbow-3r": "3ab2dd9b98cd",
    "planar-3r": "32cad3b5b153",
    "puma560": "541d539293a4",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "arm", [*list(NAMES)[:3], pytest.param("puma560", marks=pytest.mark.check)]
)
def test_names_and_drawings_of_graphs_that_ship_are_as_recorded(arm: str) -> None:
    compact = built_of(arm).compact
    spans = {name: word.range for name, word in compact.specified_words.items()}
    names = [*word_names(compact.graph, spans), *word_names(compact.graph)]
    drawing = draw_graph(compact.graph, arm)
    assert hashlib.sha256("|".join([*names, drawing]).encode()).hexdigest()[:12] == NAMES[arm]
