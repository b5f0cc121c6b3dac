"""The one function for every method: always a verified cover, whatever happens."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from twolevel.robot_tables import table as robot_table
from twolevel.strategies import as_lists, functions, implements, random_table

from boolcomp.common.errors import UsageError
from boolcomp.twolevel import espresso, improve, isop, sweep_kernels
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.minimise import minimise

if TYPE_CHECKING:
    from boolcomp.twolevel.clock import Clock
    from boolcomp.twolevel.dense import Dense


@given(functions(), st.sampled_from(["isop", "own"]), st.booleans())
def test_every_method_implements_the_function(
    function: Function,
    method: str,
    dense: bool,  # noqa: FBT001 (drawn)
) -> None:
    cover = minimise(function if dense else as_lists(function), method)
    assert implements(function, cover.cubes)
    assert cover.lower_bound <= cover.products
    assert not cover.proved or cover.lower_bound in (cover.products, 0, 1)
    assert cover.note == ""


@pytest.mark.parametrize("method", ["isop", "own"])
def test_empty_and_constant_functions_have_covers_of_no_and_one_product(method: str) -> None:
    for inputs in (0, 1, 7, 50):
        empty = minimise(Function.from_cubes(Cubes.empty(inputs, 2)), method)
        always = Cubes.from_rows(inputs, 2, [("-" * inputs, "11")])
        constant = minimise(Function.from_cubes(always), method)
        assert (empty.products, empty.proved) == (0, True)
        assert (constant.cubes.rows(), constant.proved) == (always.rows(), True)
    assert minimise(Function.from_cubes(Cubes.empty(3, 0)), method).products == 0


@pytest.mark.slow
@pytest.mark.parametrize("deadline", [0.0, 0.2, 1.0])
def test_a_deadline_is_kept_and_the_cover_still_right(deadline: float) -> None:
    minimise(robot_table("T13"), "own")  # loads the loops
    hard = Function.from_dense(random_table(np.random.default_rng(0), 14, 6, 0.5, 0.1))
    begin = time.process_time()
    cover = minimise(hard, "own", deadline)
    # Of this process alone: the deadline is one of the clock, of which others may take a share.
    assert time.process_time() - begin < 1.1 * deadline + 1.0
    assert implements(hard, cover.cubes)
    assert cover.note


def test_a_deadline_is_kept_for_many_inputs() -> None:
    rows = [("-" * 2 * i + "11" + "-" * (46 - 2 * i), "1") for i in range(24)]
    blocks = Function.from_cubes(Cubes.from_rows(48, 1, rows))
    minimise(as_lists(Function.from_cubes(Cubes.from_rows(2, 1, [("11", "1")]))), "own")
    begin = time.process_time()
    cover = minimise(blocks, "own", 0.5)
    assert time.process_time() - begin < 2.0  # 0.55 on a quiet machine
    assert cover.products == 24


def test_an_off_set_out_of_reach_is_told_and_the_cover_is_right() -> None:
    # The complement of x1 y1 | x2 y2 | ... is made of 2^24 parts.
    rows = [("-" * 2 * i + "11" + "-" * (46 - 2 * i), "1") for i in range(24)]
    blocks = Function.from_cubes(Cubes.from_rows(48, 1, rows))
    cover = minimise(blocks, "own")
    assert "OFF set is too large" in cover.note
    assert implements(blocks, cover.cubes)


def test_what_does_not_verify_is_discarded_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Cubes.from_rows(11, 6, [("-" * 11, "111111")])
    monkeypatch.setattr(improve, "improve", lambda *_: (wrong, 1))
    table = robot_table("T12")
    cover = minimise(table, "own")
    assert "own's cover is discarded: output" in cover.note
    assert (cover.method, cover.proved) == ("isop", False)
    assert implements(Function.from_dense(table), cover.cubes)


def test_without_espresso_the_irredundant_sum_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espresso, "find_spec", lambda _: None)
    cover = minimise(robot_table("T12"), "espresso")
    assert cover.method == "isop"
    assert "pyeda is not installed" in cover.note


def test_an_unknown_method_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'espresso'"):
        minimise(robot_table("T13"), "expresso")


@pytest.mark.slow
def test_the_cover_is_the_same_in_any_process() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from twolevel.robot_tables import table\n"
        "from boolcomp.twolevel.minimise import minimise\n"
        "print(repr(minimise(table('T13'), 'own').cubes))\n"
    )
    here = str(Path(__file__).parent.parent)
    texts = [
        subprocess.run(
            [sys.executable, "-c", program, here],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1] != ""


@pytest.mark.parametrize("method", ["isop", "own", "exact", "espresso"])
@pytest.mark.parametrize("inputs", [3, 30])
def test_what_need_not_be_covered_takes_no_product(method: str, inputs: int) -> None:
    """Two don't-cares hold together what ON says of the first output; the second is free too."""
    rest = "-" * (inputs - 2)
    on = Cubes.from_rows(inputs, 2, [("11" + rest, "10"), ("0-" + rest, "01")])
    dc = [("1-" + rest[1:] + "0", "10"), ("1-" + rest[1:] + "1", "10"), ("--" + rest, "01")]
    cover = minimise(Function.from_cubes(on, Cubes.from_rows(inputs, 2, dc)), method)
    assert (cover.products, cover.lower_bound, cover.proved) == (0, 0, True)


