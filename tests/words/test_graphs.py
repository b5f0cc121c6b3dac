"""Word graphs by their texts: what is refused, narrowed and simulated."""

from pathlib import Path

import numpy as np
import pytest

from boolcomp.base import DataError
from boolcomp.words import draw_graph, parse_graph, simulate, with_word, word_values

SMALL = """w0[4] = input a angle unit 2^0
w1[3] = input b unit 2^0
w2[5] = angle + w0:3 << 1 - w1:2 << 0 + 5 unit 2^0
w3[6] = table w0:3&5 9 17 33 60 unit 2^0
w4[9] = heap + w3>>1 << 2 - w2>>2 << 1 + 3 unit 2^0 at 0.25
w5[9] = wrapping + w0>>1 * w1>>0 << -1 + 1 unit 2^-3
tau1[4] = w4 >> 2
tau2[9] = w5 >> 0 tread
"""


def test_every_kind_of_line_is_read_and_written() -> None:
    assert str(parse_graph(SMALL)) == SMALL


@pytest.mark.parametrize(("old", "new", "said"), [
    ("w0[4] =", "w0[0] =", "node 0: a width does not fit"),
    ("w0:3 <<", "w0:5 <<", "node 2: a width does not fit"),
    ("w0:3&5 9 17 33 60", "w0:5&5 9 17 33 60", "node 3: a width does not fit"),
    ("w0:3&5 9 17 33 60", "w0:3&6 9 17 33 60", "node 3: a width does not fit"),
    ("w0:3&5 9 17 33 60", "w0:3&5 9 17 33 64", "node 3: a width does not fit"),
    ("w3>>1", "w3>>6", "node 4: a width does not fit"),
    ("w0>>1 *", "w0>>4 *", "node 5: a width does not fit"),
    ("- w2>>2 << 1", "- w2>>2 << -1", "node 4: a width does not fit"),
    ("+ w3>>1", "+ w4>>1", "node 4 reads a later node"),
    ("w0>>1 * w1>>0", "w0>>1 * w7>>0", "node 5 reads a later node"),
    ("w1[3] = input b", "w1[1] = input b", "node 2: a width does not fit"),
    ("w3[6] = table w0:3&5 9 17 33 60", "w3[6] = input c", "inputs do not come first"),
    ("= w4 >> 2", "= w3 >> 2", "a result is no part of a heap"),
    ("tau1[4]", "tau1[0]", "a result is no part of a heap"),
])  # fmt: skip
def test_a_graph_that_cannot_be_is_refused(old: str, new: str, said: str) -> None:
    assert SMALL.count(old) == 1
    with pytest.raises(DataError, match=f"^graph: {said}"):
        parse_graph(SMALL.replace(old, new))


@pytest.mark.parametrize(("old", "new"), [
    ("w4[9]", "w4[61]"), ("+ w0:3 << 1 ", "+ w0:3 << 58 "), ("<< -1 + 1", "<< -61 + 1"),
    ("<< 0 + 5", f"<< 0 + {1 << 60}"), ("at 0.25", "at nan"), ("&5", "&0"), ("wrapping", "angled"),
    (" + 1 unit", " unit"),
])  # fmt: skip
def test_a_line_that_no_graph_has_is_named(old: str, new: str) -> None:
    (line,) = (k for k, text in enumerate(SMALL.splitlines(), 1) if old in text)
    with pytest.raises(DataError, match=f"^graph:{line}: .* is no line of a word graph"):
        parse_graph(SMALL.replace(old, new))


def test_a_heaps_columns_are_listed() -> None:
    graph = parse_graph(SMALL)
    assert graph.columns(4) == (
        "0: 1\n1: ~w2.2 1\n2: w3.1 ~w2.3\n3: w3.2 ~w2.4\n4: w3.3\n5: w3.4\n6: w3.5\n7:\n8:\n"
    )
    assert graph.columns(5).splitlines()[:3] == ["0: w0.1*w1.1 w0.2*w1.0 1",
                                                 "1: w0.1*w1.2 w0.2*w1.1 w0.3*w1.0",
                                                 "2: w0.2*w1.2 w0.3*w1.1"]  # fmt: skip
    with pytest.raises(TypeError, match="word 3 is no heap"):
        graph.columns(3)
    for ask in (graph.table, graph.angle_sum):
        with pytest.raises(ValueError, match="word 4 is no"):
            ask(4)


@pytest.mark.parametrize(("kind", "wrapped"), [("heap", (1,)), ("wrapping", ())])
def test_a_sum_that_leaves_its_word_is_told_unless_it_may_wrap(
    kind: str, wrapped: tuple[int, ...]
) -> None:
    lines = ["w0[3] = input q unit 2^0", f"w1[3] = {kind} + w0>>0 << 0 + 3 unit 2^0"]
    found = simulate(parse_graph("\n".join([*lines, "tau1[3] = w1 >> 0\n"])), {"q": np.arange(8)})
    assert found.words[:, 0].tolist() == [3, 4, 5, 6, 7, 0, 1, 2]
    assert (found.wrapped, found.saturated) == (wrapped, 0)


