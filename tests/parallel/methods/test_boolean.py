"""The Boolean evaluator as tasks: all products once, joined pairwise, added per torque."""

from __future__ import annotations

import math

import pytest
from graphs import before

from boolcomp.common.errors import UsageError
from boolcomp.parallel.methods import ProductTable, boolean_tasks

T11 = ProductTable("T11", 1, inputs=15, products=100, literals=900, outputs=8)
T12 = ProductTable("T12", 1, inputs=11, products=30, literals=180, outputs=6)
T21 = ProductTable("T21", 2, inputs=11, products=30, literals=180, outputs=6)


def work(**options: object) -> int:
    graph = boolean_tasks([T11, T12, T21], **options)  # type: ignore[arg-type]
    return sum(task.operations.additions for task in graph.tasks)


def test_one_group_a_table_is_the_least() -> None:
    graph = boolean_tasks([T11, T12, T21])
    assert [task.name for task in graph.tasks] == [
        "T11/and/1", "T11/decode", "T12/and/1", "T12/decode", "T21/and/1", "T21/decode",
        "tau1/sum/1",
    ]  # fmt: skip
    assert graph.tasks[0].operations.additions == 2 * 100 + 99


@pytest.mark.parametrize("groups", [1, 2, 3, 7, 64, 300])
def test_dealing_out_changes_no_work_and_makes_trees(groups: int) -> None:
    graph = boolean_tasks([T11, T12, T21], groups=groups)
    graph.check()
    assert sum(task.operations.additions for task in graph.tasks) == work()
    ends = [t.name for t in graph.tasks if not graph.successors()[t.name]]
    assert ends == ["T21/decode", "tau1/sum/1"]
    shares = [task for task in graph.tasks if "/and/" in task.name]
    assert len(shares) >= min(groups, 3)
    ancestors = before(graph)
    depth = max(len([a for a in ancestors[n] if "/or/" in a]) for n in ends)
    assert depth < len(shares)


def test_the_tree_of_ors_is_as_deep_as_a_logarithm() -> None:
    graph = boolean_tasks([T11], groups=16)
    level: dict[str, int] = {}
    for name in graph.order():
        edges = graph.predecessors()[name]
        level[name] = 1 + max((level[edge.before] for edge in edges), default=-1)
    assert level["T11/decode"] == 1 + math.ceil(math.log2(15))


def test_wide_words_take_several_machine_words() -> None:
    wide = ProductTable("T", 1, inputs=33, products=100, literals=900, outputs=8)
    assert boolean_tasks([wide]).tasks[0].operations.additions == 4 * 100 + 99


def test_what_cannot_be_scheduled_gets_a_sentence() -> None:
    with pytest.raises(UsageError, match="1 is the fewest"):
        boolean_tasks([T11], groups=0)
    with pytest.raises(UsageError, match="no table has a product term"):
        boolean_tasks([])
