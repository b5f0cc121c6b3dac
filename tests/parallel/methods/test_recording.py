"""Task graphs from recordings: edges are values that cross, and nothing else."""

from __future__ import annotations

import pytest
from graphs import crossing

from boolcomp.parallel.methods.recording import Recorded, recorded
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.expressions.tape import Tape


def small(dummies: tuple[str, str] | None = None) -> Recorded:
    tape = Tape(shared=False)
    x = tape.input("x")
    with tape.task("a"):
        y, z = x * x, x + 1.0
    with tape.task("b"):
        w = y * z
        w = w + y
    return recorded("small", tape.finish([("w", w)]), ("a", "idle", "b"), dummies=dummies)


def test_a_graph_has_the_work_of_its_tasks_and_the_words_between() -> None:
    assert str(small().graph).splitlines() == [
        "graph small: 3 tasks, 1 edges, 2 words",
        "  a: 1 mul 1 add",
        "  idle: 0",
        "  b: 1 mul 1 add; needs a (2)",
    ]
    of_a = tuple(k for k, name in enumerate(small().task_of_node) if name == "a")
    assert crossing(small(), "a", "b") == set(of_a)
    assert crossing(small(), "b", "a") == set()


def test_dummies_stand_before_and_behind_everything() -> None:
    graph = small(("in", "out")).graph
    assert (graph.tasks[0].name, graph.tasks[-1].name) == ("in", "out")
    assert graph.tasks[0].operations == Operations()
    edges = {(edge.before, edge.after): edge.words for edge in graph.edges}
    assert edges == {("in", "a"): 0, ("in", "idle"): 0, ("a", "b"): 2, ("b", "out"): 1}


def test_a_task_nobody_named_is_our_own_mistake() -> None:
    tape = Tape()
    x = tape.input("x")
    with pytest.raises(AssertionError, match="tasks without a name"):
        recorded("x", tape.finish([("y", x + 1.0)]), ())
