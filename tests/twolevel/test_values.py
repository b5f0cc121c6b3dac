"""Cubes, truth tables, functions and covers as values, and whether a cover is right."""

from typing import Any

import numpy as np
import pytest
from bitarray import frozenbitarray
from hypothesis import given
from hypothesis import strategies as st
from twolevel.strategies import (
    as_lists,
    cubes,
    cubes_of,
    functions,
    of_rows,
    points,
    tables,
    values,
)  # fmt: skip

from boolcomp.base import DataError
from boolcomp.twolevel import Clock, Cover, Cubes, Dense, Function, verify


@given(cubes)
def test_rows_written_and_read_are_the_same_cubes(some: Cubes) -> None:
    assert Cubes.from_rows(some.inputs, some.outputs, some.rows()).rows() == some.rows()


@given(cubes)
def test_canonical_order_computes_the_same_in_sorted_rows_without_duplicates(some: Cubes) -> None:
    tidy = some.canonical()
    terms = [term for term, _ in tidy.rows()]
    assert terms == sorted(set(terms))
    for point in points(some.inputs)[:32]:
        assert values(tidy, point) == values(some, point)


def test_arrays_of_cubes_are_read_only_and_of_one_shape() -> None:
    some = Cubes.from_rows(2, 1, [("01", "1")])
    with pytest.raises(ValueError, match="read-only"):
        some.packed[0] = 0
    with pytest.raises(ValueError, match="cube array"):
        Cubes(65, 1, np.zeros((1, 3), np.uint64))


@pytest.mark.parametrize("rows", [[("01", "1")], [("01x", "1")], [("010", "2")]])
def test_rows_of_wrong_size_or_letters_are_refused(rows: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="row"):
        Cubes.from_rows(3, 1, rows)


@given(cubes)
def test_a_drawn_cover_has_the_values_of_its_cubes_with_input_0_most_significant(
    some: Cubes,
) -> None:
    planes = Function.from_cubes(some).dense.on
    for x, point in enumerate(points(some.inputs)):
        assert "".join(str(int(row[x // 64]) >> x % 64 & 1) for row in planes) == values(
            some, point
        )


@given(tables())
def test_columns_written_and_read_are_the_same_table(table: Dense) -> None:
    again = Dense.from_columns(table.inputs, *table.columns())
    assert (again.on == table.on).all()
    assert (again.dc == table.dc).all()


@pytest.mark.parametrize("endian", ["big", "little"])
def test_columns_of_either_bit_order_are_read(endian: str) -> None:
    column = frozenbitarray("0110100110010110", endian)
    assert int(Dense.from_columns(4, [column]).on[0, 0]) == 0b0110100110010110


def test_dont_care_wins_over_on() -> None:
    table = Dense.from_columns(1, [frozenbitarray("11")], [frozenbitarray("01")])
    assert (int(table.on[0, 0]), int(table.dc[0, 0]), int(table.off[0, 0])) == (1, 2, 0)


@pytest.mark.parametrize(("inputs", "free", "said"), [
    (2, None, "bits in a table"), (1, [], "DC columns"), (40, None, "too large"),
])  # fmt: skip
def test_tables_that_contradict_themselves_are_refused(inputs: int, free: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Dense.from_columns(inputs, [frozenbitarray("01")], free)


@given(functions())
def test_on_dc_and_off_derived_from_tables_are_the_function(function: Function) -> None:
    twin, table = Function.from_dense(function.dense), function.dense
    for x, point in enumerate(points(function.inputs)):
        for j in range(function.outputs):
            dc, on, off = (
                int(plane[j, x // 64]) >> x % 64 & 1 for plane in (table.dc, table.on, table.off)
            )
            assert values(twin.dc, point)[j] == str(dc)
            assert dc or values(twin.on, point)[j] == str(on)
            assert values(twin.off, point)[j] == str(off)


def test_overlapping_sets_are_refused_with_a_point() -> None:
    on = Cubes.from_rows(3, 2, [("1--", "11")])
    with pytest.raises(DataError, match=r"output 1 is both .* at inputs '110'"):
        Function.from_cubes(on, None, Cubes.from_rows(3, 2, [("-10", "01")]))
    every = [(f"{x:013b}", "1") for x in range(1 << 13)]  # compared as tables, not by pairs
    first, second, rest = (
        Cubes.from_rows(13, 1, rows) for rows in (every[:5000], every[4999:], every[5000:])
    )
    with pytest.raises(DataError, match=f"output 0 is both .* at inputs '{every[4999][0]}'"):
        Function.from_cubes(first, None, second)
    Function.from_cubes(first, None, rest)
    with pytest.raises(ValueError, match="different numbers"):
        Function.from_cubes(Cubes.empty(2, 1), Cubes.empty(3, 1))


def test_functions_of_many_inputs_are_not_drawn_as_tables() -> None:
    many = of_rows(("1" * 60, "1"))
    assert not many.is_dense
    assert len(many.off) == 60
    assert Function.from_columns(2, [frozenbitarray("0111")]).off.rows() == [("00", "1")]


def test_a_cover_counts_products_literals_connections_and_sharing() -> None:
    cover = Cover(Cubes.from_rows(3, 2, [("01-", "10"), ("1--", "11")]), "own", lower_bound=1)
    assert (cover.products, cover.literals, cover.connections, cover.shared) == (2, 3, 3, 1)
    assert repr(cover).splitlines()[0] == (
        "Cover(2 products (at least 1), 3 literals, 3 connections, by own)"
    )
    assert repr(cover.cubes) == "Cubes(3 inputs, 2 outputs)\n  01- 10\n  1-- 11"


@given(functions(), st.data())
def test_tables_and_lists_are_verified_alike_and_their_witnesses_are_true(
    function: Function, data: st.DataObject
) -> None:
    cover = data.draw(cubes_of(function.inputs, function.outputs))
    witnesses = [verify(function, cover), verify(as_lists(function), cover)]
    assert (witnesses[0] is None) == (witnesses[1] is None)
    for one in witnesses:
        if one is not None:
            assert values(cover, one.point)[one.output] == str(1 - one.expected)
            assert values(function.on, one.point)[one.output] == str(one.expected)
            assert values(function.dc, one.point)[one.output] == "0"
            said = f"output {one.output} at inputs {one.point or '(none)'} is {1 - one.expected}"
            assert str(one) == f"{said}, must be {one.expected}"
    wrong = {
        p for p in points(function.inputs)
        if any(c != f and d == "0" for c, f, d in zip(
            values(cover, p), values(function.on, p), values(function.dc, p), strict=True))
    }  # fmt: skip
    assert (witnesses[0] is None) == (not wrong)


def test_a_cover_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="other inputs"):
        verify(of_rows(("1-", "1")), Cubes.empty(3, 1), Clock())


def test_outputs_where_one_cube_holds_all_are_verified_at_once() -> None:
    on = Cubes.from_rows(30, 1000, [("1" + "-" * 29, "1" * 1000), ("11" + "-" * 28, "1" * 1000)])
    assert verify(Function.from_cubes(on), on.take(np.array([0])), Clock(0.0)) is None
