"""Minimum covers by the points that products hold, against lists of all primes and by hand."""

from __future__ import annotations

import itertools
import math
import time

import numpy as np
import pytest

from boolcomp.twolevel import gather, gather_kernels
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.exact import minimise_exact
from boolcomp.twolevel.gather import Gatherer, Gathering, TooManySetsError, grown
from boolcomp.twolevel.packed import Shape, packed, unpacked
from boolcomp.twolevel.verify import verify
from boolcomp.twolevel.witness import SearchEndedError

LATER = math.inf  # of `time.monotonic`


def drawn(seed: int, inputs: int, outputs: int) -> Function:
    """Return a random function, a part of it don't-cares."""
    random = np.random.default_rng(seed)
    letters = random.choice(["0", "1", "-"], p=[0.4, 0.4, 0.2], size=(1 << inputs, outputs))
    rows = [(f"{x:0{inputs}b}", "".join(row)) for x, row in enumerate(letters)]
    kinds = [
        Cubes.from_rows(
            inputs, outputs, [(x, "".join(str(int(c == kind)) for c in row)) for x, row in rows]
        )
        for kind in "1-"
    ]
    return Function.from_cubes(*kinds)


def points(inputs: int, *texts: str, outputs: int = 1) -> np.ndarray:
    """Return packed points: values of the inputs, then `/`, then outputs (the first if none)."""
    rows = [(text.split("/")[0], text.partition("/")[2] or "1") for text in texts]
    return packed(Cubes.from_rows(inputs, outputs, rows))


def members(found: Gathering) -> set[frozenset[int]]:
    """Return the columns as sets of numbers of rows."""
    matrix = found.matrix.turned
    parts = itertools.pairwise(matrix.starts.tolist())
    return {frozenset(matrix.indices[a:b].tolist()) for a, b in parts}


@pytest.mark.parametrize("seed", range(6))
def test_it_proves_as_many_products_as_a_list_of_all_primes_does(seed: int) -> None:
    function = drawn(seed, 4, 2)
    listed = minimise_exact(function, 60)
    gathered = minimise_exact(function, 60, prime_limit=0)
    assert listed.proved
    assert gathered.proved
    assert gathered.products == gathered.lower_bound == listed.products
    assert verify(function, gathered.cubes) is None


@pytest.mark.slow
def test_so_it_does_on_many_functions() -> None:
    for seed in range(100, 140):
        function = drawn(seed, 5, 1 + seed % 3)
        listed = minimise_exact(function, 60)
        gathered = minimise_exact(function, 60, prime_limit=0)
        assert (gathered.products, gathered.proved) == (listed.products, True)
        assert verify(function, gathered.cubes) is None


def test_columns_are_the_largest_sets_that_a_product_can_hold() -> None:
    shape = Shape(3, 1)
    found = Gathering(points(3, "111"), shape)
    found.add(points(3, "000", "011"), LATER)
    found.add(points(3, "101", "110"), LATER)  # two of the last three meet 111
    assert members(found) == {frozenset({0, k}) for k in (1, 2, 3)}


def test_points_of_two_outputs_are_held_where_both_outputs_allow_it() -> None:
    shape = Shape(2, 2)
    off = packed(Cubes.from_rows(2, 2, [("10", "01")]))
    found = Gathering(off, shape)
    found.add(points(2, "00/10", "10/10", "00/01", outputs=2), LATER)
    assert members(found) == {frozenset({0, 1}), frozenset({0, 2})}


def test_a_cube_that_grows_stops_at_off_and_takes_literals_before_outputs() -> None:
    shape = Shape(3, 2)
    off = packed(Cubes.from_rows(3, 2, [("11-", "10"), ("0--", "01")]))
    cube = points(3, "000/10", outputs=2)
    assert list(unpacked(grown(cube, off, shape, LATER), shape).rows()) == [("-0-", "10")]
    with pytest.raises(SearchEndedError):
        grown(cube, off, shape, time.monotonic() - 1)


def test_too_many_ways_to_hold_points_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "LEAST_ROOM", 4)
    monkeypatch.setattr(gather, "MOST_ROOM", 4)
    odd = [f"{x:05b}" for x in range(32) if x.bit_count() == 3]
    even = [f"{x:05b}" for x in range(32) if x.bit_count() == 4]
    found = Gathering(points(5, *even), Shape(5, 1))
    with pytest.raises(TooManySetsError):
        found.add(points(5, *odd, "00000"), LATER)


def test_at_the_end_of_the_time_it_stops_with_what_is_proved() -> None:
    function = drawn(3, 4, 1)
    shape = Shape(4, 1)
    found = Gatherer(packed(function.on), packed(function.dc), packed(function.off), shape)
    assert not found.search(time.monotonic() - 1)
    assert found.bound == 1
    with pytest.raises(SearchEndedError):
        found._alone(time.monotonic() - 1)  # noqa: SLF001 (where the time ends first)
    assert found.search(LATER)
    assert found.bound == len(found.best) == minimise_exact(function, 60).products


def test_a_set_is_entered_once() -> None:
    sets = gather_kernels.new_sets(8, 2)
    one, other = np.array([1, 2], np.uint64), np.array([2, 1], np.uint64)
    assert [gather_kernels.enter(sets, x) for x in (one, other, one)] == [True, True, False]
    assert sets.size[0] == 2
