"""Engines: identical bits in every width, on tables, random samples and odd batches."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import stages, table_wiring

from boolcomp.engines import evaluate, make_engine
from boolcomp.engines.chunks import MOST_REMADE, split_calls
from boolcomp.engines.native import NativeEngine
from boolcomp.engines.native.logic import WIDTHS, lay_out
from boolcomp.engines.native.machine import host
from boolcomp.engines.planes import NumpyEngine
from boolcomp.engines.wiring import Call, Wiring
from boolcomp.logic.network import Builder
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.problem import numbered
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.engines import Engine, Evaluation
    from boolcomp.logic.network import Network

KINDS = ["numpy", *(str(width) for width in WIDTHS if width < 512 or host().has_ternary)]


def engine_of(wiring: Wiring, kind: str) -> Engine:
    return NumpyEngine(wiring) if kind == "numpy" else NativeEngine(wiring, int(kind))


@cache
def engine(kind: str, bits: int = 5) -> Engine:
    return engine_of(stages(bits)[2].wiring(), kind)


def samples(count: int, reach: float = 1.0, seed: int = 2) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-reach * s, reach * s, (count, 2)) for s in (np.pi, 1.0, 1.0)]


def same(found: Evaluation, other: Evaluation) -> bool:
    return (
        found.torques.dtype == other.torques.dtype
        and found.torques.tobytes() == other.torques.tobytes()
        and found.words.tobytes() == other.words.tobytes()
        and found.saturated_inputs == other.saturated_inputs
        and found.saturated_outputs == other.saturated_outputs
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 511, 512, 513, 70_001])
def test_engines_agree_on_batches_of_any_size(kind: str, count: int) -> None:
    states = samples(count, 1.2)
    assert same(
        evaluate(engine(kind), states, coded=False), evaluate(engine("numpy"), states, coded=False)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[1:])
def test_engines_agree_on_single_precision_and_on_words(kind: str) -> None:
    states = [x.astype(np.float32) for x in samples(1000, 1.2)]
    found = evaluate(engine(kind), states, coded=False)
    assert same(found, evaluate(engine("numpy"), states, coded=False))
    assert found.torques.dtype == np.float32
    words: list[NDArray[Any]] = [np.zeros((1000, 2), np.int64) for _ in range(3)]
    rng = np.random.default_rng(1)
    for port in engine(kind).wiring.ports:
        words[port.array][:, port.column] = rng.integers(0, port.code.cells, 1000)
    assert same(
        evaluate(engine(kind), words, coded=True), evaluate(engine("numpy"), words, coded=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_words_of_values_give_the_torques_of_the_values(kind: str) -> None:
    states = samples(300)
    words = [np.zeros((300, 2), np.uint16) for _ in range(3)]
    for port in engine(kind).wiring.ports:
        coded = port.code.encode(states[port.array][:, port.column]).words
        words[port.array][:, port.column] = coded
    found = evaluate(engine(kind), words, coded=True)
    assert (found.torques == evaluate(engine(kind), states, coded=False).torques).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_values_on_and_around_borders_are_coded_as_codes_say(kind: str) -> None:
    borders: list[float] = []
    for port in engine(kind).wiring.ports:
        edges = port.code.range.low + np.arange(-1, port.code.cells + 2) * port.code.step
        borders += np.concatenate([edges, np.nextafter(edges, 9), np.nextafter(edges, -9)]).tolist()
    column = np.array(borders)
    states = [np.stack([column, column[::-1]], axis=1)] * 3
    found = evaluate(engine(kind), states, coded=False)
    counts = 0
    words = [np.zeros((len(column), 2), np.uint32) for _ in range(3)]
    for port in engine(kind).wiring.ports:
        coded = port.code.encode(states[port.array][:, port.column])
        words[port.array][:, port.column] = coded.words
        counts += coded.saturated
    assert found.saturated_inputs == counts
    assert (found.words == evaluate(engine(kind), words, coded=True).words).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", [0, 3, 7])
def test_every_input_word_of_a_table_gives_its_output_word(kind: str, place: int) -> None:
    _, tables, program = stages(5)
    entry = tables[place]
    uses = {t.name: t for output in program.outputs for t in output.terms}
    network = program.networks[uses[entry.plan.term.name].network]
    assert table_words(network, kind).tolist() == entry.table.words().tolist()


def table_words(network: Network, kind: str) -> NDArray[np.uint32]:
    """Run a network on all its input words."""
    words = np.arange(1 << network.inputs, dtype=np.uint32)[:, None]
    return evaluate(engine_of(table_wiring(network), kind), (words,), coded=True).words[:, 0]


@st.composite
def networks(draw: st.DrawFn) -> Network:
    builder = Builder(draw(st.integers(1, 6)))
    literals = [0, 2, *(builder.input(k) for k in range(builder.inputs))]
    for _ in range(draw(st.integers(0, 40))):
        operands = [draw(st.sampled_from(literals)) ^ draw(st.integers(0, 1)) for _ in range(3)]
        literals.append(builder.node(draw(st.integers(0, 255)), *operands))
    chosen = draw(st.lists(st.sampled_from(literals), min_size=1, max_size=5))
    return builder.build(chosen)


@pytest.mark.slow
@given(networks(), st.integers(2, 9))
def test_pieces_of_a_network_give_what_the_whole_gives(network: Network, most: int) -> None:
    wiring = table_wiring(network)
    words = np.arange(1 << network.inputs, dtype=np.uint32)[:, None]
    batch = (words,)
    split = split_calls(wiring, most)
    assert all(len(piece.nodes) <= most * (1 + MOST_REMADE) for piece in split.networks)
    whole = evaluate(NumpyEngine(wiring), batch, coded=True)
    assert same(evaluate(NumpyEngine(split), batch, coded=True), whole)


def test_networks_are_cut_where_few_values_pass_over() -> None:
    rng = np.random.default_rng(4)
    builder = Builder(20)
    inputs = [builder.input(k) for k in range(20)]

    def mixed(start: int, count: int) -> int:
        made = [start]
        for k in range(count):
            near = [made[int(rng.integers(len(made)))], inputs[k % 20], inputs[(7 * k + 3) % 20]]
            made.append(builder.node(0xE8, *near))
        while len(made) > 1:  # all of them are needed, and nothing but their sum later on
            made = [*made[3:], builder.node(0x96, *made[:3], *[0] * (3 - len(made)))]
        return made[0]

    waist = mixed(inputs[0], 40)
    pieces = split_calls(table_wiring(builder.build([mixed(waist, 46)])), 70).networks
    assert [len(piece.outputs) for piece in pieces if piece.nodes] == [1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[1:])
def test_native_and_numpy_agree_on_random_networks_whole_and_in_pieces(kind: str) -> None:
    rng = np.random.default_rng(11)
    builder = Builder(9)
    literals = [0, 2, *(builder.input(k) for k in range(9))]
    for lut in rng.permutation(np.arange(1, 255)).tolist():
        operands = [literals[k] ^ int(rng.integers(2)) for k in rng.integers(0, len(literals), 3)]
        literals.append(builder.node(lut, *operands))
    network = builder.build(literals[-9:])
    wiring = table_wiring(network)
    words = np.arange(512, dtype=np.uint32)[:, None]
    batch = (words,)
    for variant in (wiring, split_calls(wiring, 40)):
        found = evaluate(engine_of(variant, kind), batch, coded=True)
        assert same(found, evaluate(NumpyEngine(wiring), batch, coded=True))


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_that_are_inputs_or_constants_pass_through(kind: str) -> None:
    builder = Builder(2)
    network = builder.build([2, builder.input(1), 0, builder.input(1), builder.input(0) ^ 1])
    expected = [[1, b, 0, b, 1 - a] for a in (0, 1) for b in (0, 1)]
    found = table_words(network, kind)
    assert [[int(w) >> k & 1 for k in (4, 3, 2, 1, 0)] for w in found] == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[1:])
def test_planes_that_calls_pass_on_are_kept_as_long_as_one_of_their_names_is_read(
    kind: str,
) -> None:
    rng = np.random.default_rng(3)
    networks, calls, planes = [], [], 6
    for turn in range(12):
        builder = Builder(4)
        a, b, c, d = (builder.input(k) for k in range(4))
        networks.append(builder.build([c, builder.node(0x96, a, b, c), d, a ^ 1]))
        recent = range(max(0, planes - 9), planes)
        calls.append(Call(turn, tuple(rng.choice(recent, 4, replace=False).tolist()), planes))
        planes += 4
    plain = table_wiring(Builder(6).build([0] * 6))
    result = replace(plain.results[0], first=planes - 6, saturated=planes - 1)
    wiring = Wiring(
        plain.groups, plain.ports, tuple(networks), tuple(calls), (result,), planes
    )  # fmt: skip
    batch = (np.arange(64, dtype=np.uint32)[:, None],)
    found = evaluate(engine_of(wiring, kind), batch, coded=True)
    assert same(found, evaluate(NumpyEngine(wiring), batch, coded=True))
    assert len(set(lay_out(wiring, 64).place)) < 6 + 12 * 2


@pytest.mark.slow
@pytest.mark.parametrize(("joints", "kind"), [(1, "64"), (1, KINDS[1]), (3, KINDS[1]), (4, "64")])
def test_other_numbers_of_joints_are_read_and_written_in_their_own_layout(
    joints: int, kind: str
) -> None:
    from boolcomp.codes import Code
    from boolcomp.engines.wiring import Call, Port, Result, Wiring
    from boolcomp.problem.interval import Interval

    code = [Code(Interval(-1 - k, 2.0 + k), 3 + 4 * k, "gray") for k in range(joints)]
    first = [sum(c.bits for c in code[:k]) for k in range(joints + 1)]
    ports = tuple(Port(k % 3, k, code[k], first[k]) for k in range(joints))
    builder = Builder(first[-1])
    network = builder.build([builder.input(k) ^ k % 2 for k in range(first[-1])])
    call = Call(0, tuple(range(first[-1])), first[-1])
    results = tuple(
        Result(f"y{k}", code[k], first[-1] + first[k], first[-1]) for k in range(joints)
    )
    groups = tuple(numbered(name, joints) for name in "xyz")
    wiring = Wiring(groups, ports, (network,), (call,), results, 2 * first[-1])
    states = [np.random.default_rng(k).uniform(-4, 6, (150, joints)) for k in range(3)]
    found = evaluate(engine_of(wiring, kind), states, coded=False)
    assert same(found, evaluate(NumpyEngine(wiring), states, coded=False))


@pytest.mark.slow
def test_an_engine_may_be_used_by_several_threads_at_a_time() -> None:
    from concurrent.futures import ThreadPoolExecutor

    states = samples(40_000)
    expected = evaluate(engine(KINDS[1]), states, coded=False)
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(evaluate, engine(KINDS[1]), states, coded=False) for _ in range(8)]
        assert all(same(job.result(), expected) for job in jobs)


@pytest.mark.check
def test_at_eight_bits_every_table_is_exact_and_engines_agree_on_a_million_samples() -> None:
    _, tables, program = stages(8)
    uses = {t.name: t for output in program.outputs for t in output.terms}
    networks = {uses[e.plan.term.name].network: e.table.words() for e in tables}
    states = samples(1_000_000, 1.05)
    expected = program.evaluate(*states, engine="numpy")
    for place, words in networks.items():
        assert (table_words(program.networks[place], "numpy") == words).all()
    for kind in (KINDS[1], KINDS[-1]):  # compiling takes longer than running
        found = evaluate(engine_of(program.wiring(), kind), states, coded=False)
        assert same(found, expected)


@pytest.mark.check
def test_at_eight_bits_the_error_is_what_the_paper_arm_should_have() -> None:
    states = samples(400_000)
    _, _, program = stages(8)
    exact = inverse_dynamics(load_robot("machado-2r"), *states)
    steps = [torque.code.step for torque in program.outputs]
    error = (program.torques(*states) - exact) / steps
    rms = np.sqrt((error**2).mean(axis=0))
    assert np.allclose(error.mean(axis=0), 0, atol=0.02)
    assert np.allclose(rms, [0.429, 0.590], atol=0.01)
    assert (abs(error).max(axis=0) < [2.2, 3.1]).all()


def test_the_automatic_engine_is_native_where_llvmlite_is_installed() -> None:
    assert make_engine(stages(4)[2].wiring()).name == "llvm"
