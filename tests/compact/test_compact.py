"""A compiled word graph: what its words stand for."""

from __future__ import annotations

import numpy as np
from compact.word_robots import case, run_network

from boolcomp.compact.demand import Demand
from boolcomp.compact.errors.measure import measure
from boolcomp.compact.result.compact import Compact
from boolcomp.compact.sketch.build import Form
from boolcomp.words.graph import narrowed
from boolcomp.words.simulate import simulate


def made() -> Compact:
    arm = case("machado-2r", bits=8)
    graph = narrowed(arm.graph(0.3))
    ones = np.ones(2)
    errors = measure(arm.graph(0.3), arm.states(500, seed=1))
    return Compact(
        arm.problem,
        Demand().completed(arm.problem),
        Form(),
        arm.sketch,
        {},
        graph,
        0 * ones,
        ones,
        0,
        0.0,
        ones,
        errors,
    )


def test_codes_say_what_the_words_stand_for() -> None:
    found = made()
    arm = case("machado-2r", bits=8)
    codes = found.input_codes
    assert list(codes) == [node.name for node in found.graph.inputs]
    states = arm.states(200, seed=6)
    words = {}
    for name, code in codes.items():
        asked = arm.words[name]
        words[name] = states.words[name] >> (asked.bits - code.bits)
        # A narrower word is decoded to within its own, wider, cell.
        zero = asked.range.low + np.pi if asked.part == 0 else asked.range.centre
        cells = states.values[name] * (1.0 if asked.part == 0 else asked.step) + zero
        assert np.abs(code.decode(words[name]) - cells).max() <= code.step * 0.51
    simulated = simulate(found.graph, words).words
    for joint, code in enumerate(found.output_codes):
        error = code.decode(simulated[:, joint]) / arm.steps[joint] - states.outputs[:, joint]
        assert np.abs(error).max() < 3


def test_its_network_gives_the_simulated_words() -> None:
    found = made()
    arm = case("machado-2r", bits=8)
    words = arm.states(1000, seed=5).words
    for node in found.graph.inputs:
        words[node.name] >>= arm.words[node.name].bits - node.bits
    torques, _ = run_network(found.network(), found.graph, words)
    assert np.array_equal(torques, simulate(found.graph, words).words)
