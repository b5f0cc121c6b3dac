"""Engines: identical bits in every width, on tables, random samples and odd batches."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from small_programs import same, stages, table_wiring
from test_network import networks

from boolcomp.engines import Call, NativeEngine, Wiring, evaluate, host, make_engine, split_calls
from boolcomp.logic import Builder, Network

KINDS = ["numpy", *(str(width) for width in (512, 256, 64) if width < 512 or host().has_ternary)]


def engine_of(wiring: Wiring, kind: str) -> Any:
    return make_engine(wiring, "numpy") if kind == "numpy" else NativeEngine(wiring, int(kind))


@cache
def engine(kind: str, bits: int = 5) -> Any:
    return engine_of(stages(bits)[2].wiring(), kind)


def samples(count: int, reach: float = 1.0, seed: int = 2) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-reach * s, reach * s, (count, 2)) for s in (np.pi, 1.0, 1.0)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("count", [0, 1, 513, 70_001])
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


def table_words(network: Network, kind: str) -> NDArray[np.uint32]:
    """Run a network on all its input words."""
    words = np.arange(1 << network.inputs, dtype=np.uint32)[:, None]
    return evaluate(engine_of(table_wiring(network), kind), (words,), coded=True).words[:, 0]


@pytest.mark.slow
@given(networks().filter(lambda n: n.inputs and n.outputs), st.integers(2, 9))
def test_pieces_of_a_network_give_what_the_whole_gives(network: Network, most: int) -> None:
    wiring = table_wiring(network)
    words = np.arange(1 << network.inputs, dtype=np.uint32)[:, None]
    batch = (words,)
    split = split_calls(wiring, most)
    assert all(len(piece.nodes) <= 9 * most for piece in split.networks)
    whole = evaluate(make_engine(wiring, "numpy"), batch, coded=True)
    assert same(evaluate(make_engine(split, "numpy"), batch, coded=True), whole)


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
        assert same(found, evaluate(make_engine(wiring, "numpy"), batch, coded=True))


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
    assert same(found, evaluate(make_engine(wiring, "numpy"), batch, coded=True))
