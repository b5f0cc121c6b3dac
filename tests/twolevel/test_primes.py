"""The primes of small functions are compared with all implicants, listed the slow way."""

from __future__ import annotations

import contextlib
import math
import time
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twolevel.strategies import cubes_of, points, values

from boolcomp.twolevel import prime_kernels
from boolcomp.twolevel import primes as prime_module
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.packed import Shape, packed, unpacked
from boolcomp.twolevel.primes import Budget, PrimesTooManyError, all_primes, merged

small = st.tuples(st.integers(0, 4), st.integers(0, 3)).flatmap(lambda shape: cubes_of(*shape, 8))


def primes_of(cubes: Cubes, limit: int = 10_000) -> set[tuple[str, str]]:
    shape = Shape(cubes.inputs, cubes.outputs)
    found = all_primes(packed(cubes), shape, limit, time.monotonic() + 60)
    rows = unpacked(found, shape).rows()
    assert len(rows) == len(set(rows))
    return set(rows)


def slow_primes(cubes: Cubes) -> set[tuple[str, str]]:
    """Return the implicants that lie in no other."""
    truth = {point: values(cubes, point) for point in points(cubes.inputs)}
    implicants = []
    for term in map("".join, product("01-", repeat=cubes.inputs)):
        held = [p for p in truth if all(a in ("-", b) for a, b in zip(term, p, strict=True))]
        owners = "".join(
            str(int(all(truth[p][j] == "1" for p in held))) for j in range(cubes.outputs)
        )
        if "1" in owners:
            implicants.append((term, owners))

    def lies_in(a: tuple[str, str], b: tuple[str, str]) -> bool:
        return all(y in ("-", x) for x, y in zip(a[0], b[0], strict=True)) and all(
            x <= y for x, y in zip(a[1], b[1], strict=True)
        )

    return {a for a in implicants if not any(a != b and lies_in(a, b) for b in implicants)}


@given(small)
def test_all_primes_with_their_outputs_are_found_and_nothing_else(cubes: Cubes) -> None:
    assert primes_of(cubes) == slow_primes(cubes)


@given(small)
@settings(max_examples=40)
def test_splitting_to_the_last_input_finds_the_same_primes(cubes: Cubes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prime_module, "LEAF_INPUTS", 0)
        assert primes_of(cubes) == slow_primes(cubes)


def test_primes_of_a_function_of_seventy_inputs_and_outputs_use_several_words() -> None:
    wide = Cubes.from_rows(
        70,
        70,
        [
            ("1" * 35 + "-" * 34 + "0", "1" * 70),
            ("-" * 69 + "1", "1" + "0" * 69),
        ],
    )
    assert primes_of(wide) == {
        ("1" * 35 + "-" * 34 + "0", "1" * 70),
        ("-" * 69 + "1", "1" + "0" * 69),
        ("1" * 35 + "-" * 35, "1" + "0" * 69),
    }


def test_a_function_of_more_than_64_outputs_has_its_outputs_told_apart() -> None:
    cubes = Cubes.from_rows(2, 66, [("11", "1" * 66), ("1-", "0" * 65 + "1")])
    assert primes_of(cubes) == {("11", "1" * 66), ("1-", "0" * 65 + "1")}


def test_the_primes_come_largest_first() -> None:
    cubes = Cubes.from_rows(3, 1, [("111", "1"), ("0--", "1")])
    found = all_primes(packed(cubes), Shape(3, 1), 100, time.monotonic() + 60)
    assert unpacked(found, Shape(3, 1)).rows() == [("0--", "1"), ("-11", "1")]


def test_merging_finds_the_prime_that_spans_both_halves() -> None:
    shape = Shape(3, 1)
    low, high = (packed(Cubes.from_rows(3, 1, [(term, "1")])) for term in ("-1-", "--1"))
    both = merged(low, high, 0, shape, Budget(100, time.monotonic() + 60))
    assert set(unpacked(both, shape).rows()) == {("01-", "1"), ("1-1", "1"), ("-11", "1")}


def test_more_primes_than_allowed_are_refused_with_their_number() -> None:
    odd = [(p, "1") for p in points(4) if p.count("1") % 2]
    with pytest.raises(PrimesTooManyError, match="more than 7 primes"):
        primes_of(Cubes.from_rows(4, 1, odd), limit=7)


def test_the_deadline_ends_prime_generation() -> None:
    noise = np.random.default_rng(1)
    rows = [("".join(noise.choice(list("01---"), 40)), "1") for _ in range(200)]
    begin = time.process_time()
    with pytest.raises(PrimesTooManyError, match="time ended"):
        all_primes(
            packed(Cubes.from_rows(40, 1, rows)), Shape(40, 1), 10**6, time.monotonic() + 0.3
        )
    assert time.process_time() < begin + 2.0  # a busy machine gives less than the clock's 0.3


def test_the_clock_is_looked_at_between_short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = []
    maximal = prime_kernels.maximal

    def noted(cubes: Any, first: int, last: int, kept: Any, size: int) -> int:
        steps.append((last - first) * (size + last - first))
        return int(maximal(cubes, first, last, kept, size))

    monkeypatch.setattr(prime_kernels, "maximal", noted)
    monkeypatch.setattr(prime_module, "PAIRS", 1000)
    points_alone = Cubes.from_rows(9, 1, [(f"{x:09b}", "1") for x in range(512)])
    all_primes(packed(points_alone), Shape(9, 1), 10**6, math.inf)
    assert max(steps) <= 3 * 1000


def test_wide_cubes_are_compared_in_shorter_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def contained(small: Any, large: Any) -> Any:
        steps.append(small.size * len(large))
        return np.zeros(len(small), np.bool_)

    monkeypatch.setattr(prime_kernels, "contained", contained)
    monkeypatch.setattr(prime_module, "PAIRS", 1000)
    rows = [(f"{x:011b}", "1" * 6400) for x in range(0, 2048, 63)]
    shape = Shape(11, 6400)
    halves = [packed(Cubes.from_rows(11, 6400, rows[k::2])) for k in (0, 1)]
    with contextlib.suppress(PrimesTooManyError):
        merged(halves[0], halves[1], 0, shape, Budget(10**6, math.inf))
    assert max(steps) <= 2 * 4 * 1000
