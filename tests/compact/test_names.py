"""Words named by what they mean: of graphs made by hand, and beside what tables hold."""

import hashlib
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from compact.word_robots import case
from limited import with_ranges
from numpy.typing import NDArray
from shippedarms import built_of

from boolcomp.compact import Formulation
from boolcomp.problem import Interval, Robot
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
    node_word,
    word_names,
)

ANGLES = (
    InputWord("q1", 8, angle=True),
    InputWord("q2", 8, angle=True),
    InputWord("qd1", 6, angle=False),
)
PHASE = 2 * np.pi * ((np.arange(64) + 0.5) / 64 - 0.5)


def name_of(*nodes: Node) -> str:
    every = (*ANGLES, *nodes)
    return word_names(WordGraph(every, (Scale(0, 0.0),) * len(every), ()))[-1]


def table(values: object, source: int = 1, read: int = 6) -> Lookup:
    high = np.asarray(values)
    entries = np.rint((high - high.min()) / (high.max() - high.min()) * 255).astype(int)
    return Lookup(source, read, tuple(map(int, entries)), 8)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.cos(PHASE), "cos(q2)"),
        (-np.sin(PHASE), "-sin(q2)"),
        (np.sin(2 * PHASE), "sin(2q2)"),
        (np.cos(PHASE) + 0.5 * np.sin(2 * PHASE), "cos(q2)+0.5sin(2q2)"),
        (np.sign(PHASE), "f(q2)"),
    ],
)
def test_a_table_of_an_angle_is_named_by_its_waves(values: object, name: str) -> None:
    assert name_of(table(values)).removeprefix("-0.2").lstrip("+") == name


def test_angle_sums_count_their_angles() -> None:
    once = Angles((Turn(0, 8, 0, negative=False), Turn(1, 8, 0, negative=False)), 0, 8)
    assert name_of(once) == "q1+q2"
    assert name_of(
        once, Angles((Turn(3, 8, 0, negative=False), Turn(1, 8, 0, negative=False)), 0, 8)
    ) == ("q1+2q2")
    assert name_of(Angles((Turn(0, 8, 0, negative=False), Turn(1, 7, 2, negative=True)), 0, 8)) == (
        "q1-2q2"
    )


def test_a_product_has_its_sign_before_all() -> None:
    product = Heap((PartialProducts(2, 0, 3, 0, 0, negative=False),), 0, 8)
    assert name_of(table(-np.sin(PHASE)), product) == "-qd1·sin(q2)"
    assert name_of(table(np.cos(PHASE)), product) == "qd1·cos(q2)"
    product = Heap((PartialProducts(3, 0, 2, 0, 0, negative=False),), 0, 8)
    assert name_of(table(-np.sin(PHASE)), product) == "-qd1·sin(q2)"


def test_a_constants_digits_are_one_factor() -> None:
    digits = (Bits(2, 0, 3, negative=False), Bits(2, 0, 0, negative=True))
    assert name_of(Heap((*digits, Bits(0, 0, 2, negative=True)), 0, 12)) == "qd1-q1"


def test_the_second_table_of_a_pair_is_the_fine_part() -> None:
    rough = np.random.default_rng(1).uniform(size=256)
    assert name_of(table(np.cos(PHASE)), table(rough, read=8)) == "cos(q2), fine"


def test_a_long_meaning_falls_back_to_the_words_number() -> None:
    unnamed = table(np.cos(PHASE) + 0.5 * np.sin(2 * PHASE) + 0.3 * np.cos(3 * PHASE))
    assert name_of(unnamed) == "w3"
    assert name_of(unnamed, Heap((Bits(3, 1, 0, negative=False),), 0, 9)) == "w3, scaled"


def test_a_multiple_of_a_word_is_not_called_that_word() -> None:
    assert name_of(Heap((Bits(2, 0, 1, negative=False),), 0, 9)) == "qd1, scaled"
    assert name_of(Heap((Bits(1, 0, 1, negative=False),), 0, 9, wraps=True)) == "q2, in turns"
    sum_of = (Bits(0, 0, 0, negative=False), Bits(1, 0, 0, negative=True))
    assert name_of(Heap(sum_of, 0, 9, wraps=True)) == "q1-q2"
    assert name_of(Heap((Bits(2, 0, 1, negative=True),), 0, 9)) == "-qd1"


def test_a_table_over_an_arc_is_named_by_the_fewest_waves() -> None:
    arc = Interval(np.pi / 4, 3 * np.pi / 4)
    angle = arc.low + (np.arange(64) + 0.5) / 64 * arc.width
    for values, name in ((np.sin(angle), "sin(q2)"), (-np.cos(2 * angle), "-cos(2q2)")):
        entries = tuple(int(k) for k in np.rint((values + 1) * 1000))
        graph = WordGraph(
            (*ANGLES, Lookup(1, 6, entries, 11)), (Scale(0, 0.0),) * 3 + (Scale(0, 23.5),), ()
        )
        assert word_names(graph, {"q2": arc})[-1] == name


