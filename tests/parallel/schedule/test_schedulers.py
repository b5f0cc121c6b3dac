"""All schedulers: valid by the independent checker, and known schedules of small graphs."""

from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parallel.schedule.graphs import (
    free,
    graph_of,
    graphs,
    linked,
    machines,
    random_graph,
    shared,
)

from boolcomp.base import UsageError
from boolcomp.parallel import (
    TaskGraph,
    check_schedule,
    lower_bounds,
    make_schedule,
    optimal,
    simulate,
)

GENERAL = ("cp-misf", "dynamic", "static", "first-fit", "best-fit")


@settings(max_examples=40, deadline=None)
@given(graphs(), machines(), st.integers(1, 5), st.sampled_from(GENERAL))
def test_every_scheduler_gives_valid_schedules(
    graph: TaskGraph, machine: Any, processors: int, scheduler: str
) -> None:
    schedule = make_schedule(graph, machine, processors, scheduler)
    check_schedule(schedule, graph, machine)
    bound = lower_bounds(graph, machine, processors).best_us
    assert schedule.makespan_us >= bound * (1 - 1e-9)


@settings(max_examples=8, deadline=None)
@given(graphs(most=7), machines(), st.integers(1, 3), st.sampled_from(("improved", "optimal")))
def test_searching_schedulers_give_valid_schedules(
    graph: TaskGraph, machine: Any, processors: int, scheduler: str
) -> None:
    schedule = make_schedule(graph, machine, processors, scheduler, seconds=0.2)
    check_schedule(schedule, graph, machine)


def test_names_are_suggested_and_papers_keep_their_processors() -> None:
    graph = random_graph(3, 1)
    with pytest.raises(UsageError, match="did you mean 'cp-misf'"):
        make_schedule(graph, free(), 2, "cpmisf")
    with pytest.raises(UsageError, match="for 4 processors, not 2"):
        make_schedule(graph, free(), 2, "zomaya")
    with pytest.raises(UsageError, match="has no task 't0'"):
        make_schedule(graph, free(), 4, "zomaya")


def test_a_shared_queue_costs_what_its_steps_take() -> None:
    # get 2, dispatch 0.5, a 1, two words 0.25, lower 1, put 2, get 2, dispatch 0.5, b 1
    assert make_schedule(graph_of("a1 b1", "ab2"), shared(), 1, "dynamic").makespan_us == 10.25


def test_idle_processors_that_poll_hold_the_others_up() -> None:
    graph = random_graph(20, 3, density=0.5)  # nearly a chain: most have nothing to do
    polling, still = (
        [make_schedule(graph, shared(poll=poll), p, "dynamic").makespan_us for p in (2, 4, 8)]
        for poll in (True, False)
    )
    assert polling[0] < polling[1] < polling[2]
    assert still[1] == still[2] < polling[1]


def test_lower_bounds_see_a_wide_middle() -> None:
    edges = " ".join(f"a{k}0 {k}z0" for k in "123456")
    wide = graph_of("a1 11 21 31 41 51 61 z1", edges)  # one task, six, and one
    bounds = lower_bounds(wide, free(), 3)
    assert bounds.work_us == pytest.approx(8 / 3)
    assert bounds.critical_path_us == pytest.approx(3)
    assert bounds.best_us == bounds.interval_us == pytest.approx(4)  # 1 + 6/3 + 1
    assert optimal(wide, free(), 3).makespan_us == pytest.approx(4)


def exhaustive(graph: TaskGraph, machine: Any, processors: int) -> float:
    """Try every order on every processor, without contention."""
    best = float("inf")
    for order in permutations(task.name for task in graph.tasks):
        if any(order.index(e.before) > order.index(e.after) for e in graph.edges):
            continue
        for chosen in product(range(processors), repeat=len(order)):
            place = dict(zip(order, chosen, strict=True))
            free_at, end = [0.0] * processors, dict.fromkeys(order, 0.0)
            for name in order:
                here = place[name]
                arrivals = [
                    end[e.before] + machine.delay(e.words, place[e.before], here, processors)
                    for e in graph.predecessors()[name]
                ]
                task = next(task for task in graph.tasks if task.name == name)
                end[name] = max([free_at[here], *arrivals]) + machine.time(task.operations)
                free_at[here] = end[name]
            best = min(best, max(end.values()))
    return best


@pytest.mark.parametrize("machine", [free(), linked("line")], ids=["free", "line"])
@pytest.mark.parametrize("seed", range(3))
def test_no_schedule_is_shorter_than_the_optimal_one(machine: Any, seed: int) -> None:
    graph = random_graph(5, seed, density=0.35)
    found = optimal(graph, machine, 2)
    assert found.proved
    assert found.makespan_us == pytest.approx(exhaustive(graph, machine, 2))
    assert found.bound_us == pytest.approx(found.makespan_us)
    assert simulate(graph, found.assignment, free()).makespan_us <= found.makespan_us + 1e-9


@pytest.mark.slow
def test_a_search_for_the_optimum_that_ends_early_has_a_bound() -> None:
    found = optimal(random_graph(25, 2, density=0.06), free(), 4, seconds=0.01)
    assert found.bound_us <= found.makespan_us
    assert found.proved == (found.bound_us == found.makespan_us)
    beyond = optimal(random_graph(600, 1, density=0.01), linked(), 8, seconds=0.1)
    assert beyond.makespan_us >= beyond.bound_us > 0
    assert beyond.nodes == 0
