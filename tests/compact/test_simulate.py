"""A graph simulated on words, and as logic; its offsets booked exactly."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case, finest_widths, run_network, small_robot

from boolcomp.compact.graph.logic import from_truth_tables, word_logic
from boolcomp.compact.graph.realise import realise
from boolcomp.compact.graph.tables import columns_of, mux_network
from boolcomp.compact.sketch.build import Form
from boolcomp.logic.network import Builder, copied
from boolcomp.words.graph import Angles
from boolcomp.words.graphtext import parse_graph
from boolcomp.words.simulate import Resimulation, node_word, simulate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.logic.truthtable import TruthTable


@pytest.mark.slow
@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_network_of_a_random_arm_gives_the_simulated_words(
    seed: int, *, saturate: bool
) -> None:
    arm = case(small_robot(seed, 1 + seed % 3), form=Form(speeds=bool(seed % 2)))
    graph = arm.graph(0.2, saturate=saturate, bits=5 if saturate else 6)
    words = arm.states(500, seed=9).words
    simulated = simulate(graph, words)
    torques, flags = run_network(word_logic(graph), graph, words)
    assert np.array_equal(torques, simulated.words)
    assert int(flags.sum()) == simulated.saturated
    assert not simulated.wrapped


def test_the_network_gives_the_simulated_words_for_all_inputs_of_a_small_arm() -> None:
    arm = case(small_robot(1, 1), input_bits={"q": 5, "qd": 4, "qdd": 5})
    graph = arm.graph(0.6)
    sizes = [1 << node.bits for node in graph.inputs]
    grid = np.array(list(itertools.product(*(range(size) for size in sizes))), dtype=np.int64)
    words = {node.name: grid[:, k] for k, node in enumerate(graph.inputs)}
    torques, _ = run_network(word_logic(graph), graph, words)
    assert np.array_equal(torques, simulate(graph, words).words)


# Of the angles of a sum only one may be read to the last bit: the others have one bit less.
EXACT = {"q": 9, "q1": 10, "qd": 8, "qdd": 8}


EQUAL = {"q": 9, "qd": 8, "qdd": 8}


@pytest.mark.parametrize(
    "form", [Form(), Form(speeds=False), Form(chained=True), Form(exact=True)], ids=str
)
@pytest.mark.parametrize("robot", ["machado-2r", 3, 5])
def test_with_fine_words_a_graph_is_newton_euler_on_the_quantised_inputs(
    robot: str | int, form: Form
) -> None:
    given = robot if isinstance(robot, str) else small_robot(robot, 2)
    arm = case(given, input_bits=EQUAL if form.exact else EXACT, form=form)
    drawn = arm.states(300, seed=4)
    centred: dict[str, NDArray[np.float64]] = {}
    for name, word in arm.words.items():
        middle = (1 << word.bits) / 2
        turn = 2 * np.pi / (1 << word.bits) if word.part == 0 else 1.0
        centred[name] = np.asarray((drawn.words[name] + 0.5 - middle) * turn, dtype=np.float64)
    exact = arm.sketch.evaluate(centred)
    graph = realise(
        arm.sketch, finest_widths(arm.sketch, exact), arm.model().statistics, [9, 9], [0.0, 0.0]
    )
    values: list[NDArray[np.int64]] = []
    for place in range(len(graph.nodes)):
        known = drawn.words.get(getattr(graph.nodes[place], "name", ""))
        values.append(known if known is not None else node_word(graph, place, values)[0])
    for result, place in zip(graph.results, arm.sketch.outputs, strict=True):
        scale, size = graph.scales[result.node], graph.nodes[result.node].bits
        middle = 2.0 ** (size - 1) - 0.5
        value = scale.offset + 2.0**scale.lsb * (values[result.node] - middle)
        assert np.abs(value - exact[place]).max() < 2e-3


def test_the_network_with_exact_angles_gives_the_simulated_words() -> None:
    arm = case("machado-2r", bits=8, input_bits=EQUAL, form=Form(exact=True))
    graph = arm.graph(0.6, bits=8)
    assert parse_graph(str(graph)) == graph
    words = arm.states(500, seed=3).words
    torques, _ = run_network(word_logic(graph), graph, words)
    assert np.array_equal(torques, simulate(graph, words).words)
    (angle,) = (node for node in graph.nodes if isinstance(node, Angles))
    assert angle.bits == 10


def test_tables_may_be_synthesised_from_truth_tables() -> None:
    graph = case("machado-2r").graph(0.3)
    words = case("machado-2r").states(300, seed=2).words
    seen: list[TruthTable] = []

    def synthesise(table: TruthTable) -> Network:
        seen.append(table)
        columns = columns_of(table.words().tolist(), table.outputs)
        mirrored = mux_network(table.inputs, columns[::-1])
        builder = Builder(table.inputs)
        literals = [builder.input(k) for k in reversed(range(table.inputs))]
        return builder.build(copied(mirrored, builder, literals))

    network = word_logic(graph, from_truth_tables(synthesise))
    assert seen
    assert np.array_equal(run_network(network, graph, words)[0], simulate(graph, words).words)


def test_a_graph_has_a_text_of_one_line_a_word() -> None:
    graph = case("machado-2r").graph(0.3)
    lines = str(graph).splitlines()
    assert len(lines) == len(graph.nodes) + 2
    assert lines[0] == "w0[10] = input q1 angle unit 2^0"


@pytest.mark.slow
def test_simulating_again_gives_what_simulating_gives() -> None:
    arm = case("machado-2r")
    words = arm.states(200, seed=5).words
    again = Resimulation(words)
    for allowed in (0.3, 0.3, 0.5, 0.4):
        graph = arm.graph(allowed)
        found, expected = again.simulate(graph), simulate(graph, words)
        assert np.array_equal(found.words, expected.words)
        assert (found.wrapped, found.saturated) == (expected.wrapped, expected.saturated)


def test_a_graph_that_reads_nothing_gives_its_words_and_saturates_for_every_sample() -> None:
    graph = parse_graph("w0[9] = heap + 511 unit 2^-3 at 0.0\ntau1[4] = w0 >> 3\n")
    found = simulate(graph, {"q1": np.zeros(5, np.int64)})
    assert found.words.tolist() == [[15]] * 5
    assert found.saturated == 5
