"""Zeng & Egan 1991 anew: an Encore-like machine fitted on one processor, predicting the others.

Four parameters come from four one-processor figures: µs an operation (sequential), µs a task, µs
the queue's lock is held, µs to lower a successor's counter (versions 2 and 3 dynamic, 4 static).
Version 5 does without procedures and task records: its own one-processor figure tells what of a
task's µs is the record, which passes over the bus (`encore`), and what is around it. Everything
with more processors is predicted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.parallel.schedule import zengtables as paper
from boolcomp.parallel.schedule.encore import Contended, Encore
from boolcomp.parallel.schedule.findings import Finding
from boolcomp.parallel.schedule.listing import cp_misf
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.machine import UNIT, Costs, Machine, Shared
from boolcomp.parallel.schedule.simulate import simulate

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph

_PROCESSORS = (1, 2, 3, 4)


def fitted_encore() -> Encore:
    """Solve for the parameters."""
    sequential = _micro(float(paper.SEQUENTIAL))
    whole, grouped, split = paper.graph_of_95(), paper.graph_of_52(), paper.graph_of_57()
    work = sum(task.operations.total for task in whole.tasks)
    # Each task is put into the queue once and taken out once.
    rows = [
        [len(g.tasks), 2 * locked * len(g.tasks), len(g.edges)]
        for g, locked in ((whole, 1), (grouped, 1), (grouped, 0))
    ]
    columns = ("2 dynamic", "3 dynamic", "4 static")
    extra = [_micro(float(paper.SECONDS[name][0])) - sequential for name in columns]
    task, queue, lock = np.linalg.solve(np.array(rows, dtype=float), np.array(extra))
    around = (_micro(float(paper.SECONDS["5 static"][0])) - sequential) / len(split.tasks)
    return Encore(sequential / work, float(task) - around, around, float(queue), float(lock))


def predicted_seconds(encore: Encore) -> dict[str, tuple[float, ...]]:
    """Return the table of seconds for 1 to 4 processors as the model has it."""
    graphs = {"1": paper.graph_by_link(), "2": paper.graph_of_95(), "3": paper.graph_of_52()}
    found: dict[str, tuple[float, ...]] = {}
    for version, graph in graphs.items():
        runs = [Contended(graph, encore, p) for p in _PROCESSORS]
        # The paper's static lists, too, are what its dynamic runs did.
        static = [Contended(graph, encore, len(run.lists), run.lists) for run in runs]
        found[f"{version} dynamic"] = tuple(_seconds(run.us) for run in runs)
        found[f"{version} static"] = tuple(_seconds(run.us) for run in static)
    # Version 4 follows version 3's lists without queues.
    local = [Contended(graph, encore, len(x.lists), x.lists, queued=False) for x in runs]
    found["4 static"] = tuple(_seconds(run.us) for run in local)
    fifth = _fifth(encore)
    found["5 static"] = tuple(_seconds(_table_or_cp(fifth, p)) for p in _PROCESSORS)
    return found


def _fifth(encore: Encore) -> Machine:
    """Return the machine of version 5, whose 3 and 4 processors leave nothing for a bus to do."""
    op = encore.operation
    return Machine(
        "encore-fitted", "", "", 8, Costs(op, op, op, op, op, encore.around),
        Shared(0.0, 0.0, encore.lock, 0.0, poll=False),
    )  # fmt: skip


def _table_or_cp(machine: Machine, processors: int) -> float:
    """Return the µs of the printed table where there is one, else of CP/MISF."""
    split = paper.graph_of_57()
    if processors == 4:
        return simulate(split, paper.level_table(4), machine).makespan_us
    if processors == 3:  # this table does not split the tasks
        return simulate(paper.graph_of_52(), paper.level_table(3), machine).makespan_us
    return _listed(split, machine, processors)


def zeng_findings() -> tuple[Finding, ...]:
    """Return every figure of the paper that counts or the model give."""
    return (*_zeng_counts(), *_level_tables(), *_zeng_model())


def _zeng_counts() -> tuple[Finding, ...]:
    whole, grouped, split = paper.graph_of_95(), paper.graph_of_52(), paper.graph_of_57()
    fifth = [float(text) for text in paper.SECONDS["5 static"]]
    best = min(fifth)
    return (
        Finding("tasks, 19 a link", "95", len(whole.tasks) - 2, "count", "without the two dummies"),
        Finding("tasks, regrouped", "52", len(grouped.tasks), "count", "with the two dummies"),
        Finding("highest task number, version 5", "56", len(split.tasks) - 1, "count"),
        Finding("best speed-up, against sequential", "1.94", float(paper.SEQUENTIAL) / best,
                "count", "quotient of its seconds"),
        Finding("best speed-up, against itself on one", "2.45", fifth[0] / best, "count",
                "quotient of its seconds"),
        Finding("processors beyond which nothing is gained (at most)", "6", _enough(whole),
                "model", "CP/MISF reaches the critical path of the 95 tasks with so many, "
                "operations taking equally long"),
    )  # fmt: skip


def _enough(graph: TaskGraph) -> int:
    """Return with how many processors CP/MISF is as short as the critical path."""
    path = lower_bounds(graph, UNIT, 1).critical_path_us
    return next(p for p in range(1, 100) if _listed(graph, UNIT, p) <= path * (1 + 1e-9))


def _listed(graph: TaskGraph, machine: Machine, processors: int) -> float:
    """Return the µs of CP/MISF's lists."""
    return simulate(graph, cp_misf(graph, machine, processors), machine).makespan_us


