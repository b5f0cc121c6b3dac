"""Quine and McCluskey's steps: primes by their definition, covers as small as any."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.measure import minimised

functions = st.integers(1, 4).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.sampled_from("01-"), min_size=2**n, max_size=2**n))
)


def sets(values: list[str]) -> tuple[list[int], list[int]]:
    on, free = ([k for k, one in enumerate(values) if one == kind] for kind in "1-")
    return on, free


def minterms(cube: str) -> set[int]:
    """Return the words that a cube holds, by its definition."""
    return {
        k
        for k in range(1 << len(cube))
        if all(x in {"-", y} for x, y in zip(cube, f"{k:0{len(cube)}b}", strict=True))
    }


def primes_of(inputs: int, allowed: set[int]) -> set[str]:
    """All cubes within a function of which none lies within a larger one: the definition."""
    cubes = {
        "".join(cube): frozenset(minterms("".join(cube))) for cube in product("01-", repeat=inputs)
    }
    inside = {cube: points for cube, points in cubes.items() if points <= allowed}
    return {
        cube for cube, points in inside.items()
        if not any(points < other for other in inside.values())
    }  # fmt: skip


@given(functions)
def test_primes_are_the_largest_cubes_of_the_function(case: tuple[int, list[str]]) -> None:
    inputs, values = case
    on, free = sets(values)
    steps = minimised(inputs, on, free)
    assert set(steps.primes) == primes_of(inputs, {*on, *free})
    assert len(steps.primes) == len(set(steps.primes))


@given(functions)
def test_no_set_of_primes_that_covers_is_smaller(case: tuple[int, list[str]]) -> None:
    inputs, values = case
    on, free = sets(values)
    steps = minimised(inputs, on, free)
    held = [minterms(prime) for prime in steps.primes]
    assert set(on) <= set().union(*(held[p] for p in steps.cover))
    for fewer in combinations(held, max(0, len(steps.cover) - 1)):
        if len(steps.cover):
            assert not set(on) <= set().union(*fewer)
    count = [len(prime) - prime.count("-") for prime in steps.primes]
    for others in combinations(range(len(held)), len(steps.cover)):
        if set(on) <= set().union(*(held[p] for p in others)):
            assert sum(count[p] for p in steps.cover) <= sum(count[p] for p in others)


@given(functions)
def test_essential_primes_are_those_without_which_a_minterm_is_lost(
    case: tuple[int, list[str]],
) -> None:
    inputs, values = case
    on, free = sets(values)
    steps = minimised(inputs, on, free)
    for p in range(len(steps.primes)):
        others = set().union(*(minterms(one) for k, one in enumerate(steps.primes) if k != p), ())
        assert (p in steps.essential) == (not set(on) <= others)
    assert set(steps.essential) <= set(steps.cover)


def test_a_textbook_example_is_done_as_in_the_textbook() -> None:
    # McCluskey's own: f = Σ(4, 8, 10, 11, 12, 15), free 9, 14
    steps = minimised(4, [4, 8, 10, 11, 12, 15], [9, 14])
    assert [len(groups) for groups in steps.rounds] == [4, 3, 2]
    assert set(steps.primes) == {"-100", "10--", "1--0", "1-1-"}
    assert [steps.primes[p] for p in steps.essential] == ["-100", "1-1-"]
    assert len(steps.cover) == 3
    weights = [[row.cube for row in group] for group in steps.rounds[0]]
    assert weights == [["0100", "1000"], ["1001", "1010", "1100"], ["1011", "1110"], ["1111"]]


@pytest.mark.parametrize("inputs", [0, 3])
def test_constants_have_no_product_or_an_empty_one(inputs: int) -> None:
    assert minimised(inputs, []).cover == ()
    full = minimised(inputs, range(1 << inputs))
    assert [full.primes[p] for p in full.cover] == ["-" * inputs]