def test_the_square_of_a_word_beside_zero_says_where_it_lies() -> None:
    entries = tuple(int(k) for k in np.rint(np.linspace(-1, 1, 64) ** 2 * 200))
    graph = WordGraph((*ANGLES, Lookup(2, 6, entries, 8)), (Scale(0, 0.0),) * 4, ())
    assert word_names(graph, {"qd1": Interval(-0.5, 1.0)})[-1] == "(qd1-0.25)²"
    assert word_names(graph, {"qd1": Interval(-1.0, 1.0)})[-1] == "qd1²"
    assert word_names(graph, {"qd1": Interval(102.0, 106.0)})[-1] == "(qd1-104)²"


@pytest.mark.parametrize(
    ("entries", "name"), [((0, 1, 2, 3), "low bits of qd1"), ((0, 1, 3, 2), "f(qd1), fine")]
)
def test_a_table_of_some_bits_is_these_bits_or_a_correction(
    entries: tuple[int, ...], name: str
) -> None:
    assert name_of(Lookup(2, 5, entries, 2, mask=0b101)) == name


@pytest.mark.parametrize(
    ("negative", "wraps", "name"),
    [(True, False, "-qd1"), (False, False, "qd1"), (False, True, "qd1"), (True, True, "qd1")],
)
def test_the_sign_of_a_word_alone_is_told_where_it_is_no_angle(
    name: str, *, negative: bool, wraps: bool
) -> None:
    word = Bits(2, 0, 0, negative=negative)
    assert name_of(Heap((word,), 0, 6, wraps)).split(",")[0] == name


def test_a_sum_of_several_words_that_wraps_names_them_all() -> None:
    both = (Bits(0, 0, 0, negative=False), Bits(1, 0, 0, negative=True))
    assert name_of(Heap(both, 0, 8, wraps=True)) == "q1-q2"
    read = Heap(both, 0, 8, wraps=True), table(np.cos(PHASE), source=3)
    for turns, name in ((0.0, "cos(q1-q2)"), (0.25, "sin(q1-q2)")):  # the middle of its word
        scales = (*(Scale(0, 0.0),) * 3, Scale(0, turns * (1 << 16)), Scale(0, 0.0))
        assert word_names(WordGraph((*ANGLES, *read), scales, ()))[-1] == name


def test_a_table_of_two_entries_is_a_multiple_of_its_word() -> None:
    assert name_of(Lookup(2, 1, (0, 9), 4)) == "qd1, scaled"
    assert name_of(Lookup(2, 1, (9, 0), 4)) == "-qd1"
    assert name_of(Lookup(2, 0, (9,), 4)) == "f(qd1)"


