"""Word graphs as text, read back; and input words without the bits that nothing reads."""

from __future__ import annotations

import numpy as np
import pytest
from compact.word_robots import case, small_robot

from boolcomp.common.errors import DataError
from boolcomp.words.graph import narrowed
from boolcomp.words.graphtext import parse_graph
from boolcomp.words.simulate import simulate


@pytest.mark.parametrize("robot", ["machado-2r", 3])
def test_a_graphs_text_is_read_back_as_the_same_graph(robot: str | int) -> None:
    arm = case(robot if isinstance(robot, str) else small_robot(robot, 2))
    graph = arm.graph(0.4)
    assert parse_graph(str(graph)) == graph
    assert parse_graph(str(narrowed(graph))) == narrowed(graph)


@pytest.mark.parametrize(
    ("old", "new"),
    [("w1[", "w7["), ("heap", "heep"), ("tau2", "tau3"), ("unit", "units"), (" + ", " * ")],
)
def test_a_damaged_line_is_named(old: str, new: str) -> None:
    text = str(case("machado-2r").graph(0.4))
    assert old in text
    with pytest.raises(DataError, match=r"graph:\d+: "):
        parse_graph(text.replace(old, new, 1))


def test_a_graph_of_wrong_widths_is_refused() -> None:
    text = str(case("machado-2r").graph(0.4))
    with pytest.raises(DataError, match="graph: "):
        parse_graph(text.replace("w0[10]", "w0[2]", 1))


@pytest.mark.parametrize("robot", ["machado-2r", 3])
def test_narrowed_inputs_give_the_same_torques(robot: str | int) -> None:
    arm = case(robot if isinstance(robot, str) else small_robot(robot, 2))
    graph = arm.graph(0.4)
    narrow = narrowed(graph)
    words = arm.states(500, seed=3).words
    gone = {a.name: a.bits - b.bits for a, b in zip(graph.inputs, narrow.inputs, strict=True)}
    assert any(gone.values())
    shifted = {name: words[name] >> bits for name, bits in gone.items()}
    expected = simulate(graph, words).words
    assert np.array_equal(simulate(narrow, shifted).words, expected)
    assert narrowed(narrow) == narrow


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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("w0[4] =", "w0[0] =", "node 0: a width does not fit"),
        ("w0:3 <<", "w0:5 <<", "node 2: a width does not fit"),
        ("w0:3 <<", "w0:0 <<", "node 2: a width does not fit"),
        ("w0:3&5 9 17 33 60", "w0:5&5 9 17 33 60", "node 3: a width does not fit"),
        ("w0:3&5 9 17 33 60", "w0:3&9 9 17 33 60", "node 3: a width does not fit"),
        ("w0:3&5 9 17 33 60", "w0:3&6 9 17 33 60", "node 3: a width does not fit"),
        ("w0:3&5 9 17 33 60", "w0:3&5 9 17 33", "node 3: a width does not fit"),
        ("w0:3&5 9 17 33 60", "w0:3 9 17 33 60", "node 3: a width does not fit"),
        ("w0:3&5 9 17 33 60", "w0:3&5 9 17 33 64", "node 3: a width does not fit"),
        ("w3>>1", "w3>>6", "node 4: a width does not fit"),
        ("w0>>1 *", "w0>>4 *", "node 5: a width does not fit"),
        ("* w1>>0", "* w1>>3", "node 5: a width does not fit"),
        ("- w2>>2 << 1", "- w2>>2 << -1", "node 4: a width does not fit"),
        ("+ w3>>1", "+ w4>>1", "node 4 reads a later node"),
        ("+ w3>>1", "+ w5>>1", "node 4 reads a later node"),
        ("w0>>1 * w1>>0", "w0>>1 * w7>>0", "node 5 reads a later node"),
        ("w1[3] = input b", "w1[1] = input b", "node 2: a width does not fit"),
        ("w3[6] = table w0:3&5 9 17 33 60", "w3[6] = input c", "inputs do not come first"),
        ("= w4 >> 2", "= w3 >> 2", "a result is no part of a heap"),
        ("= w4 >> 2", "= w4 >> 6", "a result is no part of a heap"),
        ("tau1[4]", "tau1[0]", "a result is no part of a heap"),
    ],
)
def test_a_graph_that_cannot_be_is_refused(old: str, new: str, said: str) -> None:
    assert SMALL.count(old) == 1
    with pytest.raises(DataError, match=f"^graph: {said}"):
        parse_graph(SMALL.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("w4[9]", "w4[61]"),
        ("+ w0:3 << 1 ", "+ w0:3 << 58 "),
        ("<< -1 + 1", "<< -61 + 1"),
        ("<< 0 + 5", f"<< 0 + {1 << 60}"),
        ("unit 2^-3", "unit 2^-1001"),
        ("at 0.25", "at nan"),
        ("w2[5]", "w1[5]"),
        ("tau2[9]", "tau1[9]"),
        ("&5", "&0"),
        ("wrapping", "angled"),
        (" + 1 unit", " unit"),
    ],
)
def test_a_line_that_no_graph_has_is_named(old: str, new: str) -> None:
    (line,) = (k for k, text in enumerate(SMALL.splitlines(), 1) if old in text)
    with pytest.raises(DataError, match=f"^graph:{line}: .* is no line of a word graph"):
        parse_graph(SMALL.replace(old, new))


def test_lines_at_the_limits_are_read() -> None:
    for old, new in (("w4[9]", "w4[60]"), ("w0:3 << 1", "w0:3 << 57"), ("^-3", "^-1000")):
        assert parse_graph(SMALL.replace(old, new))


def test_narrowing_takes_the_low_bits_that_no_node_reads() -> None:
    words = """w0[4] = input a unit 2^0
w1[3] = input b unit 2^1
w2[4] = input c unit 2^0
w3[2] = table w1:2 3 1 2 0 unit 2^0
w4[9] = heap + w0>>1 << 2 - w2>>2 * w0>>2 << 0 + 3 unit 2^0
tau1[9] = w4 >> 0
"""
    assert (
        str(narrowed(parse_graph(words)))
        == """w0[3] = input a unit 2^1
w1[2] = input b unit 2^2
w2[2] = input c unit 2^2
w3[2] = table w1:2 3 1 2 0 unit 2^0
w4[9] = heap + w0>>0 << 2 - w2>>0 * w0>>1 << 0 + 3 unit 2^0
tau1[9] = w4 >> 0
"""
    )


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
