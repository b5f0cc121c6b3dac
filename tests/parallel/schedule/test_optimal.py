"""Branch and bound against exhaustive search."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING

import pytest
from parallel.schedule.graphs import free, linked, random_graph

from boolcomp.parallel.schedule.indexed import indexed
from boolcomp.parallel.schedule.listing import Delays
from boolcomp.parallel.schedule.optimal import optimal
from boolcomp.parallel.schedule.simulate import simulate

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine


def exhaustive(graph: TaskGraph, machine: Machine, processors: int) -> float:
    """Try every order on every processor, without contention."""
    tasks = indexed(graph, machine)
    delays = Delays(machine, processors)
    best = float("inf")
    size = len(tasks.names)
    for order in permutations(range(size)):
        if any(order.index(j) > order.index(k) for k in range(size) for j, _ in tasks.before[k]):
            continue
        for place in product(range(processors), repeat=size):
            free_at, end = [0.0] * processors, [0.0] * size
            for k in order:
                start = free_at[place[k]]
                for j, words in tasks.before[k]:
                    start = max(start, end[j] + delays.delay(words, place[j], place[k]))
                end[k] = free_at[place[k]] = start + tasks.times[k]
            best = min(best, max(end))
    return best


@pytest.mark.parametrize("machine", [free(), linked(), linked("line")])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_shorter_than_optimal(machine: Machine, seed: int) -> None:
    graph = random_graph(5, seed, density=0.35)
    found = optimal(graph, machine, 2)
    assert found.proved
    assert found.makespan_us == pytest.approx(exhaustive(graph, machine, 2))
    assert found.bound_us == pytest.approx(found.makespan_us)


def test_the_makespan_is_that_of_the_assignment() -> None:
    graph = random_graph(9, 4)
    found = optimal(graph, free(), 3)
    assert simulate(graph, found.assignment, free()).makespan_us == pytest.approx(found.makespan_us)


def test_a_search_that_runs_out_of_time_says_so() -> None:
    graph = random_graph(25, 2, density=0.06)
    found = optimal(graph, free(), 4, seconds=0.01)
    assert found.bound_us <= found.makespan_us
    assert found.proved == (found.bound_us == found.makespan_us)
    assert ("proved" in str(found)) == found.proved


@pytest.mark.slow
def test_graphs_beyond_a_search_get_a_bound() -> None:
    found = optimal(random_graph(600, 1, density=0.01), linked(), 8, seconds=1)
    assert found.makespan_us >= found.bound_us > 0
    assert found.nodes == 0
