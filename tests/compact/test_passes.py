"""From a graph to its final network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case

from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.result.network import lut6, smaller, table_network
from boolcomp.logic.equivalence import equivalent
from boolcomp.words.agreement import agrees
from boolcomp.words.graph import Bits, Heap, InputWord, Lookup, OutputWord, Scale, WordGraph

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.logic.synthesis.optimise import Step


@pytest.mark.check
def test_passes_make_a_graphs_network_smaller_and_leave_what_it_computes(tmp_path: Path) -> None:
    arm = case("machado-2r", bits=4)
    graph = arm.graph(0.5)
    heard: list[Step] = []
    start = table_network(graph, folder=tmp_path, report=heard.append)
    done = smaller(start, rounds=2, report=heard.append)
    plain = word_logic(graph)
    assert tuple(heard) == done.steps
    assert len(done.network.nodes) < len(plain.nodes)
    assert done.steps[-1].nodes == len(done.network.nodes)
    assert agrees(done.network, graph, arm.states(5000, seed=2).words)
    assert equivalent(plain, done.network).holds
    assert list(tmp_path.glob("*.net"))
    again = smaller(table_network(graph, folder=tmp_path), rounds=2)
    assert again.network == done.network


def test_a_table_of_more_bits_than_are_synthesised_is_a_network_too() -> None:
    jagged = tuple((k * k // 977 + k // 3) & 3 for k in range(1 << 13))
    nodes = (
        InputWord("x", 13, angle=False), Lookup(0, 13, jagged, 2),
        Heap((Bits(1, 0, 0, negative=False),), 0, 2),
    )  # fmt: skip
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 2),))
    words = {"x": np.arange(1 << 13)}
    assert agrees(table_network(graph).network, graph, words)


@pytest.mark.slow
def test_without_abc_there_is_a_network_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.logic.synthesis.abc.find", lambda: None)
    arm = case("machado-2r", bits=4)
    graph = arm.graph(0.5)
    done = smaller(table_network(graph), rounds=1)
    assert agrees(done.network, graph, arm.states(5000, seed=2).words)
    assert len(done.network.nodes) < len(word_logic(graph).nodes)
    assert 0 < lut6(done.network) < len(done.network.nodes)


@pytest.mark.slow
def test_abc_needs_no_more_tables_of_six_inputs_than_our_own_count() -> None:
    network = word_logic(case("machado-2r", bits=6).graph(0.5))
    assert 0.4 * len(network.nodes) < lut6(network) < 0.8 * len(network.nodes)
