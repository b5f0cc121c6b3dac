"""The irredundant sum of products."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from twolevel.robot_tables import table as robot_table
from twolevel.strategies import implements, random_table, tables

from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.dense import Dense
from boolcomp.twolevel.isop import isop, minterms


@given(tables())
def test_it_implements_the_table(table: Dense) -> None:
    cover = isop(table)
    assert cover is not None
    assert implements(Function.from_dense(table), cover)


@given(tables())
def test_every_product_of_a_single_output_is_needed(table: Dense) -> None:
    if table.outputs:
        single = Dense(table.inputs, 1, table.on[:1].copy(), table.dc[:1].copy())
        cover = isop(single)
        assert cover is not None
        for k in range(len(cover)):
            assert not implements(
                Function.from_dense(single), cover.take(np.arange(len(cover)) != k)
            )


@given(tables())
def test_minterms_are_the_cover_of_last_resort(table: Dense) -> None:
    assert implements(Function.from_dense(table), minterms(table))


def test_equal_outputs_share_all_products() -> None:
    noise = np.random.default_rng(5)
    one = random_table(noise, 7, 1, 0.4, 0.2)
    both = Dense(7, 2, np.repeat(one.on, 2, axis=0), np.repeat(one.dc, 2, axis=0))
    single, double = isop(one), isop(both)
    assert single is not None
    assert double is not None
    assert len(double) == len(single)


def test_a_clock_that_has_run_out_ends_it() -> None:
    hard = random_table(np.random.default_rng(0), 17, 6, 0.5, 0.0)
    assert isop(hard, Clock(0)) is None


@pytest.mark.parametrize(
    ("name", "most", "seconds"), [("T12", 200, 1.0), ("T11", 2424, 1.0), ("T14", 2026, 10.0)]
)
def test_the_arms_tables_are_covered_in_time(name: str, most: int, seconds: float) -> None:
    table = robot_table(name)
    isop(robot_table("T13"))  # compiles the loop, where it is not yet
    begin = time.process_time()
    cover = isop(table)
    assert time.process_time() - begin < seconds  # 0.02 on a quiet machine
    assert cover is not None
    assert len(cover) <= most
    assert implements(Function.from_dense(table), cover)
