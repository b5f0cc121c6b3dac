"""Minima are compared with every choice among all primes, and with minima known otherwise.

Primes are compared with all implicants; covers by points that products hold, with lists of primes.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twolevel.strategies import (
    Rows,
    as_lists,
    cubes_of,
    functions,
    implements,
    of_rows,
    points,
    random_table,
    robot_table,
    slow_minimum,
    slow_primes,
)  # fmt: skip

from boolcomp.twolevel import Clock, Cover, Cubes, Function, minimise
from boolcomp.twolevel import primes as prime_module
from boolcomp.twolevel.cubes import Shape
from boolcomp.twolevel.exact import minimise_exact, warm_exact
from boolcomp.twolevel.primes import PrimesTooManyError, all_primes
from boolcomp.twolevel.unlisted import Gatherer

LATER = Clock()
small = st.tuples(st.integers(0, 4), st.integers(0, 3)).flatmap(lambda shape: cubes_of(*shape, 8))


def primes_of(cubes: Cubes, limit: int = 10_000) -> Rows:
    rows = cubes.shape.cubes(all_primes(cubes.valid_rows(), cubes.shape, limit, LATER)).rows()
    assert len(rows) == len(set(rows))
    return rows


@given(small, st.booleans())
def test_all_primes_with_their_outputs_are_found_and_nothing_else(
    cubes: Cubes,
    split: bool,  # noqa: FBT001 (drawn: to the last input, or to leaves)
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if split:
            patch.setattr(prime_module, "LEAF_INPUTS", 0)
        assert set(primes_of(cubes)) == slow_primes(cubes)


def test_primes_of_seventy_inputs_and_outputs_use_several_words() -> None:
    wide = [("1" * 35 + "-" * 34 + "0", "1" * 70), ("-" * 69 + "1", "1" + "0" * 69)]
    consensus = ("1" * 35 + "-" * 35, "1" + "0" * 69)
    assert set(primes_of(Cubes.from_rows(70, 70, wide))) == {*wide, consensus}
    rows = [("11", "1" * 66), ("1-", "0" * 65 + "1")]
    assert set(primes_of(Cubes.from_rows(2, 66, rows))) == set(rows)


def test_too_many_primes_and_too_little_time_are_errors() -> None:
    odd = [(p, "1") for p in points(4) if p.count("1") % 2]
    with pytest.raises(PrimesTooManyError, match="more than 7 primes"):
        primes_of(Cubes.from_rows(4, 1, odd), limit=7)
    noise = np.random.default_rng(1)
    rows = [("".join(noise.choice(list("01---"), 40)), "1") for _ in range(200)]
    some = Cubes.from_rows(40, 1, rows).valid_rows()
    with pytest.raises(PrimesTooManyError, match="time ended"):
        all_primes(some, Shape(40, 1), 10**6, Clock(0.1))


def tabulated(inputs: int, outputs: int, word: Callable[[int], int]) -> Function:
    """Return the function whose output word is that of the input word, bit for bit."""
    return of_rows(*((f"{x:0{inputs}b}", f"{word(x):0{outputs}b}") for x in range(1 << inputs)))


def proved(function: Function, **more: Any) -> tuple[int, int]:
    """Minimise, check all that a proved cover promises, and return products and literals."""
    cover = minimise_exact(function, function.on, 60, **more)
    assert implements(function, cover.cubes)
    assert cover.proved
    assert cover.lower_bound == cover.products
    assert (cover.note, cover.method) == ("", "exact") or more
    return cover.products, cover.literals


@given(functions(3), st.booleans())
def test_products_and_then_literals_are_the_fewest(
    function: Function,
    lazy: bool,  # noqa: FBT001 (drawn: the search for wide functions)
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if lazy:
            patch.setattr("boolcomp.twolevel.primes.TABLE_POINTS", -1)
        assert proved(function) == slow_minimum(function)


@given(functions(3))
@settings(max_examples=30)
def test_what_a_given_off_set_leaves_open_is_used(function: Function) -> None:
    keep = np.arange(len(function.off)) % 2 == 0
    partial = Function.from_cubes(function.on, off=function.off.take(keep))
    least = slow_minimum(Function.from_dense(partial.dense))[0]
    for one in (partial, as_lists(partial)):
        cover = minimise_exact(one, one.on, 60)
        assert implements(partial, cover.cubes)
        assert cover.products == least


@pytest.mark.parametrize(("function", "products", "literals"), [
    (tabulated(5, 1, lambda x: x.bit_count() & 1), 16, 80),  # parity needs every odd point
    (tabulated(7, 1, lambda x: int(x.bit_count() > 3)), 35, 140),  # a majority: all sets of four
    (tabulated(5, 3, int.bit_count), 31, None),  # counting ones: as many as points but one
    (of_rows(*((f"{way:05b}" + "-" * way + "1" + "-" * (31 - way), "1") for way in range(32))),
     32, 192),  # a multiplexer of 37 inputs
    *(pytest.param(*row, marks=pytest.mark.check) for row in (
        (tabulated(12, 7, lambda x: (x >> 6) + (x & 63)), 355, 2196),  # six and six bits added
        (tabulated(7, 3, int.bit_count), 127, None),
        # A hard cyclic core: 1680 primes, none essential; Espresso finds 86.
        (tabulated(9, 1, lambda x: int(3 <= x.bit_count() <= 6)), 84, None),
        # Seventy inputs: ten copies of "not all equal" over inputs of their own, 3 products each.
        (of_rows(*(("-" * 3 * k + term + "-" * (67 - 3 * k), "1") for k in range(10)
                   for term in ("10-", "1-0", "01-", "-10", "0-1", "-01"))), 30, 60),
    )),
])  # fmt: skip
def test_known_minima_are_proved(function: Function, products: int, literals: int | None) -> None:
    found = proved(function)
    assert found == (products, literals or found[1])


@pytest.mark.slow
@pytest.mark.parametrize(("name", "faithful", "products"), [
    ("T13", False, 32), ("T15", False, 78), ("T13", True, 18), ("T15", True, 51),
    *(pytest.param(*row, marks=pytest.mark.check) for row in (
        ("T24", False, 111), ("T24", True, 53), ("T12", False, 173), ("T12", True, 68),
    )),
])  # fmt: skip
def test_minima_of_the_arms_tables_are_proved(name: str, *, faithful: bool, products: int) -> None:
    table = Function.from_dense(robot_table(name, faithful=faithful))
    assert proved(table)[0] == products


def ended(cover: Cover) -> None:
    assert not cover.proved
    assert 0 < cover.lower_bound < cover.products
    assert cover.note


@pytest.mark.check
def test_the_deadline_brings_the_best_cover_and_a_bound() -> None:
    function = Function.from_dense(random_table(np.random.default_rng(4), 10, 6, 0.4, 0.5))
    cover = minimise_exact(
        function, function.on, 2.0
    )  # its primes are known after 0.3 on a quiet machine
    ended(cover)
    assert implements(function, cover.cubes)
    assert cover.products < 1.1 * cover.lower_bound


def way(choice: int, inputs: int = 12) -> str:
    """Return the product of a way of a selector: two address inputs, and the data input chosen."""
    data = ["-"] * (inputs - 2)
    data[choice] = "1"
    return f"{choice >> 1}{choice & 1}{''.join(data)}"


WAYS = [(way(choice), "1") for choice in range(4)]
NEEDLESS = ("0-11" + "-" * 8, "1")  # between the first two ways: a prime that nobody needs
# Six primes, none needed, of which three do, and an output of its own.
RING = [(f"{term}{'-' * 9}", "10") for term in ("00-", "-01", "1-1", "11-", "-10", "0-0")]
RING += [("-" * 3 + "1" * 9, "01")]


@pytest.mark.parametrize(("rows", "start", "least", "note"), [
    ([*WAYS, NEEDLESS], WAYS, 4, ""),
    (RING, [RING[0], RING[2], RING[4], RING[6]], 4, "the literals were not proved minimal"),
])  # fmt: skip
def test_a_start_is_proved_a_minimum_without_a_list_of_primes(
    rows: Rows, start: Rows, least: int, note: str
) -> None:
    given = Cubes.from_rows(12, len(start[0][1]), start)
    cover = minimise_exact(of_rows(*rows), given, 20.0, prime_limit=0)
    assert (cover.proved, cover.lower_bound, cover.note) == (True, least, note)
    assert len(cover.cubes) == least


@pytest.mark.slow
def test_too_many_primes_leave_the_start_with_a_bound() -> None:
    function = tabulated(11, 1, lambda x: x * x * 2_654_435_761 >> 17 & 1)
    start = minimise(function, "isop").cubes
    cover = minimise_exact(function, start, 0.5, prime_limit=5)
    ended(cover)
    assert (cover.method, cover.products) == ("given", len(start))
    assert "more than 5 primes" in cover.note


def test_warming_takes_what_time_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10**9, 100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))  # 100 s between two looks
    warm_exact.__wrapped__()


def drawn(seed: int, inputs: int, outputs: int) -> Function:
    return Function.from_dense(random_table(np.random.default_rng(seed), inputs, outputs, 0.5, 0.2))


@pytest.mark.slow
@pytest.mark.parametrize(("seeds", "inputs"), [(range(6), 4), (range(100, 115), 5)])
def test_as_many_products_are_proved_by_points_as_by_a_list_of_primes(
    seeds: range, inputs: int
) -> None:
    for seed in seeds:
        function = drawn(seed, inputs, 1 + seed % 3)
        assert proved(function, prime_limit=0)[0] == proved(function)[0]


def test_at_the_end_of_the_time_it_stops_with_what_is_proved() -> None:
    function = drawn(3, 4, 1)
    on, dc, off = (one.valid_rows() for one in (function.on, function.dc, function.off))
    found = Gatherer(on, dc, off, Shape(4, 1))
    assert not found.search(Clock(0))
    assert found.bound == 1
    assert found.search(LATER)
    assert found.bound == len(found.best) == minimise_exact(function, function.on, 60).products
