"""Assignments for batches."""

from __future__ import annotations

import pytest

from boolcomp.parallel.schedule.batching import for_batches
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.staging import stage
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.expressions.tape import Tape, task


@pytest.mark.slow
def test_batches_are_cut_where_few_values_cross() -> None:
    # Two chains that never meet: the cut is between them though their tasks alternate.
    tape = Tape()
    wires = [tape.input("x"), tape.input("y")]
    tasks, edges = [], []
    for k in range(10):
        for which in range(2):
            with task(tape, f"{k}{'ab'[which]}"):
                for _ in range(20):
                    wires[which] = wires[which] * wires[which] + wires[which]
            tasks.append(Task(f"{k}{'ab'[which]}", Operations(20, 20)))
            if k:
                edges.append(Edge(f"{k - 1}{'ab'[which]}", f"{k}{'ab'[which]}", 1))
    straight = tape.finish([("x", wires[0]), ("y", wires[1])])
    graph = TaskGraph("chains", tuple(tasks), tuple(edges))
    lists = for_batches(straight, graph, 2)
    staged = stage(straight, [node.task for node in straight.nodes], lists)
    assert (staged.stages, staged.exchanged) == (1, 0)
    assert [len(held) for held in lists.lists] == [10, 10]


@pytest.mark.slow
def test_a_cheap_task_that_all_need_is_done_by_all() -> None:
    tape = Tape(shared=False)
    x = tape.input("x")
    with task(tape, "few"):
        shared = x * x + 1.0
    ends = []
    for name in "ab":
        with task(tape, name):
            end = shared
            for k in range(30):
                end = end * end + (float(k) if name == "a" else -float(k) - 0.5)
            ends.append(end)
    straight = tape.finish([("a", ends[0]), ("b", ends[1])])
    tasks = tuple(Task(name, Operations(1)) for name in ("few", "a", "b"))
    graph = TaskGraph("fork", tasks, (Edge("few", "a", 1), Edge("few", "b", 1)))
    lists = for_batches(straight, graph, 2)
    assert sorted(map(sorted, lists.lists)) == [["a", "few"], ["b", "few"]]
    assert stage(straight, [node.task for node in straight.nodes], lists).exchanged == 0