@pytest.mark.parametrize("method", ["isop", "own", "exact"])
def test_nor_where_the_off_set_is_out_of_reach(method: str) -> None:
    rows = [("-" * 2 * i + "11" + "-" * (46 - 2 * i), "1") for i in range(24)]
    on = Cubes.from_rows(48, 1, [("111" + "-" * 45, "1")])
    cover = minimise(Function.from_cubes(on, Cubes.from_rows(48, 1, rows)), method)
    assert (cover.products, cover.lower_bound, cover.proved) == (0, 0, True)


@pytest.mark.slow
def test_contained_cubes_go_although_the_off_set_is_out_of_reach() -> None:
    rows = [("-" * 2 * i + "11" + "-" * (46 - 2 * i), "1") for i in range(24)]
    smaller = [(term[:-2] + "00" if term[-1] == "-" else "00" + term[2:], o) for term, o in rows]
    for method in ("isop", "own"):
        cover = minimise(Function.from_cubes(Cubes.from_rows(48, 1, rows + smaller)), method)
        assert sorted(cover.cubes.rows()) == sorted(rows)


def test_products_grow_within_on_and_dont_care_where_the_off_set_is_out_of_reach() -> None:
    rows = [("-" * 2 * i + "11" + "-" * (46 - 2 * i), "1") for i in range(24)]
    halves = [(("0" if rows[i][0][0] == "-" else "") + term[1:], o) if term[0] == "-" else
              (term, o) for i, (term, o) in enumerate(rows)]  # fmt: skip
    others = [("1" + term[1:], "-") for term, _ in rows if term[0] == "-"]
    function = Function.from_cubes(
        Cubes.from_rows(48, 1, halves),
        Cubes.from_rows(48, 1, [(term, "1") for term, _ in others]),
    )
    cover = minimise(function, "own")
    assert (cover.products, cover.literals) == (24, 48)
    assert implements(function, cover.cubes)


def test_many_outputs_are_not_weighed_again_for_every_output_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sweep = sweep_kernels.sweep
    drawn = []  # random numbers in each sweep: one for every candidate weighed

    def counted(state: sweep_kernels.State, *more: Any) -> bool:
        noise = state.noise.copy()
        done = bool(sweep(state, *more))
        drawn.append(0)
        while noise[0] != state.noise[0] and drawn[-1] <= 4 * 5 * 81:
            sweep_kernels.random(noise)
            drawn[-1] += 1
        return done

    monkeypatch.setattr(sweep_kernels, "sweep", counted)
    minimise(random_table(np.random.default_rng(1), 4, 2048, 0.5, 0.1), "own")
    assert max(drawn) <= 4 * 5 * 81  # there are 81 cubes


def test_a_table_too_large_to_improve_is_not_listed_beyond_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = random_table(np.random.default_rng(1), 6, 3, 0.3, 0.5)
    monkeypatch.setattr(improve, "suits", lambda _: False)
    assert minimise(table, "own").method == "own"
    whole = isop.isop
    seen: list[bool] = []

    def clocked(planes: Dense, clock: Clock | None = None) -> Cubes | None:
        seen.append(clock is not None)
        return whole(planes) if len(seen) == 1 else None

    monkeypatch.setattr(isop, "isop", clocked)
    cover = minimise(table, "own")
    assert (cover.method, seen) == ("isop", [True, True])
