"""Minima are compared with every choice among all primes, and with minima known otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twolevel.robot_tables import table
from twolevel.strategies import as_lists, cubes_of, implements, points, random_table, values
from twolevel.test_primes import slow_primes

from boolcomp.twolevel import exact
from boolcomp.twolevel import isop as isop_module
from boolcomp.twolevel.cover import Cover, Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.exact import minimise_exact
from boolcomp.twolevel.isop import minterms
from boolcomp.twolevel.minimise import minimise
from boolcomp.twolevel.warm_exact import warm_exact

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWERS = {"T13": 32, "T15": 78, "T24": 111, "T12": 173}
FAITHFUL = {"T13": 18, "T15": 51, "T24": 53, "T12": 68}


@st.composite
def small_functions(draw: st.DrawFn) -> Function:
    inputs, outputs = draw(st.integers(0, 3)), draw(st.integers(1, 3))
    on, dc = draw(cubes_of(inputs, outputs, 7)), draw(cubes_of(inputs, outputs, 3))
    return Function.from_cubes(on, dc)


def slow_minimum(function: Function) -> tuple[int, int]:
    """Return the fewest products, and the fewest literals of so few, by trying everything."""
    wanted = set()
    for point in points(function.inputs):
        pairs = zip(values(function.on, point), values(function.dc, point), strict=True)
        wanted |= {(point, j) for j, (on, dc) in enumerate(pairs) if on == "1" and dc == "0"}
    primes = sorted(slow_primes(function.on.joined(function.dc)))
    held = [
        {
            (point, j)
            for point, j in wanted
            if owners[j] == "1" and all(a in ("-", b) for a, b in zip(term, point, strict=True))
        }
        for term, owners in primes
    ]
    cost = [len(term) - term.count("-") for term, _ in primes]
    for size in range(len(primes) + 1):
        sums = [
            sum(cost[k] for k in chosen)
            for chosen in combinations(range(len(primes)), size)
            if wanted <= set().union(*(held[k] for k in chosen))
        ]
        if sums:
            return size, min(sums)
    raise AssertionError


def tabulated(inputs: int, outputs: int, word: Callable[[int], int]) -> Function:
    """Return the function whose output word is that of the input word, bit for bit."""
    rows = [(f"{x:0{inputs}b}", f"{word(x):0{outputs}b}") for x in range(1 << inputs)]
    return Function.from_cubes(Cubes.from_rows(inputs, outputs, rows))


def proved(function: Function, deadline: float = 60) -> tuple[int, int]:
    """Minimise, check all that a proved cover promises, and return products and literals."""
    cover = minimise_exact(function, deadline)
    assert implements(function, cover.cubes)
    assert cover.proved
    assert cover.lower_bound == cover.products
    assert cover.note == ""
    assert cover.method == "exact"
    return cover.products, cover.literals


@given(small_functions())
def test_products_and_then_literals_are_the_fewest(function: Function) -> None:
    assert proved(function) == slow_minimum(function)


@given(small_functions())
@settings(max_examples=40)
def test_the_lazy_search_for_wide_functions_finds_the_same_minimum(function: Function) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.twolevel.points.TABLE_POINTS", -1)
        assert proved(function) == slow_minimum(function)


@given(small_functions())
@settings(max_examples=30)
def test_what_a_given_off_set_leaves_open_is_used(function: Function) -> None:
    on, off = function.on, function.off
    keep = np.arange(len(off)) % 2 == 0
    partial = Function.from_cubes(on, off=off.take(keep))
    cover = minimise_exact(partial, 60)
    assert implements(partial, cover.cubes)
    lists = minimise_exact(as_lists(partial), 60)
    free = Function.from_dense(partial.dense)
    assert (cover.products, lists.products) == (slow_minimum(free)[0],) * 2


def test_products_are_shared_between_outputs_and_spared_where_they_are_idle() -> None:
    rows = [("11-", "10"), ("-11", "01"), ("111", "11")]
    cover = minimise_exact(Function.from_cubes(Cubes.from_rows(3, 2, rows)), 60)
    assert cover.cubes.rows() == [("-11", "01"), ("11-", "10")]


@pytest.mark.parametrize("outputs", [0, 1, 3])
def test_a_function_that_is_never_1_needs_no_product(outputs: int) -> None:
    cover = minimise_exact(Function.from_cubes(Cubes.empty(4, outputs)), 60)
    assert (cover.products, cover.proved, cover.lower_bound) == (0, True, 0)


def test_parity_needs_every_odd_point() -> None:
    assert proved(tabulated(5, 1, lambda x: x.bit_count() & 1)) == (16, 80)


def test_a_majority_of_seven_needs_all_sets_of_four() -> None:
    assert proved(tabulated(7, 1, lambda x: int(x.bit_count() > 3))) == (35, 140)


def test_the_adder_of_two_words_of_six_bits_needs_355_products() -> None:
    assert proved(tabulated(12, 7, lambda x: (x >> 6) + (x & 63))) == (355, 2196)


@pytest.mark.parametrize(("inputs", "products"), [(5, 31), (7, 127)])
def test_counting_ones_needs_as_many_products_as_there_are_points_but_one(
    inputs: int, products: int
) -> None:
    assert proved(tabulated(inputs, 3, int.bit_count))[0] == products


@pytest.mark.slow
def test_nine_inputs_with_three_to_six_ones_need_84_products() -> None:
    # A hard cyclic core: 1680 primes, none essential; Espresso finds 86.
    assert proved(tabulated(9, 1, lambda x: int(3 <= x.bit_count() <= 6)))[0] == 84


def test_a_multiplexer_of_37_inputs_needs_a_product_for_each_of_its_32_ways() -> None:
    rows = [(f"{way:05b}" + "-" * way + "1" + "-" * (31 - way), "1") for way in range(32)]
    assert proved(Function.from_cubes(Cubes.from_rows(37, 1, rows))) == (32, 192)


@pytest.mark.slow
def test_seventy_inputs_are_no_obstacle() -> None:
    # Ten copies of f(a, b, c) = "not all equal" over inputs of their own: 3 products each.
    rows = [
        ("-" * 3 * k + term + "-" * (67 - 3 * k), "1")
        for k in range(10)
        for term in ("10-", "1-0", "01-", "-10", "0-1", "-01")
    ]
    function = Function.from_cubes(Cubes.from_rows(70, 1, rows))
    assert proved(function) == (30, 60)


@pytest.mark.slow
@pytest.mark.parametrize("name", ANSWERS)
def test_minima_of_the_arm_s_tables_are_proved(name: str) -> None:
    assert proved(Function.from_dense(table(name)))[0] == ANSWERS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", FAITHFUL)
def test_minima_of_the_arm_s_faithful_tables_are_proved(name: str) -> None:
    assert proved(Function.from_dense(table(name, faithful=True)))[0] == FAITHFUL[name]


def overrun(cover: Cover, deadline: float, begin: float) -> None:
    # Of this process alone: the deadline is one of the clock, of which others may take a share.
    assert time.process_time() - begin < 1.1 * deadline + 1.0
    assert not cover.proved
    assert 0 < cover.lower_bound < cover.products
    assert cover.note


@pytest.mark.slow
def test_the_deadline_brings_the_best_cover_and_a_bound() -> None:
    function = Function.from_dense(random_table(np.random.default_rng(4), 10, 6, 0.4, 0.5))
    warm_exact()
    begin = time.process_time()
    cover = minimise_exact(function, 2.0)  # its primes are known after 0.3 on a quiet machine
    overrun(cover, 2.0, begin)
    assert implements(function, cover.cubes)
    assert cover.products < 1.1 * cover.lower_bound


def way(choice: int, inputs: int = 12) -> str:
    """Return the product of a way of a selector: two address inputs, and the data input chosen."""
    data = ["-"] * (inputs - 2)
    data[choice] = "1"
    return f"{choice >> 1}{choice & 1}{''.join(data)}"


def test_primes_that_every_cover_has_prove_a_minimum_without_a_list_of_primes() -> None:
    rows = [(way(choice), "1") for choice in range(4)]
    consensus = ("0-11" + "-" * 8, "1")  # between the first two ways: a prime that nobody needs
    function = Function.from_cubes(Cubes.from_rows(12, 1, [*rows, consensus]))
    start = Cubes.from_rows(12, 1, rows)
    cover = minimise_exact(function, 20.0, start=start, prime_limit=0)
    assert (cover.proved, cover.lower_bound, cover.note) == (True, 4, "")
    assert sorted(cover.cubes.rows()) == sorted(rows)


def test_what_such_primes_leave_takes_one_product_at_least_and_two_points_apart_take_two() -> None:
    ring = ["00-", "-01", "1-1", "11-", "-10", "0-0"]  # six primes, none needed, of which three do
    rows = [(f"{term}{'-' * 9}", "10") for term in ring]
    rows += [("-" * 3 + "1" * 9, "01")]
    function = Function.from_cubes(Cubes.from_rows(12, 2, rows))
    start = Cubes.from_rows(12, 2, [rows[0], rows[2], rows[4], rows[6]])
    cover = minimise_exact(function, 20.0, start=start, prime_limit=0)
    assert (cover.proved, cover.lower_bound, len(cover.cubes)) == (True, 4, 4)
    assert cover.note == "the literals were not proved least"


def test_one_product_more_than_needed_is_found_without_a_list_of_primes() -> None:
    rest = "-" * 9
    on = Cubes.from_rows(12, 1, [(f"001{rest}", "1"), (f"011{rest}", "1")])
    free = Cubes.from_rows(12, 1, [(f"000{rest}", "1"), (f"111{rest}", "1")])
    two = Cubes.from_rows(12, 1, [(f"00-{rest}", "1"), (f"-11{rest}", "1")])  # 0-1 would do
    cover = minimise_exact(Function.from_cubes(on, free), 20.0, start=two, prime_limit=0)
    assert (cover.proved, cover.lower_bound, cover.products) == (True, 1, 1)


def test_too_many_primes_leave_the_start_with_a_bound() -> None:
    function = tabulated(11, 1, lambda x: x * x * 2_654_435_761 >> 17 & 1)
    start = minimise(function, "isop").cubes
    begin = time.process_time()
    cover = minimise_exact(function, 1.0, start=start, prime_limit=5)
    overrun(cover, 1.0, begin)
    assert cover.method == "given"
    assert "more than 5 primes" in cover.note
    assert 1 < cover.lower_bound < cover.products == len(start)


def test_points_that_no_product_joins_can_prove_a_minimum_without_primes() -> None:
    function = tabulated(4, 1, lambda x: x.bit_count() & 1)
    cover = minimise_exact(function, 5.0, prime_limit=2)
    assert (cover.products, cover.lower_bound, cover.proved) == (8, 8, True)


@pytest.mark.slow
def test_a_start_better_than_what_time_allows_is_kept() -> None:
    function = Function.from_dense(table("T24"))
    start = minimise_exact(function, 60).cubes
    cover = minimise_exact(function, 0.05, start=start)
    assert cover.products == len(start)
    assert implements(function, cover.cubes)


def test_a_start_that_is_no_cover_is_refused() -> None:
    function = tabulated(3, 1, lambda x: int(x == 7))
    for rows in ([], [("---", "1")]):
        for twin in (function, as_lists(function)):
            with pytest.raises(ValueError, match="not a cover: output 0 at inputs"):
                minimise_exact(twin, 5, start=Cubes.from_rows(3, 1, rows))


PROGRAM = """
from twolevel.robot_tables import table
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.exact import minimise_exact
print(minimise_exact(Function.from_dense(table("T24")), 60).cubes)
"""


@pytest.mark.slow
def test_the_same_cover_comes_out_whatever_the_hash_seed() -> None:
    printed = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": "tests:."}
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
        )
        printed.add(run.stdout)
    assert len(printed) == 1


def test_warming_takes_what_time_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 10**9, 100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(now)))  # 100 s between two looks
    warm_exact.__wrapped__()


def test_a_table_that_no_time_is_left_for_is_not_drawn_up_as_a_sum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = Function.from_dense(random_table(np.random.default_rng(1), 5, 2, 0.5, 0.3))
    start = minterms(function.dense)
    monkeypatch.setattr(exact, "_sound", lambda *_: None)
    monkeypatch.setattr(exact, "isop", lambda *_: None)
    monkeypatch.setattr(isop_module, "isop", lambda *_: pytest.fail("no clock"))
    for cover in (start, None):
        assert minimise_exact(function, 1.0, start=cover).cubes.rows() == start.rows()
