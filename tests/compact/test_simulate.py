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


SHIFTED = """w0[3] = input q unit 2^0
w1[3] = table w0:3 {} unit 2^0
w2[5] = heap + w0>>0 << 0 + w1>>0 << 1 + 0 unit 2^0
tau1[5] = w2 >> 0
"""


def test_a_word_is_calculated_again_where_one_of_its_two_words_has_changed() -> None:
    words = {"q": np.arange(8)}
    again = Resimulation(words)

    for entries in ("0 1 2 3 4 5 6 7", "7 6 5 4 3 2 1 0"):
        found = again.simulate(parse_graph(SHIFTED.format(entries)))
        table = np.array(entries.split(), dtype=int)
        assert found.words[:, 0].tolist() == (words["q"] + 2 * table).tolist()


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
