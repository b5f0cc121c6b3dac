"""All schedulers under the independent checker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parallel.schedule.graphs import free, graphs, linked, machines, random_graph

from boolcomp.common.errors import UsageError
from boolcomp.parallel.schedule.check import check_schedule
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.mappings import PROCESSORS
from boolcomp.parallel.schedule.schedulers import SCHEDULERS, make_assignment, make_schedule

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine

GENERAL = tuple(name for name in SCHEDULERS if name not in (*PROCESSORS, "optimal", "improved"))


@settings(max_examples=40, deadline=None)
@given(graphs(), machines(), st.integers(1, 5), st.sampled_from(GENERAL))
def test_every_scheduler_gives_valid_schedules(
    graph: TaskGraph, machine: Machine, processors: int, scheduler: str
) -> None:
    schedule = make_schedule(graph, machine, processors, scheduler)
    check_schedule(schedule, graph, machine)
    bound = lower_bounds(graph, machine, processors).best_us
    assert schedule.makespan_us >= bound * (1 - 1e-9)


@settings(max_examples=8, deadline=None)
@given(graphs(most=7), machines(), st.integers(1, 3), st.sampled_from(("improved", "optimal")))
def test_searching_schedulers_give_valid_schedules(
    graph: TaskGraph, machine: Machine, processors: int, scheduler: str
) -> None:
    schedule = make_schedule(graph, machine, processors, scheduler, seconds=0.2)
    check_schedule(schedule, graph, machine)


def test_one_processor_takes_the_sequential_time() -> None:
    graph = random_graph(12, 5)
    for scheduler in GENERAL:
        schedule = make_schedule(graph, free(), 1, scheduler)
        assert schedule.makespan_us == pytest.approx(schedule.sequential_us)


def test_improved_is_never_worse_than_cp_misf() -> None:
    for seed in range(4):
        graph = random_graph(14, seed)
        plain = make_schedule(graph, linked("ring"), 3, "cp-misf")
        better = make_schedule(graph, linked("ring"), 3, "improved")
        assert better.makespan_us <= plain.makespan_us


def test_names_are_suggested_and_papers_keep_their_processors() -> None:
    graph = random_graph(3, 1)
    with pytest.raises(UsageError, match="did you mean 'cp-misf'"):
        make_assignment(graph, free(), 2, "cpmisf")
    with pytest.raises(UsageError, match="for 4 processors, not 2"):
        make_assignment(graph, free(), 2, "zomaya")
    with pytest.raises(UsageError, match="does not know task 't0'"):
        make_assignment(graph, free(), 4, "zomaya")


@pytest.mark.check
@pytest.mark.parametrize("scheduler", ["cp-misf", "dynamic", "best-fit"])
def test_thousands_of_tasks_are_scheduled_in_seconds(scheduler: str) -> None:
    import time

    graph = random_graph(5000, 7, density=0.002)
    started = time.process_time()
    schedule = make_schedule(graph, linked(), 64, scheduler)
    assert time.process_time() - started < 10
    check_schedule(schedule, graph, linked())


@pytest.mark.check
def test_cp_misf_is_within_a_tenth_of_optimal_on_most_random_graphs_and_improved_on_all() -> None:
    import random

    from boolcomp.parallel.schedule.optimal import optimal

    plain: list[float] = []
    better: list[float] = []
    for seed in range(80):
        draw = random.Random(seed)  # noqa: S311
        size, processors = draw.randint(8, 25), draw.randint(2, 4)
        graph = random_graph(size, seed, draw.choice((0.08, 0.15, 0.25)))
        # An unproved optimum has a bound: comparing with that is harder.
        bound = optimal(graph, free(), processors, seconds=0.3).bound_us
        times = (make_schedule(graph, free(), processors, name).makespan_us / bound
                 for name in ("cp-misf", "improved"))  # fmt: skip
        for ratios, ratio in zip((plain, better), times, strict=True):
            ratios.append(ratio)
    assert sum(ratio > 1.1 for ratio in plain) <= 4
    assert max(plain) < 1.15
    assert max(better) < 1.1
