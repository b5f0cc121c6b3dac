"""Truth tables: the order of their points, and the way from and to columns and cubes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bitarray import frozenbitarray
from hypothesis import given
from twolevel.strategies import cubes, points, tables, values

from boolcomp.twolevel.dense import Dense, from_index, rasterised, to_index

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import Cubes


@given(cubes)
def test_a_drawn_cover_has_the_values_of_its_cubes_with_input_0_most_significant(
    some: Cubes,
) -> None:
    planes = rasterised(some)
    for x, point in enumerate(points(some.inputs)):
        got = "".join(str(int(row[x // 64]) >> x % 64 & 1) for row in planes)
        assert got == values(some, point)


@given(tables())
def test_columns_written_and_read_are_the_same_table(table: Dense) -> None:
    on, dc = table.columns()
    again = Dense.from_columns(table.inputs, on, dc)
    assert (again.on == table.on).all()
    assert (again.dc == table.dc).all()


@pytest.mark.parametrize("endian", ["big", "little"])
def test_columns_of_either_bit_order_are_read(endian: str) -> None:
    column = frozenbitarray("0110100110010110", endian)
    assert int(Dense.from_columns(4, [column]).on[0, 0]) == 0b0110100110010110


def test_dont_care_wins_over_on() -> None:
    table = Dense.from_columns(1, [frozenbitarray("11")], [frozenbitarray("01")])
    assert (int(table.on[0, 0]), int(table.dc[0, 0]), int(table.off[0, 0])) == (1, 2, 0)


@given(cubes)
def test_cubes_survive_the_way_to_index_bits_and_back(some: Cubes) -> None:
    some = some.valid()
    assert from_index(some.inputs, some.outputs, to_index(some)).rows() == some.rows()


def test_tables_that_contradict_themselves_are_refused() -> None:
    with pytest.raises(ValueError, match="bits in a table"):
        Dense.from_columns(2, [frozenbitarray("01")])
    with pytest.raises(ValueError, match="DC columns"):
        Dense.from_columns(1, [frozenbitarray("01")], [])
    with pytest.raises(ValueError, match="too large"):
        Dense.from_columns(40, [frozenbitarray("01")])
