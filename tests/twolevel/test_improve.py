"""Our heuristic: sweeps, local search, and the same for functions of many inputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twolevel.robot_tables import table as robot_table
from twolevel.strategies import (
    as_lists,
    functions,
    implements,
    points,
    random_table,
    tables,
    values,
)

from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.dense import Dense, to_index
from boolcomp.twolevel.improve import improve, suits
from boolcomp.twolevel.improve_lists import improve_lists, irredundant
from boolcomp.twolevel.isop import isop, minterms
from boolcomp.twolevel.selection import matrix, without_idle


@given(tables())
def test_an_improved_cover_implements_the_table_within_its_bound(table: Dense) -> None:
    start = isop(table)
    assert start is not None
    cover, bound = improve(table, start, Clock())
    assert implements(Function.from_dense(table), cover)
    assert bound <= len(cover) <= len(start)


@given(tables())
def test_any_start_will_do(table: Dense) -> None:
    cover, _ = improve(table, minterms(table), Clock())
    assert implements(Function.from_dense(table), cover)


@given(functions())
def test_lists_of_cubes_are_improved_to_a_right_cover(function: Function) -> None:
    twin = as_lists(function)
    cover = improve_lists(twin, function.on, Clock())
    assert implements(function, cover)
    assert len(cover) <= len(function.on.valid())
    assert implements(function, irredundant(twin, Clock()))


def test_small_functions_reach_their_known_minimum() -> None:
    # Parity of five inputs needs all its 16 minterms; a two-of-four function its 6 pairs.
    parity = [(p, "1") for p in points(5) if p.count("1") % 2]
    pairs = [(p, "1") for p in points(4) if p.count("1") >= 2]
    for rows, least in ((parity, 16), (pairs, 6)):
        table = Function.from_cubes(Cubes.from_rows(len(rows[0][0]), 1, rows)).dense
        cover, bound = improve(table, minterms(table), Clock())
        assert len(cover) == least == bound


@pytest.mark.slow
@pytest.mark.parametrize(("name", "faithful", "most"), [
    ("T12", False, 181), ("T13", False, 34), ("T15", False, 80), ("T24", False, 124),
    ("T12", True, 72), ("T15", True, 58), ("T24", True, 57),
])  # fmt: skip
def test_the_arms_small_tables_stay_below_espressos_size(
    name: str,
    *,
    faithful: bool,
    most: int,
) -> None:
    _check_robot_table(name, most, faithful=faithful)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "faithful", "most"), [
    ("T11", False, 2000), ("T14", False, 1642), ("T11", True, 621), ("T16", False, 20_000),
])  # fmt: skip
def test_the_arms_large_tables_stay_below_espressos_size(
    name: str,
    *,
    faithful: bool,
    most: int,
) -> None:
    _check_robot_table(name, most, faithful=faithful)


def _check_robot_table(name: str, most: int, *, faithful: bool) -> None:
    table = robot_table(name, faithful=faithful)
    start = isop(table)
    assert start is not None
    cover, _ = improve(table, start, Clock())
    assert len(cover) <= most
    assert implements(Function.from_dense(table), cover)


def test_functions_of_many_inputs_are_reduced_to_their_blocks() -> None:
    # Eight blocks of the same three-input function, each given as five minterms, need three each.
    block = ["000", "001", "011", "111", "110"]
    rows = [("---" * k + term + "---" * (7 - k), "1") for k in range(8) for term in block]
    function = Function.from_cubes(Cubes.from_rows(24, 1, rows))
    assert not function.is_dense
    cover = improve_lists(function, function.on, Clock())
    assert len(cover) == 24
    assert implements(function, cover)


def test_a_deadline_in_the_past_returns_the_start() -> None:
    table = random_table(np.random.default_rng(3), 10, 2, 0.5, 0.1)
    start = minterms(table)
    assert improve(table, start, Clock(0))[0] is start


def test_the_result_does_not_depend_on_the_run() -> None:
    table = robot_table("T12")
    start = isop(table)
    assert start is not None
    first, second = (improve(table, start, Clock())[0] for _ in range(2))
    assert first.rows() == second.rows()


def test_tables_too_large_are_not_tried() -> None:
    words = np.zeros((9, 1 << 15), np.uint64)
    assert not suits(Dense(21, 9, words, words.copy()))


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_reducing_a_covering_matrix_keeps_every_demand(seed: int) -> None:
    noise = np.random.default_rng(seed)
    table = random_table(noise, 5, 2, 0.5, 0.2)
    cover = isop(table)
    assert cover is not None
    candidates = to_index(cover.joined(minterms(table)))
    whole = matrix(table, candidates)
    assert whole is not None
    core, stand_in = without_idle(whole)
    # Whatever meets the reduced rows meets, through the stand-ins, every point.
    chosen = np.unique(stand_in[: len(cover)])
    met = np.isin(core.indices, chosen)
    assert np.logical_or.reduceat(met, core.starts[:-1]).all()
    kept = cover.joined(minterms(table)).take(chosen.astype(np.intp))
    for x, point in enumerate(points(5)):
        for j in range(2):
            if int(table.on[j, 0]) >> x & 1:
                assert values(kept, point)[j] == "1"
