"""Cofactor recursion on lists of cubes."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from twolevel.strategies import cubes, cubes_of, points, values

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


@given(cubes_of(4, 1), cubes_of(4, 1, 1), cubes_of(4, 1))
def test_the_parts_left_are_disjoint_and_a_point_is_missed_where_there_are_some(
    some: Cubes, target: Cubes, cover: Cubes
) -> None:
    parts = lists.uncovered_parts(some)
    owner = np.ones((len(parts), 1), np.uint64)
    terms = Cubes(4, 1, parts[:, 0].copy(), parts[:, 1].copy(), owner).rows()
    held = [p for term, _ in terms for p in points(4) if holds(term, p)]
    assert sorted(held) == [p for p in points(4) if not any(holds(t, p) for t, _ in some.rows())]
    left = {p for p in points(4) if "1" in values(target, p) and "1" not in values(cover, p)}
    part = lists.first_uncovered(target.valid(), cover.valid())
    assert (part is None) == (not left)
    if part is not None:
        assert lists.some_point(part, 4) in left


def holds(term: str, point: str) -> bool:
    return all(a in ("-", b) for a, b in zip(term, point, strict=True))


def test_a_tautology_of_many_inputs_is_known_at_once() -> None:
    rows = [("-" * i + "1" + "-" * (99 - i), "1") for i in range(100)] + [("0" * 100, "1")]
    whole, some = (Cubes.from_rows(100, 1, r) for r in ([("-" * 100, "1")], rows))
    assert lists.first_uncovered(whole, some) is None
    part = lists.first_uncovered(whole, Cubes.from_rows(100, 1, rows[:-1]))
    assert part is not None
    assert lists.some_point(part, 100) == "0" * 100


def test_a_walk_gives_up_when_the_clock_has_run_out() -> None:
    # The complement of x1 y1 | x2 y2 | ... is made of 2^24 parts.
    rows = [("-" * 2 * i + "11" + "-" * (46 - 2 * i), "1") for i in range(24)]
    clock, begin = Clock(0.2), time.process_time()
    with pytest.raises(lists.GaveUpError):
        lists.complement(Cubes.from_rows(48, 1, rows), clock)
    assert time.process_time() - begin < 1.0  # a busy machine gives less than the clock's 0.2
