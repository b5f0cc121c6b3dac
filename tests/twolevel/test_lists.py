"""Cofactor recursion on lists of cubes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from twolevel.strategies import cubes

from boolcomp.twolevel import lists
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.dense import rasterised
from boolcomp.twolevel.verify import meeting


@given(cubes)
def test_the_complement_holds_all_other_points_and_no_more(some: Cubes) -> None:
    rest = lists.complement(some)
    assert meeting(rest, some) is None
    every = Cubes.from_rows(some.inputs, some.outputs, [("-" * some.inputs, "1" * some.outputs)])
    assert (rasterised(rest) | rasterised(some) == rasterised(every)).all()


@given(cubes)
def test_the_bound_is_the_smallest_cube_around_what_is_uncovered(some: Cubes) -> None:
    whole = lists.everything(some.inputs)
    parts = lists.uncovered_parts(some, whole)
    bound = lists.uncovered_bound(some, whole)
    expected = whole & 0
    for part in parts:
        expected |= part
    assert (bound == expected).all()
    assert (lists.uncovered(some, whole) is None) == (len(parts) == 0)


def test_a_tautology_of_many_inputs_is_known_at_once() -> None:
    rows = [("-" * i + "1" + "-" * (99 - i), "1") for i in range(100)] + [("0" * 100, "1")]
    some = Cubes.from_rows(100, 1, rows)
    assert lists.uncovered(some, lists.everything(100)) is None
    part = lists.uncovered(Cubes.from_rows(100, 1, rows[:-1]), lists.everything(100))
    assert part is not None
    assert lists.some_point(part, 100) == "0" * 100


def test_a_walk_gives_up_when_the_clock_has_run_out() -> None:
    # The complement of x1 y1 | x2 y2 | ... is made of 2^24 parts.
    rows = [("-" * 2 * i + "11" + "-" * (46 - 2 * i), "1") for i in range(24)]
    clock, begin = Clock(0.2), time.process_time()
    with pytest.raises(lists.GaveUpError):
        lists.complement(Cubes.from_rows(48, 1, rows), clock)
    assert time.process_time() - begin < 1.0
