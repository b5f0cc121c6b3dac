"""The bus of the Encore, by hand; and how near the model comes to what Zeng and Egan measured."""

from __future__ import annotations

import pytest

from boolcomp.parallel.schedule import zengtables
from boolcomp.parallel.schedule.encore import Contended, Encore
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.paper_zeng import zeng_findings
from boolcomp.problem.dynamics.operations import Operations

MACHINE = Encore(operation=1.0, record=4.0, around=3.0, queue=2.0, lock=1.0)
PAIR = TaskGraph("pair", tuple(Task(n, Operations(5)) for n in "ab"), ())
CHAIN = TaskGraph("chain", PAIR.tasks, (Edge("a", "b", 1),))


def test_one_processor_has_the_bus_for_itself() -> None:
    # get 2, record 2, work 5, around 3, record 2; the second also lowers a counter, and a put
    assert Contended(PAIR, MACHINE, 1).us == pytest.approx(2 * 14)
    assert Contended(CHAIN, MACHINE, 1).us == pytest.approx(2 * 14 + 1 + 2)
    assert Contended(CHAIN, MACHINE, 1, [["a", "b"]], queued=False).us == pytest.approx(2 * 12 + 1)


def test_two_that_want_the_bus_take_twice_as_long_over_it() -> None:
    run = Contended(PAIR, MACHINE, 2)
    assert run.us == pytest.approx(2 * 4 + 8 + 2 * 2)
    assert [len(names) for names in run.lists] == [1, 1]


def test_an_idle_processor_that_looks_into_its_queue_holds_up_the_other() -> None:
    # Until the second begins task b, it looks for 2 of every 5 µs or more.
    alone, beside = (Contended(CHAIN, MACHINE, p).us for p in (1, 2))
    assert beside > alone
    quiet = Encore(1.0, 0.0, 3.0, 0.0, 0.0)  # nothing is shared
    assert Contended(CHAIN, quiet, 2, [["a"], ["b"]], queued=False).us <= 2 * 8 + 3


def test_all_tasks_are_done_once_after_what_they_need() -> None:
    graph = zengtables.graph_of_52()
    run = Contended(graph, MACHINE, 3)
    assert sorted(name for names in run.lists for name in names) == sorted(
        task.name for task in graph.tasks
    )
    for queued in (True, False):
        again = Contended(graph, MACHINE, 3, run.lists, queued=queued)
        assert [set(names) for names in again.lists] == [set(names) for names in run.lists]
        assert again.us > 0


def test_what_was_measured_on_several_processors_is_predicted_to_a_fifth() -> None:
    rows = [x for x in zeng_findings() if x.note == "predicted" and x.figure.startswith("version")]
    versions = [x for x in rows if not x.figure.startswith("version 5")]
    assert max(abs(x.residual) for x in versions) < 0.2
    assert sum(abs(x.residual) for x in versions) / len(versions) < 0.06