def _level_tables() -> tuple[Finding, ...]:
    """Compare CP/MISF with the printed tables, in operations."""
    found = []
    for processes, graph in ((3, paper.graph_of_52()), (4, paper.graph_of_57())):
        table = simulate(graph, paper.level_table(processes), UNIT).makespan_us
        found.append(
            Finding(
                f"operations on the longest way, level table for {processes}",
                f"{table:.0f}",
                _listed(graph, UNIT, processes),
                "model",
                "printed: the table's lists simulated; ours: CP/MISF on the same graph, at least "
                f"{lower_bounds(graph, UNIT, processes).best_us:.0f}",
            )
        )
    return tuple(found)


def _zeng_model() -> tuple[Finding, ...]:
    encore = fitted_encore()
    predicted = predicted_seconds(encore)
    found = []
    for version, seconds in predicted.items():
        for processors, ours in zip(_PROCESSORS, seconds, strict=True):
            printed = paper.SECONDS[version][processors - 1]
            fit = processors == 1 and version in ("2 dynamic", "3 dynamic", "4 static", "5 static")
            found.append(
                Finding(
                    f"version {version}, {processors} processors (s)",
                    printed,
                    ours,
                    "model",
                    "fitted" if fit else "predicted",
                )
            )
    best = min(predicted["5 static"])
    sequential = float(paper.SEQUENTIAL)
    note = f"model: {encore}"
    found += [
        Finding("best speed-up of the model", "1.94", sequential / best, "model", note),
        Finding("best speed-up against itself", "2.45", predicted["5 static"][0] / best, "model"),
    ]
    fifth = _fifth(encore)
    split = paper.graph_of_57()
    for processors in (3, 4):
        ours = _listed(split, fifth, processors)
        found.append(
            Finding(
                f"version 5, {processors} processors, our CP/MISF lists (s)",
                paper.SECONDS["5 static"][processors - 1],
                _seconds(ours),
                "model",
                "predicted; not the printed table",
            )
        )
    return tuple(found)


def _micro(seconds: float) -> float:
    """Return the µs of one loop."""
    return seconds * 1e6 / paper.LOOPS


def _seconds(micro: float) -> float:
    return micro * paper.LOOPS / 1e6
