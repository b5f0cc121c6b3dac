"""What is said of words and trajectories of a page."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.measure import arm_steps, effects_of, minimised, shown_trajectory
from boolcomp.words import Bits, Heap, InputWord, OutputWord, Scale, WordGraph

JOINTS = [("q", ("q1", "q2")), ("qd", ("qd1", "qd2")), ("qdd", ("qdd1", "qdd2"))]
RANGES = {"q1": (-3.0, 3.0), "q2": (-1.0, 2.5), "qd1": (-1.0, 1.0), "qd2": (-2.0, 1.5),
          "qdd1": (-4.0, 4.0), "qdd2": (-0.5, 0.5)}  # fmt: skip


def sum_graph(drop: int) -> WordGraph:
    """Return a + 4b whose lowest bits are dropped, as an output."""
    words = (InputWord("a", 4, angle=False), InputWord("b", 4, angle=False))
    heap = Heap((Bits(0, 0, 0, negative=False), Bits(1, 0, 2, negative=False)), 0, 7)
    return WordGraph((*words, heap), (Scale(0, 0.0),) * 3, (OutputWord(2, drop, 7 - drop),))


def test_a_step_of_a_word_moves_the_output_by_what_it_counts() -> None:
    a, b, heap = effects_of(sum_graph(1))
    assert a.moves == (0.5,)  # of the output's steps, which count two
    assert b.moves == (2.0,)
    assert heap.moves == (0.5,)
    assert b.budget[0] == pytest.approx(2 / math.sqrt(12))
    assert not heap.rounds
    assert heap.budget == (0.0,)
    assert (a.least, a.most) == (0, 15)


def test_speeds_and_accelerations_are_the_derivatives_of_positions() -> None:
    trajectory = shown_trajectory(JOINTS, RANGES)
    count = 20_000
    states = trajectory.states(count)
    step = trajectory.period / count
    for order in (0, 2):
        later = (np.roll(states, -1, axis=0) - np.roll(states, 1, axis=0)) / (2 * step)
        found = states[:, order + 2 : order + 4]
        assert np.abs(later[:, order : order + 2] - found).max() < 1e-4 * np.abs(found).max()


@pytest.mark.parametrize("robot", ["puma560", "scara", "stanford"])
def test_an_elbow_lies_along_the_axis_and_a_from_the_next_joint(robot: str) -> None:
    arm = bc.load_robot(robot)
    posture = np.linspace(0.3, 1.1, arm.joints)
    steps = arm_steps(arm)
    columns = {f"q{k}": x for k, x in enumerate(posture, 1)}
    found = np.array(steps.evaluate([columns[name] for name in steps.inputs]), np.float64)
    joints = found[:-3].reshape(-1, 3, 3)
    ends = [*joints[1:, 1], found[-3:]]
    for link, x, (axis, place, elbow), end in zip(arm.links, posture, joints, ends, strict=True):
        along = link.d if link.revolute else link.d + x
        assert np.allclose(elbow - place, along * axis, atol=1e-12)
        assert np.linalg.norm(end - elbow) == pytest.approx(abs(link.a), abs=1e-12)


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
