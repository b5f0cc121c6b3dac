"""Task graphs: their order, and the errors of bad ones."""

from __future__ import annotations

import pytest
from parallel.schedule.graphs import graph_of

from boolcomp.base import DataError


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
        ("a1 b1", "ab-1", "less than nothing"),
        ("a1 b1", "ab1 ab1", "twice"),
        ("a1 b1 c1", "ab1 bc1 cb1", r"cycle.*(b -> c -> b|c -> b -> c)"),
        ("a1 b1 c1", "bc1 cb1 ca1", r"first: (b -> c -> b|c -> b -> c)\b"),
    ],
)
def test_a_bad_graph_is_refused(tasks: str, edges: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        graph_of(tasks, edges).check()
