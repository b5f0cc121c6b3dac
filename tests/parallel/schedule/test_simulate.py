"""The simulator by hand, and under the independent checker."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parallel.schedule.graphs import graph_of, graphs, linked, machines, shared

from boolcomp.base import DataError
from boolcomp.parallel import Assignment, TaskGraph, check_schedule, pipelined, simulate

CHAIN = graph_of("a1 b1 c1", "ab2 bc2")


def test_times_add_up_along_a_chain() -> None:
    # 1 µs a task; a message of 2 words takes 0.5 + 2 · 1.5 = 3.5 µs a hop.
    schedule = simulate(CHAIN, Assignment((("a", "c"), (), ("b",))), linked("line"))
    assert schedule.makespan_us == 1 + 2 * 3.5 + 1 + 2 * 3.5 + 1
    assert (schedule.sequential_us, schedule.critical_path_us) == (3, 3)
    assert len(schedule.transfers) == 4
    check_schedule(schedule, CHAIN, linked("line"))


def test_a_value_is_sent_once_to_a_processor() -> None:
    graph = graph_of("a1 b1 c1", "ab1 ac3")
    schedule = simulate(graph, Assignment((("a",), ("b", "c"))), linked())
    (transfer,) = schedule.transfers
    assert (transfer.words, transfer.start_us, transfer.end_us) == (3, 1, 6)


def test_messages_wait_for_links_and_without_overlap_for_the_sender() -> None:
    graph = graph_of("a1 b1 c1", "ab2 ac2")
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


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ((("b", "a"), ("c",)), "can never begin task 'b'"),
        ((("a", "b"),), "'c' of graph g is on no processor"),
        ((("a", "b", "c", "a"),), "'a' of graph g is assigned 2 times"),
        ((("a", "b", "c", "bb"),), "no task 'bb'; did you mean 'b"),
    ],
)
def test_a_bad_assignment_is_refused(lists: tuple[tuple[str, ...], ...], message: str) -> None:
    with pytest.raises(DataError, match=message):
        simulate(CHAIN, Assignment(lists), linked())


def test_a_pipeline_of_equal_stages_has_the_papers_speed_up() -> None:
    graph = graph_of("a1 b1 c1", "ab0 bc0")
    lists = Assignment((("a",), ("b",), ("c",)))
    run = pipelined(graph, lists, linked(word=0.0), 50)
    # S = n η with η = l / (n + l - 1) but for the 0.5 µs of a message between stages.
    assert run.makespan_us == pytest.approx(50 + 2 + 2 * 0.5)
    assert run.interval_us == pytest.approx(1)
    assert run.speedup == pytest.approx(150 / 53)


@settings(max_examples=25, deadline=None)
@given(graphs(), machines(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_any_consistent_assignment_gives_a_valid_schedule(
    graph: TaskGraph, machine: Any, processors: int, draw: object
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


def test_an_order_puts_every_task_behind_what_it_needs() -> None:
    graph = graph_of("a1 b1 c1", "ca1 ab2")
    assert graph.order() == ("c", "a", "b")
    assert graph.predecessors() == {"a": graph.edges[:1], "b": graph.edges[1:], "c": ()}
    assert graph.successors() == {"c": graph.edges[:1], "a": graph.edges[1:], "b": ()}


@pytest.mark.parametrize(
    ("tasks", "edges", "message"),
    [
        ("a1 a1", "", "2 tasks are named 'a'"),
        ("a1 b1", "ax1", "unknown task 'x'"),
        ("a1 b1", "ab-1", "a negative number of words"),
        ("a1 b1", "ab1 ab1", "twice"),
        ("a1 b1 c1", "ab1 bc1 cb1", r"cycle.*(b -> c -> b|c -> b -> c)"),
        ("a1 b1 c1", "bc1 cb1 ca1", r"cycle: (b -> c -> b|c -> b -> c)\b"),
    ],
)
def test_a_bad_graph_is_refused(tasks: str, edges: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        graph_of(tasks, edges).check()
