"""Cubes: what they hold, and how they are written."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from twolevel.strategies import cubes, points, values

from boolcomp.twolevel.cubes import Cubes, pack, unpack


@given(cubes)
def test_rows_written_and_read_are_the_same_cubes(some: Cubes) -> None:
    again = Cubes.from_rows(some.inputs, some.outputs, some.rows())
    assert again.rows() == some.rows()


@given(cubes)
def test_canonical_order_computes_the_same_in_sorted_rows_without_duplicates(some: Cubes) -> None:
    tidy = some.canonical()
    terms = [term for term, _ in tidy.rows()]
    assert terms == sorted(set(terms))
    for point in points(some.inputs)[:32]:
        assert values(tidy, point) == values(some, point)


def test_canonical_order_holds_beyond_one_word_of_letters() -> None:
    rows = [("1" * 70, "1"), ("-" * 70, "1"), ("0" * 69 + "1", "1"), ("0" * 70, "1")]
    order = [term for term, _ in Cubes.from_rows(70, 1, rows).canonical().rows()]
    assert order == sorted(order)


def test_bits_cross_word_boundaries() -> None:
    bits = np.arange(3 * 130).reshape(3, 130) % 7 == 0
    assert (unpack(pack(bits), 130) == bits).all()
    assert pack(bits).shape == (3, 3)


def test_literals_and_connections_are_counted_once_per_product() -> None:
    some = Cubes.from_rows(4, 3, [("01--", "110"), ("1---", "001")])
    assert (some.literals, some.connections) == (3, 3)


def test_cubes_without_points_or_outputs_are_not_valid() -> None:
    none = np.zeros((1, 1), np.uint64)
    one = np.ones((1, 1), np.uint64)
    assert len(Cubes(1, 1, none, none.copy(), one)) == 1
    assert len(Cubes(1, 1, none, none.copy(), one.copy()).valid()) == 0
    assert len(Cubes.from_rows(1, 1, [("1", "0")]).valid()) == 0


def test_arrays_are_read_only() -> None:
    some = Cubes.from_rows(2, 1, [("01", "1")])
    with pytest.raises(ValueError, match="read-only"):
        some.zero[0] = 0


@pytest.mark.parametrize("rows", [[("01", "1")], [("01x", "1")], [("010", "2")]])
def test_rows_of_wrong_size_or_letters_are_refused(rows: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="row"):
        Cubes.from_rows(3, 1, rows)


def test_arrays_of_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="cube array"):
        Cubes(65, 1, *(np.zeros((1, 1), np.uint64) for _ in range(3)))


def test_text_form_is_one_line_a_cube() -> None:
    some = Cubes.from_rows(3, 2, [("01-", "10"), ("1--", "11")])
    assert repr(some) == "Cubes(3 inputs, 2 outputs)\n  01- 10\n  1-- 11"
