"""Segments of a program, and assignments for batches."""

from __future__ import annotations

import pytest
from parallel.schedule.graphs import there_and_back

from boolcomp.common.errors import DataError
from boolcomp.parallel.schedule.batching import for_batches
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.placed import Assignment
from boolcomp.parallel.schedule.staging import stage
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.expressions.tape import Tape, task


def test_a_value_that_crosses_begins_a_stage() -> None:
    straight, names = there_and_back()
    staged = stage(straight, names, Assignment((("out", "back"), ("beyond",))))
    assert (staged.stages, staged.exchanged) == (3, 2)
    assert [(x.processor, x.stage) for x in staged.segments] == [(0, 0), (1, 1), (0, 2)]
    done: set[tuple[int, int]] = set()
    for segment in staged.segments:
        assert set(segment.reads) <= done
        done |= {(k, segment.processor) for k in segment.writes}
    # The cosine, which only its own processor uses, is put off until it does: nothing is kept.
    assert len(staged.slots) == 2
    assert staged.segments[2].suppliers == ((0, 0), (1, 1))


def test_what_is_on_both_processors_is_not_exchanged() -> None:
    straight, names = there_and_back()
    staged = stage(straight, names, Assignment((("out", "back"), ("out", "beyond"))))
    assert (staged.stages, staged.exchanged) == (2, 1)
    sines = [sum(straight.nodes[k].kind == "sin" for k in x.nodes) for x in staged.segments]
    assert sum(sines) == 2


def test_on_one_processor_there_is_one_segment_and_nothing_is_handed_on() -> None:
    straight, names = there_and_back()
    staged = stage(straight, names, Assignment((("out", "beyond", "back"),)))
    assert (staged.stages, len(staged.segments), staged.slots) == (1, 1, ())


def test_tasks_without_a_processor_are_named() -> None:
    straight, names = there_and_back()
    with pytest.raises(DataError, match="'back' of the program is on no processor"):
        stage(straight, names, Assignment((("out", "beyond"),)))


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
