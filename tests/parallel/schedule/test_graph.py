"""Task graphs: order, cycles and what is said of bad ones."""

from __future__ import annotations

import pytest

from boolcomp.common.errors import DataError
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.problem.dynamics.operations import Operations


def graph(*edges: Edge, names: str = "abc") -> TaskGraph:
    return TaskGraph("g", tuple(Task(name, Operations(1, 2)) for name in names), edges)


def test_an_order_puts_every_task_behind_what_it_needs() -> None:
    assert graph(Edge("c", "a", 1), Edge("a", "b", 2)).order() == ("c", "a", "b")


def test_neighbours_are_grouped_by_task() -> None:
    edges = (Edge("a", "c", 1), Edge("b", "c", 2))
    assert graph(*edges).predecessors() == {"a": (), "b": (), "c": edges}
    assert graph(*edges).successors() == {"a": edges[:1], "b": edges[1:], "c": ()}


def test_a_cycle_is_named() -> None:
    edges = (Edge("a", "b", 1), Edge("b", "c", 1), Edge("c", "b", 1))
    with pytest.raises(DataError, match=r"cycle.*(b -> c -> b|c -> b -> c)"):
        graph(*edges).check()


def test_the_cycle_and_not_what_waits_for_it_is_named() -> None:
    edges = (Edge("b", "c", 1), Edge("c", "b", 1), Edge("c", "a", 1))
    with pytest.raises(DataError) as error:
        graph(*edges).check()
    assert "a" not in str(error.value).split("first:")[1]


@pytest.mark.parametrize(
    ("edges", "names", "sentence"),
    [
        ((), "aa", "2 tasks are named 'a'"),
        ((Edge("a", "x", 1),), "ab", "unknown task 'x'"),
        ((Edge("a", "b", -1),), "ab", "less than nothing"),
        ((Edge("a", "b", 1), Edge("a", "b", 1)), "ab", "twice"),
    ],
)
def test_what_is_wrong_with_a_graph_is_said(
    edges: tuple[Edge, ...], names: str, sentence: str
) -> None:
    with pytest.raises(DataError, match=sentence):
        graph(*edges, names=names).check()


def test_the_text_names_tasks_counts_and_needs() -> None:
    text = str(graph(Edge("a", "b", 3), names="ab"))
    assert (
        text
        == "graph g: 2 tasks, 1 edges, 3 words\n  a: 1 mul 2 add\n  b: 1 mul 2 add; needs a (3)"
    )