def test_what_rounding_to_few_bits_leaves_does_not_hide_a_multiple() -> None:
    assert name_of(Lookup(2, 4, tuple(k // 4 for k in range(16)), 2)) == "qd1, scaled"


def test_the_square_of_a_sum_says_where_the_sum_is_zero() -> None:
    words = (*ANGLES[2:], InputWord("qd2", 6, angle=False))
    sums = Heap((Bits(0, 0, 0, negative=False), Bits(1, 0, 0, negative=False)), 0, 7)
    entries = tuple(int(k) for k in np.rint(np.linspace(-1, 1, 128) ** 2 * 200))
    graph = WordGraph((*words, sums, Lookup(2, 7, entries, 8)), (Scale(0, 0.0),) * 4, ())
    for low, name in ((-1.0, "(qd1+qd2)²"), (-0.5, "(qd1+qd2-0.5)²")):
        ranges = {"qd1": Interval(-1.0, 1.0), "qd2": Interval(low, low + 2.0)}
        assert word_names(graph, ranges)[-1] == name
    moved = replace(graph, scales=(*graph.scales[:2], Scale(0, 16.0), graph.scales[3]))
    assert word_names(moved, dict.fromkeys(("qd1", "qd2"), Interval(-1.0, 1.0)))[-1] == (
        "(qd1+qd2-0.5)²"  # half a unit is 16 steps of 64
    )


def test_a_multiple_that_is_coarsely_rounded_is_not_called_a_far_square() -> None:
    assert name_of(Lookup(2, 3, (0, 2, 4, 7, 9, 11, 14, 16), 5)) == "qd1, scaled"


def test_an_arc_that_waves_of_the_angle_follow_is_not_named_by_those_of_its_double() -> None:
    angle = 0.4 + (np.arange(32) + 0.5) / 32
    values = np.rint(-10 * np.cos(angle) - 20 * np.sin(angle))
    table = Lookup(1, 5, tuple(int(k) for k in values + 31), 6)
    graph = WordGraph((*ANGLES, table), (Scale(0, 0.0),) * 3 + (Scale(0, 0.5),), ())
    assert word_names(graph, {"q2": Interval(0.4, 1.4)})[-1] == "-0.5cos(q2)-sin(q2)"


PI = math.pi
EXACT = Formulation(speeds=False, exact=True)
ARMS = {
    "about 0": with_ranges("elbow-3r", q2=(-PI, PI), q3=(-1.2, 1.2)),
    "about a quarter": with_ranges("elbow-3r", q2=(-PI / 4, 5 * PI / 4), q3=(-5 * PI / 4, PI / 4)),
    "half turns": with_ranges("elbow-3r", q2=(0.9, 3.6), q3=(-1.4, 1.2), qd2=(-0.5, 1)),
    "quarter turns": with_ranges("elbow-3r", q2=(0.2, 1.4), q3=(2.0, 3.2), qd3=(0, 1)),
    "an eighth": with_ranges("machado-2r", q1=(0.5, 1.0), q2=(-1.6, -1.0), qd1=(-0.2, 1)),
    "odd words": with_ranges("machado-2r", q2=(-2, 2.5), word2=(-2.0, 2.5)),
}


def value_of(name: str, columns: dict[str, Any]) -> tuple[NDArray[np.float64], bool]:
    """Return what a name says, and whether it tells the constant."""
    told = re.match(r"-?[\d.]+[+-]", name) is not None
    text = re.sub(r"^c(?=[+-])", "0", name).replace("²", "**2").replace("·", "*")
    text = re.sub(r"(?<![\w.])([\d.]+)(?=[a-z(])", r"\1*", text)
    scope = {**columns, "cos": np.cos, "sin": np.sin, "__builtins__": {}}
    return eval(text, scope), told  # noqa: S307 (our own text)


def misses(robot: Robot, form: Formulation, allowed: float) -> list[tuple[str, float]]:
    """Return every table's name and what it leaves of the entries, as a part of what it may."""
    inputs = {"qd": 8, "qdd": 8}
    for joint, link in enumerate(robot.links, 1):
        inputs[f"q{joint}"] = 9 + (joint == 1 and not form.exact) - (link.span.part or 0)
    made = case(robot, input_bits=inputs, form=form)
    graph = made.graph(allowed)
    words = made.states(20000, seed=9).words
    columns: dict[str, Any] = {
        name: word.range.low + (words[name] + 0.5) * (word.range.width / 2**word.bits)
        for name, word in made.words.items()
    }
    values: list[Any] = []
    for place in range(len(graph.nodes)):
        known = place < len(graph.inputs)
        name = graph.inputs[place].name if known else ""
        values.append(words[name] if known else node_word(graph, place, values)[0])
    found = []
    spans = {name: word.range for name, word in made.words.items()}
    for node, name in zip(graph.nodes, word_names(graph, spans), strict=True):
        if not isinstance(node, Lookup):
            continue
        if node.read < 3 or name.endswith("fine") or re.search(r"\bf\b|w\d", name):
            found.append((name, 0.0))
            continue
        index = values[node.source] >> graph.nodes[node.source].bits - node.read
        said, told = value_of(name.removesuffix(", scaled"), columns)
        count = np.bincount(index, minlength=1 << node.read)
        there = count > 0
        mean = (np.bincount(index, said, 1 << node.read)[there]) / count[there]
        scale = graph.scales[graph.nodes.index(node)]
        entries = (np.array(node.entries) - (2**node.bits - 1) / 2) * 2.0**scale.lsb + scale.offset
        table = entries[there]
        matrix = np.stack([mean] if told else [mean, np.ones_like(mean)], axis=1)
        # A cell that is hardly reached says little: its states are not about its middle.
        weights = np.sqrt(count[there] / count.sum())
        factors = np.linalg.lstsq(matrix * weights[:, None], table * weights, rcond=None)[0]
        left = float(np.linalg.norm((table - matrix @ factors) * weights))
        allowed_here = max(0.15 * entries.std(), 0.4 * 2.0**scale.lsb)
        found.append((name, left / allowed_here if factors[0] > 0 else math.inf))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arm", "form"),
    [*((name, EXACT) for name in ARMS), ("about 0", Formulation()), ("half turns", Formulation())],
)
def test_tables_hold_what_their_names_say(arm: str, form: Formulation) -> None:
    found = misses(ARMS[arm], form, 0.1)
    assert not [item for item in found if item[1] > 1]
    assert any("cos" in name or "sin" in name for name, _ in found)


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
