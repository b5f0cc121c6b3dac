"""The simulator by hand, and under the independent checker."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parallel.schedule.graphs import COSTS, graphs, linked, machines, random_graph, shared

from boolcomp.common.errors import DataError
from boolcomp.parallel.schedule.check import check_schedule
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.machine import Machine
from boolcomp.parallel.schedule.placed import Assignment
from boolcomp.parallel.schedule.simulate import pipelined, simulate
from boolcomp.problem.dynamics.operations import Operations

CHAIN = TaskGraph(
    "chain",
    tuple(Task(name, Operations(2)) for name in "abc"),
    (Edge("a", "b", 2), Edge("b", "c", 2)),
)


def test_times_add_up_along_a_chain() -> None:
    # 1 µs a task; a message of 2 words takes 0.5 + 2 · 1.5 = 3.5 µs a hop.
    schedule = simulate(CHAIN, Assignment((("a", "c"), (), ("b",))), linked("line"))
    assert schedule.makespan_us == 1 + 2 * 3.5 + 1 + 2 * 3.5 + 1
    assert (schedule.sequential_us, schedule.critical_path_us) == (3, 3)
    assert len(schedule.transfers) == 4
    check_schedule(schedule, CHAIN, linked("line"))


def test_a_value_is_sent_once_to_a_processor() -> None:
    graph = TaskGraph("fork", CHAIN.tasks, (Edge("a", "b", 1), Edge("a", "c", 3)))
    schedule = simulate(graph, Assignment((("a",), ("b", "c"))), linked())
    (transfer,) = schedule.transfers
    assert (transfer.words, transfer.start_us, transfer.end_us) == (3, 1, 6)


def test_messages_wait_for_links_and_without_overlap_for_the_sender() -> None:
    graph = TaskGraph("fork", CHAIN.tasks, (Edge("a", "b", 2), Edge("a", "c", 2)))
    apart = Assignment((("a",), ("b",), ("c",)))
    assert simulate(graph, apart, linked()).makespan_us == 1 + 3.5 + 1
    assert simulate(graph, apart, linked(count=1)).makespan_us == 1 + 7 + 1
    here = Assignment((("a", "c"), ("b",)))
    assert simulate(graph, here, linked(overlap=False)).makespan_us == 1 + 3.5 + 1
    late = simulate(graph, here, linked(overlap=False)).placements[1]
    assert late.start_us == 4.5


def test_shared_memory_costs_a_lock_for_every_successor_elsewhere() -> None:
    schedule = simulate(CHAIN, Assignment((("a", "c"), ("b",))), shared())
    # dispatch 0.5, task 1, lock 1, two words 0.25, seen 0.25 later; twice, then c
    assert schedule.makespan_us == 2 * (0.5 + 1 + 1 + 0.25 + 0.25) + 1.5


def test_lists_that_wait_for_each_other_are_refused() -> None:
    with pytest.raises(DataError, match="waits for ever to begin task 'b'"):
        simulate(CHAIN, Assignment((("b", "a"), ("c",))), linked())


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        ((("a", "b"),), "'c' of graph chain is on no processor"),
        ((("a", "b", "c", "a"),), "'a' of graph chain is there 2 times"),
        ((("a", "b", "c", "bb"),), "no task 'bb' .did you mean 'b'"),
    ],
)
def test_assignments_must_hold_every_task_once(
    lists: tuple[tuple[str, ...], ...], sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        simulate(CHAIN, Assignment(lists), linked())


def test_a_pipeline_of_equal_stages_has_the_papers_speed_up() -> None:
    graph = TaskGraph("p", CHAIN.tasks, tuple(Edge(e.before, e.after, 0) for e in CHAIN.edges))
    quick = Machine("quick", "", "", 9, COSTS, linked(word=0.0).memory)
    lists = Assignment((("a",), ("b",), ("c",)))
    run = pipelined(graph, lists, linked(word=0.0), 50)
    assert quick.processors == 9
    # S = n η with η = l / (n + l - 1) but for the 0.5 µs of a message between stages.
    assert run.makespan_us == pytest.approx(50 + 2 + 2 * 0.5)
    assert run.interval_us == pytest.approx(1)
    assert run.speedup == pytest.approx(150 / 53)


@settings(max_examples=40, deadline=None)
@given(graphs(), machines(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_consistent_assignment_gives_a_valid_schedule(
    graph: TaskGraph, machine: Machine, processors: int, draw: object
) -> None:
    lists: list[list[str]] = [[] for _ in range(processors)]
    for name in graph.order():
        lists[draw.randrange(processors)].append(name)  # type: ignore[attr-defined]
    assignment = Assignment(tuple(tuple(held) for held in lists))
    schedule = simulate(graph, assignment, machine)
    check_schedule(schedule, graph, machine)
    assert schedule.makespan_us >= schedule.critical_path_us * (1 - 1e-9)
    once = pipelined(graph, assignment, machine, 1)
    assert once.makespan_us == schedule.makespan_us


def test_the_text_of_a_schedule_is_a_table() -> None:
    text = str(simulate(random_graph(4, 1), Assignment((("t0", "t1", "t2", "t3"),)), linked()))
    assert "speed-up 1" in text.splitlines()[0]
    assert len(text.splitlines()) == 2 + 2 + 4
