"""Tables of words, against enumeration: folding, synthesis by cofactors, curves in pieces."""

from pathlib import Path

import numpy as np
import pytest
from compact.word_robots import case
from hypothesis import given
from hypothesis import strategies as st
from synthesis.networks import looked_up

from boolcomp.compact.network import word_logic
from boolcomp.compact.result import lut6, smaller, table_network
from boolcomp.compact.sketch import Waves
from boolcomp.compact.tables import (
    Domain,
    Interpolation,
    TablePieces,
    Tabulated,
    columns_of,
    mux_network,
    mux_nodes,
    pieces,
    tabulate,
)
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.network import Builder, copied
from boolcomp.logic.synthesis import SynthesisStep
from boolcomp.words.graph import (
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    Scale,
    WordGraph,
    parse_graph,
)
from boolcomp.words.simulation import agrees, fold, simulate


def unfolded(entries: tuple[int, ...], bits: int) -> list[int]:
    """Return a table put together again from what its folding says."""
    folded = fold(entries, bits)
    result = []
    for k in range(len(entries)):
        index = sum(((k & mask).bit_count() & 1) << i for i, mask in enumerate(folded.inputs))
        flip = (k & folded.flip).bit_count() & 1
        result.append(folded.core[index] ^ (((1 << bits) - 1) if flip else 0))
    return result


@pytest.mark.parametrize("lsb", [-1, -3, -6])
@pytest.mark.parametrize("part", [(1, 1.0, 0.0), (1, 0.0, 1.0), (1, 0.0, -1.4), (2, 0.75, 0.0)])
def test_a_wave_of_a_guarded_word_is_folded_and_right(
    part: tuple[int, float, float], lsb: int
) -> None:
    wave = Waves(0, (part,))
    (table,) = tabulate(wave, Domain(8, 2 * np.pi / 256, 0.0, guarded=True), lsb, centred=False)
    assert len(fold(table.entries, table.bits).inputs) == 7 - part[0]
    assert unfolded(table.entries, table.bits) == list(table.entries)
    said = 2.0**lsb * (np.array(table.entries[::2]) + 0.5 - 2.0 ** (table.bits - 1))
    exact = wave.at(2 * np.pi * (np.arange(128) / 128 - 0.5))
    assert np.abs(said - exact).max() <= 2.0**lsb * 0.751


@pytest.mark.parametrize("inputs", [0, 1, 6])
def test_the_network_by_cofactors_is_the_table(inputs: int) -> None:
    entries = np.random.default_rng(inputs).integers(0, 8, 1 << inputs).tolist()
    columns = columns_of(entries, 3)
    network = mux_network(inputs, columns)
    for row, entry in enumerate(entries):
        bits = [row >> k & 1 for k in range(inputs)]
        assert looked_up(network, bits) == tuple(entry >> k & 1 for k in range(3))


@pytest.mark.parametrize("inputs", [0, 3, 8])
def test_nodes_are_counted_as_the_network_by_cofactors_has_them(inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    rows = np.arange(1 << inputs)
    tables = [rng.integers(0, 16, 1 << inputs), rows & 15, ~(rows >> 1) & 15, rows * rows >> 2 & 15]
    tables.append(np.floor(8 + 7.9 * np.sin(rows / len(rows) * 1.6)).astype(np.int64))
    for table in tables:
        columns = columns_of(table.tolist(), 4)
        assert mux_nodes(inputs, columns) == len(mux_network(inputs, columns).nodes)


def index_of(word: int, mask: int) -> int:
    """Return the bits of a word that a mask picks, side by side, one by one."""
    picked = [word >> k & 1 for k in range(mask.bit_length()) if mask >> k & 1]
    return sum(bit << k for k, bit in enumerate(picked))


def masked_graph(mask: int, entries: tuple[int, ...]) -> WordGraph:
    """Return a graph of a table of some of the leading five of six bits."""
    nodes = (
        InputWord("x", 6, angle=False),
        Lookup(0, 5, entries, 4, mask),
        Heap((Bits(1, 0, 0, negative=False),), 0, 4),
    )
    return WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 4),))