def test_saturated_outputs_are_those_that_their_word_cannot_say() -> None:
    lines = ["w0[4] = input q unit 2^0", "w1[5] = heap + w0>>0 << 1 + 1 unit 2^0"]
    found = simulate(parse_graph("\n".join([*lines, "tau1[3] = w1 >> 1\n"])), {"q": np.arange(16)})
    assert found.words[:, 0].tolist() == [0] * 5 + [1, 2, 3, 4, 5, 6] + [7] * 5
    assert found.saturated == 8


def test_nodes_are_sums_of_what_their_lines_say() -> None:
    lines = [
        "w0[4] = input a unit 2^0", "w1[3] = input b unit 2^0",
        "w2[5] = angle + w0:3 << 1 - w1:2 << 0 + 5 unit 2^0",
        "w3[6] = table w0:3&5 9 17 33 60 unit 2^0",
        "w4[9] = heap + w3>>1 << 2 - w2>>2 << 1 + 3 unit 2^0",
        "w5[9] = heap + w0>>1 * w1>>0 << -1 + 1 unit 2^0",
        "w6[9] = heap - w1>>0 * w0>>0 << 2 + 0 unit 2^0",
        *(f"tau{k}[9] = w{k + 3} >> 0" for k in (1, 2, 3)),
    ]  # fmt: skip
    a, b = (grid.ravel() for grid in np.meshgrid(np.arange(16), np.arange(8)))
    found = simulate(parse_graph("\n".join([*lines, ""])), {"a": a, "b": b}).words
    expected = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        angle = (2 * (x >> 1) + (3 - (y >> 1)) + 5) % 32
        table = (9, 17, 33, 60)[2 * (x >> 3) + (x >> 1 & 1)]
        alike = [[x >> i & 1 == y >> k & 1 for k in range(3)] for i in range(4)]
        differ = sum((not alike[i][k]) << 2 + i + k for i in range(4) for k in range(3))
        agree = sum(alike[i][k] << i - 1 + k - 1 for i in (1, 2, 3) for k in range(3) if i + k > 1)
        expected.append([4 * (table >> 1) + 2 * (7 - (angle >> 2)) + 3, agree + 1, differ])
    assert found.tolist() == expected


def test_a_graph_without_inputs_is_one_sample_or_as_many_as_there_are() -> None:
    graph = parse_graph("w0[4] = heap + 5 unit 2^0\ntau1[4] = w0 >> 0\ntau2[2] = w0 >> 0\n")
    assert simulate(graph, {}).words.tolist() == [[5, 0]]
    found = simulate(graph, {"q": np.arange(3)})
    assert (found.words.tolist(), found.saturated) == ([[5, 0]] * 3, 3)


DRAWN = """w0[4] = input q angle unit 2^0
w1[4] = input qd unit 2^0
w2[4] = input qdd unit 2^0
w3[5] = angle + w0:4 << 1 + 1 unit 2^0
w4[4] = table w3:3 7 10 13 15 13 10 7 4 unit 2^0
w5[9] = heap + w1>>0 * w1>>0 << 0 + 3 unit 2^0
w6[9] = heap + w4>>1 * w5>>0 << 0 - w2>>0 * w4>>0 << 0 + w2>>0 << 0 + 1 unit 2^0
w7[9] = heap + w6>>1 << 0 - w1>>0 << 1 + 0 unit 2^0
tau1[8] = w7 >> 1
"""


def test_a_small_graph_is_drawn_as_the_picture_beside_this_file() -> None:
    picture = Path(__file__).with_name("smallgraph.svg").read_text()
    assert draw_graph(parse_graph(DRAWN), "a small graph", bits=7) == picture


def test_words_after_another_word_are_those_of_a_simulation_with_it() -> None:
    graph = parse_graph(SMALL)
    rng = np.random.default_rng(3)
    given = {node.name: rng.integers(0, 1 << node.bits, 50) for node in graph.inputs}
    values = word_values(graph, given)
    for place, node in enumerate(graph.inputs):
        other = rng.integers(0, 1 << node.bits, 50)
        wanted = word_values(graph, {**given, node.name: other})
        assert np.array_equal(with_word(graph, values, place, other), wanted)
    moved = with_word(graph, values, 3, values[3] ^ 1)
    assert [np.array_equal(a, b) for a, b in zip(moved, values, strict=True)][:4] == [
        True, True, True, False
    ]  # fmt: skip
    assert np.array_equal(moved[5], values[5])
    assert np.array_equal(simulate(graph, given).words[:, 1], values[5])
