"""Planes: which bit belongs to which input word, and how random words are made."""

from __future__ import annotations

import numpy as np
import pytest
from bitarray import bitarray

from boolcomp.logic import simulation


@pytest.mark.parametrize("inputs", range(8))
def test_bit_r_of_an_input_plane_is_that_inputs_bit_of_the_word_r(inputs: int) -> None:
    planes = simulation.input_planes(inputs)
    for word in range(1 << inputs):
        bits = tuple(plane >> word & 1 for plane in planes)
        assert bits == tuple(word >> k & 1 for k in reversed(range(inputs)))
    assert simulation.ones(inputs) == sum(1 << word for word in range(1 << inputs))


@pytest.mark.parametrize("low", [3, 6, 7, 9])
def test_chunks_hold_every_input_word_once_in_order(
    low: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation, "CHUNK_INPUTS", low)
    inputs, place = 9, 0
    for start, planes in simulation.chunks(inputs):
        assert start == place
        count = min(1 << low, 64 * len(planes[0]))
        for word in range(count):
            bits = [int(plane[word // 64]) >> word % 64 & 1 for plane in planes]
            assert bits == [start + word >> k & 1 for k in reversed(range(inputs))]
        place += count
    assert place == 1 << inputs


def test_of_random_words_a_quarter_has_few_ones_a_quarter_many_and_the_rest_half() -> None:
    planes = simulation.random_planes(40, 400, 7)
    ones = np.array([[int(word).bit_count() for word in plane] for plane in planes]) / 64
    assert [
        round(float(ones[:, a:b].mean()), 2) for a, b in ((0, 100), (100, 200), (200, 400))
    ] == ([0.12, 0.87, 0.5])
    assert len({plane.tobytes() for plane in planes}) == 40
    again = simulation.random_planes(40, 400, 7)
    assert all(np.array_equal(a, b) for a, b in zip(planes, again, strict=True))


@pytest.mark.parametrize("inputs", range(6))
@pytest.mark.parametrize("endian", ["big", "little"])
def test_a_column_is_a_plane_with_its_first_row_as_bit_zero(inputs: int, endian: str) -> None:
    rows = [k % 3 == 1 for k in range(1 << inputs)]
    column = bitarray(rows, endian=endian)
    plane = simulation.plane_of(column)
    assert plane == sum(bit << row for row, bit in enumerate(rows))
