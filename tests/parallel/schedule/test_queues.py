"""The shared queue, by hand and by comparison."""

from __future__ import annotations

from parallel.schedule.graphs import linked, random_graph, shared

from boolcomp.parallel.schedule.check import check_schedule
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.queues import dynamic
from boolcomp.problem.dynamics.operations import Operations

CHAIN = TaskGraph("chain", tuple(Task(n, Operations(2)) for n in "ab"), (Edge("a", "b", 2),))


def test_what_a_shared_queue_costs() -> None:
    # get 2, dispatch 0.5, a 1, two words 0.25, lower 1, put 2, get 2, dispatch 0.5, b 1
    assert dynamic(CHAIN, shared(), 1).makespan_us == 10.25


def test_idle_processors_that_poll_hold_the_others_up() -> None:
    graph = random_graph(20, 3, density=0.5)  # nearly a chain: most have nothing to do
    times = [dynamic(graph, shared(poll=True), p).makespan_us for p in (2, 4, 8)]
    assert times == sorted(times)
    assert len(set(times)) == 3
    still = [dynamic(graph, shared(poll=False), p).makespan_us for p in (4, 8)]
    assert still[0] == still[1] < times[1]


def test_messages_of_a_queue_on_links_are_simulated() -> None:
    graph = random_graph(15, 2)
    schedule = dynamic(graph, linked("ring", count=1), 3)
    check_schedule(schedule, graph, linked("ring", count=1))
    assert schedule.scheduler == "dynamic"
    assert schedule.transfers
