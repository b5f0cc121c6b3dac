"""Errors of graphs, over many states, and networks beside their graphs."""

from __future__ import annotations

import numpy as np
import pytest
from compact.word_robots import case
from samples import terms_of

from boolcomp.compact.errors.measure import (
    Sampling,
    deviations,
    largest,
    measure,
    measure_many,
    measure_worst,
    paper_rms,
)
from boolcomp.compact.errors.samples import states_of
from boolcomp.compact.graph.logic import word_logic, word_nodes
from boolcomp.logic.network import Builder, copied
from boolcomp.words.agreement import agrees


def test_blocks_of_states_are_measured_as_one() -> None:
    arm = case("machado-2r")
    graph = arm.graph(0.4)
    sampling = Sampling(arm.problem, {"q": 10, "qd": 10, "qdd": 10}, 6, 70_000, 9)
    errors = measure_many(sampling, graph)
    parts = [deviations(graph, states)[0] for _, states in sampling.blocks(graph)]
    every = np.concatenate(parts)
    assert len(parts) == 3
    assert len(every) == errors.samples == 70_000
    assert errors.rms == pytest.approx(np.sqrt((every**2).mean(axis=0)))
    assert errors.max.tolist() == np.abs(every).max(axis=0).tolist()
    assert errors.mean == pytest.approx(every.mean(axis=0))


def test_the_worst_states_are_those_with_the_largest_errors() -> None:
    arm = case("machado-2r")
    graph = arm.graph(0.4)
    sampling = Sampling(arm.problem, {"q": 10, "qd": 10, "qdd": 10}, 6, 5000, 9)
    errors, worst = measure_worst(sampling, graph, 20)
    states = states_of(arm.problem, arm.words, arm.steps, worst)
    again, _, _ = deviations(graph, states)
    kept = len(again) // 2
    for joint in range(2):
        own = np.abs(again[joint * kept : (joint + 1) * kept, joint])
        assert own.max() == errors.max[joint]
        assert own.min() > errors.rms[joint]


def test_a_network_agrees_with_its_graph_and_a_wrong_one_does_not() -> None:
    arm = case("machado-2r")
    graph = arm.graph(0.4)
    words = arm.states(1001, seed=3).words
    network = word_logic(graph)
    assert agrees(network, graph, words)
    builder = Builder(network.inputs)
    literals = list(copied(network, builder, [builder.input(k) for k in range(network.inputs)]))
    literals[3] ^= 1
    assert not agrees(builder.build(literals), graph, words)


def test_measuring_a_graph_compares_with_newton_euler() -> None:
    arm = case("machado-2r", bits=8)
    errors = measure(arm.graph(0.4), arm.states(4000, seed=3))
    assert ((errors.rms > 0.2) & (errors.rms < 0.8)).all()
    assert (errors.max > errors.rms).all()
    assert "rms 0." in str(errors)


@pytest.mark.slow
def test_without_a_demand_the_error_of_the_papers_tables_is_allowed() -> None:
    rms = paper_rms(terms_of("machado-2r"), 8)
    assert rms == pytest.approx([0.425, 0.587], abs=0.02)


@pytest.mark.parametrize("count", [1, 3, 7, 40, 60])
def test_the_largest_are_those_of_a_stable_sort(count: int) -> None:
    sizes = np.random.default_rng(count).integers(0, 9, 40) / 4.0
    wanted = np.argsort(-sizes, kind="stable")[:count]
    assert np.array_equal(largest(sizes, count), wanted)


@pytest.mark.parametrize("allowed", [0.3, 0.45])
def test_the_nodes_of_a_graph_are_counted_as_its_network_has_them(allowed: float) -> None:
    graph = case("machado-2r").graph(allowed)
    assert word_nodes(graph) == len(word_logic(graph).nodes)
