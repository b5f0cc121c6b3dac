"""Products chosen out of a pool, primes grown at random for it; the oracle looks at all points."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.twolevel import list_sweep_kernels as kernels
from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.improve_lists import improve_lists
from boolcomp.twolevel.pooled import Pool
from boolcomp.twolevel.scatter_kernels import grow_at_random

if TYPE_CHECKING:
    from collections.abc import Sequence

INPUTS, OUTPUTS = 5, 3


def points(rows: Sequence[tuple[str, str]]) -> set[tuple[str, int]]:
    """Return all (point, output) that some row holds."""
    return {
        (point, j)
        for term, owners in rows
        for point in map("".join, itertools.product("01", repeat=INPUTS))
        if all(a in {"-", b} for a, b in zip(term, point, strict=True))
        for j, letter in enumerate(owners)
        if letter == "1"
    }


def random_rows(chooser: np.random.Generator, count: int) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    while len(rows) < count:
        term = "".join(chooser.choice(list("01-"), INPUTS))
        owners = "".join(chooser.choice(["0", "1"], OUTPUTS))
        rows += [(term, owners)] * ("1" in owners)
    return rows


def listed(function: Function) -> Function:
    function.__dict__["is_dense"] = False  # as if it had too many inputs for tables
    return function


@pytest.mark.parametrize("seed", range(6))
def test_the_fewest_of_a_pool_are_those_that_looking_at_all_choices_finds(seed: int) -> None:
    chooser = np.random.default_rng(seed)
    rows = random_rows(chooser, 6)
    wanted = points(rows)
    pool_rows = [*rows, *(row for row in random_rows(chooser, 40) if points([row]) <= wanted)]
    function = listed(Function.from_cubes(Cubes.from_rows(INPUTS, OUTPUTS, rows)))
    pool = Pool(function)
    pool.add(Cubes.from_rows(INPUTS, OUTPUTS, pool_rows))
    found = pool.fewest(Clock())
    assert found is not None
    assert points(found.rows()) == wanted
    fewest = next(
        size
        for size in range(len(rows) + 1)
        for chosen in itertools.combinations(set(pool_rows), size)
        if points(chosen) == wanted
    )
    assert len(found) == fewest


def test_a_pool_counts_what_is_new_and_time_that_is_over_gives_nothing() -> None:
    function = listed(Function.from_cubes(Cubes.from_rows(INPUTS, OUTPUTS, [("1----", "100")])))
    pool = Pool(function)
    assert pool.add(function.on) == 1
    assert pool.add(function.on) == 0
    assert pool.fewest(Clock(-1)) is None


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_cube_grown_at_random_is_a_prime(seed: int, share: float) -> None:
    chooser = np.random.default_rng(seed)
    rows = random_rows(chooser, 5)
    function = Function.from_cubes(Cubes.from_rows(INPUTS, OUTPUTS, rows))
    wanted = points(rows)
    on, off = function.on, function.off
    s = kernels.Lists(
        on.zero.copy(), on.one.copy(), on.out.copy(), np.array([len(on)]),
        off.zero, off.one, off.out, np.array([seed + 1], np.uint64),
    )  # fmt: skip
    for c in range(len(on)):
        grow_at_random(s, c, INPUTS, OUTPUTS, share, np.zeros_like(off.zero))
    grown = Cubes(INPUTS, OUTPUTS, s.zero, s.one, s.out)
    for before, (term, owners) in zip(on.rows(), grown.rows(), strict=True):
        assert points([before]) <= points([(term, owners)]) <= wanted
        wider = [f"{term[:k]}-{term[k + 1 :]}" for k in range(INPUTS) if term[k] != "-"]
        assert not any(points([(one, owners)]) <= wanted for one in wider)
        more = [f"{owners[:j]}1{owners[j + 1 :]}" for j in range(OUTPUTS) if owners[j] == "0"]
        assert not any(points([(term, one)]) <= wanted for one in more)


@pytest.mark.parametrize("seed", range(4))
def test_the_same_lists_are_improved_to_the_same_cover_which_is_one(seed: int) -> None:
    rows = random_rows(np.random.default_rng(100 + seed), 12)
    made = []
    for _ in range(2):
        function = listed(Function.from_cubes(Cubes.from_rows(INPUTS, OUTPUTS, rows)))
        made.append(improve_lists(function, function.on, Clock()).rows())
    assert made[0] == made[1]
    assert points(made[0]) == points(rows)
