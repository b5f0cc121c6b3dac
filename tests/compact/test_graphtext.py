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
