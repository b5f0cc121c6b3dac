"""Integer operations of a word graph give what the graph gives, by the costs of every machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from wordgraphs import random_graph

from boolcomp.words import MACHINES, Lowering, Maker, interpret, simulate

if TYPE_CHECKING:
    from boolcomp.words import WordGraph

COSTS = {
    **MACHINES,
    "lanes without tables": replace(MACHINES["lanes"], alike=1, apart=1, triangle=1),
    "mcu8 with small tables": replace(MACHINES["mcu8"], alike=3, apart=2, triangle=1),
}


def lowered(graph: WordGraph, costs: Any) -> Any:
    make = Maker(costs)
    cells = [make.make("input", (), (k, node.bits)) for k, node in enumerate(graph.inputs)]
    lowering = Lowering(graph, make, cells, [(k, 0) for k in range(len(cells))])
    return make.done([lowering.output(k, None) for k in range(len(graph.results))])


@pytest.mark.parametrize("machine", COSTS)
@pytest.mark.parametrize("seed", range(30))
def test_operations_of_a_random_graph_give_its_words(seed: int, machine: str) -> None:
    graph = random_graph(seed)
    rng = np.random.default_rng(seed)
    words = {node.name: rng.integers(0, 1 << node.bits, 200) for node in graph.inputs}
    wanted = simulate(graph, words)
    centred = [words[node.name] - (1 << node.bits >> 1) for node in graph.inputs]
    values, marks = interpret(lowered(graph, COSTS[machine]), centred)
    for k, result in enumerate(graph.results):
        assert np.array_equal(values[k] + (1 << result.bits >> 1), wanted.words[:, k])
    assert sum(int(mark.sum()) for mark in marks) == wanted.saturated


def test_only_the_valid_bits_of_an_input_are_read() -> None:
    graph = random_graph(3)
    rng = np.random.default_rng(3)
    words = [rng.integers(0, 1 << node.bits, 50) for node in graph.inputs]
    above = [word + (7 << node.bits) for word, node in zip(words, graph.inputs, strict=True)]
    found = [interpret(lowered(graph, COSTS["mcu8"]), given)[0] for given in (words, above)]
    assert np.array_equal(found[0], found[1])


def test_an_operation_that_leaves_its_range_is_found() -> None:
    code = lowered(random_graph(3), COSTS["scalar"])
    first, *others = code.ops
    assert first.op == "input"
    wrong = replace(code, ops=(replace(first, high=first.high - 1), *others))
    inputs = [np.array([first.high if k == first.argument[0] else 0]) for k in range(4)]
    interpret(code, inputs)
    with pytest.raises(ValueError, match="operation 0 leaves its range"):
        interpret(wrong, inputs)
