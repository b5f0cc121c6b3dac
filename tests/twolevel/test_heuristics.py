"""Irredundant sums, sweeps, and lists of cubes: right covers, small ones, the same again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from twolevel.strategies import (
    as_lists,
    cubes,
    functions,
    holds,
    implements,
    in_pairs,
    of_rows,
    points,
    random_table,
    robot_table,
    tables,
    values,
)  # fmt: skip

from boolcomp.twolevel import Clock, Cubes, Dense, Function, GaveUpError, heuristic, minimise
from boolcomp.twolevel import function as lists
from boolcomp.twolevel import sweep_kernels as kernels
from boolcomp.twolevel.cubes import rasterised
from boolcomp.twolevel.function import isop, minterms
from boolcomp.twolevel.heuristic import improve, improve_lists, suits


@given(tables())
def test_an_irredundant_sum_implements_the_table_and_so_do_minterms(table: Dense) -> None:
    assert implements(Function.from_dense(table), isop(table))
    assert implements(Function.from_dense(table), minterms(table))


def test_a_clock_that_has_run_out_ends_it() -> None:
    hard = random_table(np.random.default_rng(0), 17, 6, 0.5, 0.0)
    with pytest.raises(GaveUpError):
        isop(hard, Clock(0))


@given(tables())
def test_an_improved_cover_implements_the_table_within_its_bound(table: Dense) -> None:
    start = isop(table)
    cover, bound = improve(table, start, Clock())
    assert implements(Function.from_dense(table), cover)
    assert bound <= len(cover) <= len(start)
    assert implements(Function.from_dense(table), improve(table, minterms(table), Clock())[0])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "faithful", "most"), [
    ("T12", False, 181), ("T13", False, 34), ("T24", False, 124), ("T12", True, 72),
    ("T15", True, 58), ("T24", True, 57),
    *(pytest.param(*row, marks=pytest.mark.check) for row in (
        ("T11", False, 2000), ("T14", False, 1642), ("T11", True, 621), ("T16", False, 20_000),
    )),
])  # fmt: skip
def test_tables_of_the_arm_stay_below_the_size_of_espressos(
    name: str, *, faithful: bool, most: int
) -> None:
    table = robot_table(name, faithful=faithful)
    cover, _ = improve(table, isop(table), Clock())
    assert len(cover) <= most
    assert implements(Function.from_dense(table), cover)
    if most < 200:
        assert improve(table, isop(table), Clock())[0].rows() == cover.rows()


def test_a_deadline_in_the_past_returns_the_start() -> None:
    table = random_table(np.random.default_rng(3), 10, 2, 0.5, 0.1)
    start = minterms(table)
    assert improve(table, start, Clock(0))[0] is start
    words = np.zeros((9, 1 << 15), np.uint64)
    assert not suits(Dense(21, 9, words, words.copy()))  # tables too large are not tried


@pytest.mark.parametrize("oracle", ["table", "off", "within"])
@settings(max_examples=15)
@given(functions(5))
def test_no_product_of_any_oracle_can_lose_a_literal(oracle: str, function: Function) -> None:
    given_function = function if oracle == "table" else as_lists(function)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heuristic, "_MOST_OFF", -1 if oracle == "within" else 99)
        found = minimise(given_function, "own", effort=0.1).cubes
    allowed = function.on.joined(function.dc)
    assert implements(function, found)
    for term, owners in found.rows():
        for k in [k for k, letter in enumerate(term) if letter != "-"]:
            wider = f"{term[:k]}-{term[k + 1 :]}"
            new = [values(allowed, p) for p in points(function.inputs) if holds(wider, p)]
            assert any(
                x == "0" for word in new for x, o in zip(word, owners, strict=True) if o == "1"
            )


@pytest.mark.slow
def test_functions_of_many_inputs_are_reduced_to_their_blocks() -> None:
    # Eight blocks of the same three-input function, each given as five minterms, need three each.
    block = ["000", "001", "011", "111", "110"]
    rows = [("---" * k + term + "---" * (7 - k), "1") for k in range(8) for term in block]
    function = of_rows(*rows)
    assert not function.is_dense
    cover = improve_lists(function, function.on, Clock())
    assert len(cover) == 24
    assert implements(function, cover)


@given(cubes)
def test_the_complement_holds_all_other_points_and_no_more(some: Cubes) -> None:
    rest = rasterised(lists.complement(some))
    every = Cubes.from_rows(some.inputs, some.outputs, [("-" * some.inputs, "1" * some.outputs)])
    assert not (rest & rasterised(some)).any()
    assert (rest | rasterised(some) == rasterised(every)).all()


def test_a_tautology_of_many_inputs_is_known_at_once() -> None:
    rows = [("-" * i + "1" + "-" * (99 - i), "1") for i in range(100)] + [("0" * 100, "1")]
    whole, some = (Cubes.from_rows(100, 1, r) for r in ([("-" * 100, "1")], rows))
    assert lists.missed_part(some.packed, whole.packed, some.shape, Clock()) is None
    part = lists.missed_part(some.packed[:-1], whole.packed, some.shape, Clock())
    assert part is not None
    assert lists.some_point(part, 100) == "0" * 100


def test_a_walk_gives_up_when_the_clock_has_run_out() -> None:
    with pytest.raises(GaveUpError):
        lists.complement(Cubes.from_rows(48, 1, in_pairs(24)), Clock(0.05))


@pytest.mark.parametrize(("outputs", "listed", "most"), [
    (2048, False, 4 * 5 * 81),  # there are 81 cubes
    (512, True, 30 * 516),  # all directions are weighed about once for each of 30 products
])  # fmt: skip
def test_many_outputs_are_not_weighed_again_for_every_output_added(
    outputs: int, *, listed: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = kernels.sweep
    drawn = []  # random numbers in each sweep: one for every candidate weighed

    def counted(state: kernels.Sweep, *more: Any) -> int:
        noise = state.noise.copy()
        done = int(sweep(state, *more))
        drawn.append(0)
        while noise[0] != state.noise[0] and drawn[-1] <= most:
            kernels.random(noise)
            drawn[-1] += 1
        return done

    monkeypatch.setattr(kernels, "sweep", counted)
    few, times = random_table(np.random.default_rng(1), 4, 4, 0.5, 0.1), (outputs // 4, 1)
    table = Dense(4, outputs, np.tile(few.on, times), np.tile(few.dc, times))
    function = Function.from_dense(table)  # products can lose literals: their outputs are alike
    minimise(as_lists(function) if listed else function, "isop" if listed else "own")
    assert 0 < max(drawn) <= most
