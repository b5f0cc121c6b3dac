"""Bit heaps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from boolcomp.compact.graph.heaps import TimedBuilder, add_constant, adder_nodes, reduce_columns
from boolcomp.logic.simulation import Planes


@pytest.mark.parametrize("counts", [(1, 1), (2, 0, 1), (3, 3), (4, 1, 2), (0, 5, 1)])
def test_a_heap_adds_its_bits_in_as_many_nodes_as_predicted(counts: tuple[int, ...]) -> None:
    bits = len(counts) + 3
    builder = TimedBuilder(sum(counts))
    places = iter(range(sum(counts)))
    columns = {c: [builder.input(next(places)) for _ in range(n)] for c, n in enumerate(counts)}
    network = builder.build(reduce_columns(builder, columns, bits))
    weights = [c for c, n in enumerate(counts) for _ in range(n)]
    for word in itertools.product((0, 1), repeat=len(weights)):
        outputs = network.fold(Planes(1), word)
        total = sum(bit << weight for bit, weight in zip(word, weights, strict=True))
        assert sum(bit << k for k, bit in enumerate(outputs)) == total % (1 << bits)
    assert len(network.nodes) == adder_nodes([*counts, 0, 0, 0])


def test_ones_of_a_constant_are_bits_like_others() -> None:
    columns: dict[int, list[int]] = {0: [], 2: []}
    add_constant(columns, 13, 4)
    builder = TimedBuilder(0)
    assert [literal >> 1 for literal in reduce_columns(builder, columns, 4)] == [1, 0, 1, 1]


def test_the_earliest_bits_are_added_first_so_that_a_heap_is_shallow() -> None:
    builder = TimedBuilder(27)
    columns = {0: [builder.input(k) for k in range(27)]}
    network = builder.build(reduce_columns(builder, columns, 1))
    assert len(network.nodes) == 13
    assert network.depth <= int(np.ceil(np.log(27) / np.log(3))) + 1


@pytest.mark.parametrize(("bits", "dropped"), [(3, 0), (4, 1), (6, 2), (6, 0), (5, 4)])
def test_carries_beyond_the_top_and_sums_that_nobody_reads_are_not_counted(
    bits: int, dropped: int
) -> None:
    counts = (3, 2, 4, 1, 2, 1)[:bits]
    builder = TimedBuilder(sum(counts))
    places = iter(range(sum(counts)))
    columns = {c: [builder.input(next(places)) for _ in range(n)] for c, n in enumerate(counts)}
    network = builder.build(reduce_columns(builder, columns, bits)[dropped:])
    assert len(network.nodes) == adder_nodes(counts, dropped)