@pytest.mark.parametrize("mask", [0b1, 0b00101, 0b10011, 0b11011])
def test_a_table_of_some_bits_is_the_same_in_simulation_logic_and_text(mask: int) -> None:
    entries = tuple(np.random.default_rng(mask).integers(0, 16, 1 << mask.bit_count()).tolist())
    graph = masked_graph(mask, entries)
    words = np.arange(64)
    found = simulate(graph, {"x": words}).words[:, 0]
    assert found.tolist() == [entries[index_of(word >> 1, mask)] for word in range(64)]
    assert agrees(word_logic(graph), graph, {"x": words})
    assert parse_graph(str(graph)) == graph


def test_a_table_too_large_for_synthesis_is_made_by_cofactors() -> None:
    entries = tuple(int(k % 7 == 3 and k > 900) for k in range(1 << 13))
    nodes = (
        InputWord("x", 13, angle=False),
        Lookup(0, 13, entries, 1),
        Heap((Bits(1, 0, 0, negative=False),), 0, 1),
    )
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 1),))
    assert agrees(table_network(graph).network, graph, {"x": np.arange(1 << 13)})


def value(table: Tabulated, lsb: int, word: int, bits: int) -> float:
    """Return what a table of a word's leading bits stands for."""
    leading = word >> (bits - table.read)
    entry = table.entries[index_of(leading, table.mask) if table.mask else leading]
    return (entry - ((1 << table.bits) - 1) / 2) * 2.0**lsb + table.offset


def total(made: TablePieces, lsb: int, word: int, bits: int) -> float:
    """Return the sum of all pieces at a word."""
    found = sum(value(table, lsb, word, bits) for table in made.tables)
    if made.product is not None:
        a, b = made.product
        found += value(a.table, a.lsb, word, bits) * value(b.table, b.lsb, word, bits)
    return found


SPLITS = {
    "one slope": Interpolation(4, 2, 0, 0, 0, 0, 0),
    "products": Interpolation(5, 1, 5, 4, -2, 0, 0),
    "products and a table": Interpolation(5, 3, 3, 4, -2, 0, 0),
    "bends": Interpolation(6, 1, 6, 3, -3, 4, 2),
    "all": Interpolation(6, 2, 4, 3, -3, 3, 1),
}


@pytest.mark.parametrize("name", SPLITS)
def test_pieces_add_up_to_the_curve_with_the_error_that_is_predicted(name: str) -> None:
    bits, lsb = 9, -12
    domain = Domain(bits, 2.0**-bits, 0.5)
    values = np.exp(domain.points())
    made = pieces(values, domain, lsb, SPLITS[name], centred=True)
    error = np.array([total(made, lsb, w, bits) for w in range(1 << bits)]) - values
    predicted = made.variance + len(made.tables) * 4.0**lsb / 12
    assert 0.6 < (error**2).mean() / predicted < 1.4


@given(st.integers(2, 8), st.tuples(*[st.integers(0, 8)] * 7))
def test_no_split_reads_more_than_there_is(read: int, rest: tuple[int, ...]) -> None:
    low, lead, times, slopes, fineness, bend, bends = rest
    how = Interpolation(max(1, low), lead, times, slopes, fineness - 4, bend, bends)
    domain = Domain(read, 2.0**-read, 0.5)
    made = pieces(np.sqrt(domain.points()), domain, -8, how, centred=True)
    factors = [factor.table for factor in made.product or ()]
    for table in [*made.tables, *factors]:
        count = table.mask.bit_count() if table.mask else table.read
        assert table.read <= read
        assert len(table.entries) == 1 << count
        assert max(table.entries) < 1 << table.bits


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


@pytest.mark.check
def test_passes_make_an_equivalent_smaller_network(tmp_path: Path) -> None:
    arm = case("machado-2r", bits=4)
    graph = arm.graph(0.5)
    heard: list[SynthesisStep] = []
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


@pytest.mark.slow
def test_without_abc_there_is_a_network_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.logic.lutmapping.find", lambda: None)
    arm = case("machado-2r", bits=4)
    graph = arm.graph(0.5)
    done = smaller(table_network(graph), rounds=1)
    assert agrees(done.network, graph, arm.states(5000, seed=2).words)
    assert len(done.network.nodes) < len(word_logic(graph).nodes)
    assert 0 < lut6(done.network) < len(done.network.nodes)
