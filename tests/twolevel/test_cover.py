"""Functions and covers as values."""

from __future__ import annotations

import pytest
from bitarray import frozenbitarray
from hypothesis import given
from twolevel.strategies import functions

from boolcomp.common.errors import DataError
from boolcomp.twolevel.cover import Cover, Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.dense import rasterised


@given(functions())
def test_on_dc_and_off_derived_from_tables_are_the_function(function: Function) -> None:
    twin = Function.from_dense(function.dense)
    table = function.dense
    assert (rasterised(twin.on) & ~table.dc == table.on).all()
    assert (rasterised(twin.dc) == table.dc).all()
    assert (rasterised(twin.off) == table.off).all()


def test_overlapping_sets_are_refused_with_a_witness() -> None:
    on = Cubes.from_rows(3, 2, [("1--", "11")])
    with pytest.raises(DataError, match=r"output 1 is both .* at inputs '110'"):
        Function.from_cubes(on, None, Cubes.from_rows(3, 2, [("-10", "01")]))


def test_a_function_of_columns_needs_no_cubes() -> None:
    function = Function.from_columns(2, [frozenbitarray("0111")])
    assert function.on.rows() == [("01", "1"), ("1-", "1")] or len(function.on) == 2
    assert function.off.rows() == [("00", "1")]


def test_functions_of_many_inputs_are_not_drawn_as_tables() -> None:
    many = Cubes.from_rows(60, 1, [("1" * 60, "1")])
    assert not Function.from_cubes(many).is_dense
    assert len(Function.from_cubes(many).off) == 60


def test_sets_of_different_shapes_are_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="different numbers"):
        Function.from_cubes(Cubes.empty(2, 1), Cubes.empty(3, 1))


def test_a_cover_counts_products_literals_connections_and_sharing() -> None:
    cover = Cover(Cubes.from_rows(3, 2, [("01-", "10"), ("1--", "11")]), "own", lower_bound=1)
    assert (cover.products, cover.literals, cover.connections, cover.shared) == (2, 3, 3, 1)
    head = "Cover(2 products (at least 1), 3 literals, 3 connections, by own)"
    assert repr(cover).splitlines()[0] == head
