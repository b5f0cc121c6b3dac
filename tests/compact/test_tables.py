"""Tables of one word: folded, and synthesised by cofactors."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.compact.graph.tables import columns_of, mux_network, mux_nodes
from boolcomp.compact.graph.tabulate import Domain, bipartite_error, tabulate
from boolcomp.compact.sketch.sketch import Powers, Waves
from boolcomp.words.folding import canonical, fold


def unfolded(entries: tuple[int, ...], bits: int) -> list[int]:
    """Return a table put together again from what its folding says."""
    folded = fold(entries, bits)
    result = []
    for k in range(len(entries)):
        index = sum(((k & mask).bit_count() & 1) << i for i, mask in enumerate(folded.inputs))
        flip = (k & folded.flip).bit_count() & 1
        result.append(folded.core[index] ^ (((1 << bits) - 1) if flip else 0))
    return result


@pytest.mark.parametrize("parts", [((1, 1.0, 0.0),), ((1, 0.0, 1.0),), ((2, 0.7, 0.0),)])
def test_a_wave_folds_to_a_quarter_or_less(parts: tuple[tuple[int, float, float], ...]) -> None:
    (table,) = tabulate(Waves(0, parts), Domain(7, 2 * np.pi / 128, 0.0), -5, centred=True)
    folded = fold(table.entries, table.bits)
    assert len(folded.inputs) <= 5
    assert unfolded(table.entries, table.bits) == list(table.entries)


@pytest.mark.parametrize("lsb", [-1, -3, -6])
@pytest.mark.parametrize("part", [(1, 1.0, 0.0), (1, 0.0, 1.0), (1, 0.0, -1.4), (2, 0.75, 0.0)])
def test_a_wave_of_a_guarded_word_folds_and_is_right_where_words_can_be(
    part: tuple[int, float, float], lsb: int
) -> None:
    wave = Waves(0, (part,))
    (table,) = tabulate(wave, Domain(8, 2 * np.pi / 256, 0.0, guarded=True), lsb, centred=False)
    assert len(fold(table.entries, table.bits).inputs) == 7 - part[0]
    assert unfolded(table.entries, table.bits) == list(table.entries)
    said = 2.0**lsb * (np.array(table.entries[::2]) + 0.5 - 2.0 ** (table.bits - 1))
    exact = wave.at(2 * np.pi * (np.arange(128) / 128 - 0.5))
    assert np.abs(said - exact).max() <= 2.0**lsb * 0.751


@pytest.mark.parametrize("seed", range(5))
def test_a_table_without_symmetry_is_left_alone(seed: int) -> None:
    entries = tuple(np.random.default_rng(seed).integers(0, 8, 16).tolist())
    assert len(fold(entries, 3).inputs) == 4
    assert unfolded(entries, 3) == list(entries)


def test_a_sine_and_a_cosine_have_the_same_core() -> None:
    domain = Domain(6, 2 * np.pi / 64, 0.0)
    cores = []
    for parts in (((1, 1.0, 0.0),), ((1, 0.0, 1.0),), ((1, 0.0, -1.0),)):
        (table,) = tabulate(Waves(0, parts), domain, -4, centred=True)
        cores.append(canonical(fold(table.entries, table.bits), table.bits)[0].core)
    assert len(set(cores)) == 1


@pytest.mark.parametrize("inputs", range(7))
def test_the_network_by_cofactors_is_the_table(inputs: int) -> None:
    entries = np.random.default_rng(inputs).integers(0, 8, 1 << inputs).tolist()
    columns = columns_of(entries, 3)
    network = mux_network(inputs, columns)
    for row, entry in enumerate(entries):
        bits = [row >> k & 1 for k in range(inputs)]
        assert network.fold(_Bits(), bits) == tuple(entry >> k & 1 for k in range(3))


@pytest.mark.parametrize("inputs", range(9))
def test_nodes_are_counted_as_the_network_by_cofactors_has_them(inputs: int) -> None:
    rng = np.random.default_rng(inputs)
    rows = np.arange(1 << inputs)
    tables = [rng.integers(0, 16, 1 << inputs), rows & 15, ~(rows >> 1) & 15, rows * rows >> 2 & 15]
    tables.append(np.floor(8 + 7.9 * np.sin(rows / len(rows) * 1.6)).astype(np.int64))
    for table in tables:
        columns = columns_of(table.tolist(), 4)
        assert mux_nodes(inputs, columns) == len(mux_network(inputs, columns).nodes)


class _Bits:
    def constant(self, value: int) -> int:
        return value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        a, b, c = (*operands, 0, 0)[:3]
        return lut >> (4 * a + 2 * b + c) & 1


@pytest.mark.parametrize(
    ("table", "domain"),
    [
        (Waves(0, ((1, 1.3, 0.2),)), Domain(9, 2 * np.pi / 512, 0.0)),
        (Waves(0, ((1, 1.3, 0.2),)), Domain(9, 2 * np.pi / 512, 0.0, guarded=True)),
        (Powers(0, (0.0, 0.0, 1e-5)), Domain(9, 2.0, 0.0)),
    ],
)
def test_the_two_tables_of_a_bipartite_one_add_up_to_the_function(
    table: Waves | Powers, domain: Domain
) -> None:
    made = tabulate(table, domain, -12, centred=True, low=3, lead=4)
    total = np.zeros(1 << domain.read)
    for part in made:
        words = np.repeat(part.entries, 1 << (domain.read - part.read))
        total += part.offset + 2.0**-12 * (words + 0.5 - 2.0 ** (part.bits - 1))
    error = total - table.at(domain.points())
    predicted = np.sqrt(bipartite_error(table, domain, 3, 4) + 2 * 4.0**-12 / 12)
    assert 0.7 * predicted < np.sqrt((error**2).mean()) < 1.3 * predicted
