"""Zeng & Egan 1991 anew: an Encore-like machine fitted on one processor, predicting the others.

Four parameters come from four one-processor figures: µs an operation (sequential), µs a task, µs
the queue's lock is held, µs to lower a successor's counter (versions 2 and 3 dynamic, 4 static).
Version 5 has other code around a task: its own one-processor figure gives its own µs a task.
Everything with more processors is predicted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.parallel.schedule import zengtables as paper
from boolcomp.parallel.schedule.findings import Finding
from boolcomp.parallel.schedule.listing import cp_misf
from boolcomp.parallel.schedule.lowerbounds import lower_bounds
from boolcomp.parallel.schedule.machine import Costs, Machine, Shared
from boolcomp.parallel.schedule.queues import dynamic
from boolcomp.parallel.schedule.simulate import simulate

if TYPE_CHECKING:
    from boolcomp.parallel.schedule.graph import TaskGraph

_PROCESSORS = (1, 2, 3, 4)


@dataclass(frozen=True, slots=True)
class Encore:
    """The fitted parameters, in µs."""

    operation: float
    task: float
    queue: float
    lock: float
    task_of_version_5: float

    def machine(self, *, task: float, queue: float, own: bool) -> Machine:
        """Return the machine of one of the versions."""
        op = self.operation
        return Machine(
            "encore-fitted", "", "", 8,
            Costs(op, op, op, op, op, task),
            Shared(0.0, 0.0, self.lock, queue, poll=True, own=own),
        )  # fmt: skip

    def __str__(self) -> str:
        return (
            f"{self.operation:.2f} µs an operation, {self.task:.1f} a task, {self.queue:.1f} for "
            f"the queue, {self.lock:.2f} a successor, version 5 {self.task_of_version_5:.1f} a task"
        )


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
    fifth = _micro(float(paper.SECONDS["5 static"][0])) - sequential
    return Encore(
        sequential / work, float(task), float(queue), float(lock), fifth / len(split.tasks)
    )


def predicted_seconds(encore: Encore) -> dict[str, tuple[float, ...]]:
    """Return the table of seconds for 1 to 4 processors as the model has it."""
    graphs = {"1": paper.graph_by_link(), "2": paper.graph_of_95(), "3": paper.graph_of_52()}
    queued = encore.machine(task=encore.task, queue=encore.queue, own=True)
    # A queue a processor: its lock is never wanted by two, so its time is just part of a task's.
    apart = encore.machine(task=encore.task + 2 * encore.queue, queue=0.0, own=True)
    local = encore.machine(task=encore.task, queue=0.0, own=True)
    found: dict[str, tuple[float, ...]] = {}
    for version, graph in graphs.items():
        runs = [dynamic(graph, queued, p) for p in _PROCESSORS]
        found[f"{version} dynamic"] = tuple(_seconds(run.makespan_us) for run in runs)
        found[f"{version} static"] = _traced(graph, queued, apart)
    found["4 static"] = _traced(graphs["3"], queued, local)
    fifth = _fifth(encore)
    found["5 static"] = tuple(
        _seconds(_table_or_cp(fifth, processors)) for processors in _PROCESSORS
    )
    return found


def _traced(graph: TaskGraph, queued: Machine, machine: Machine) -> tuple[float, ...]:
    """Simulate lists that are what a dynamic run did, as the paper made its static ones."""
    lists = [dynamic(graph, queued, p).assignment for p in _PROCESSORS]
    return tuple(_seconds(simulate(graph, x, machine).makespan_us) for x in lists)


def _fifth(encore: Encore) -> Machine:
    return encore.machine(task=encore.task_of_version_5, queue=0.0, own=False)


def _table_or_cp(machine: Machine, processors: int) -> float:
    """Return the µs of the printed table where there is one, else of CP/MISF."""
    split = paper.graph_of_57()
    if processors == 4:
        return simulate(split, paper.level_table(4), machine).makespan_us
    if processors == 3:  # this table does not split the tasks
        return simulate(paper.graph_of_52(), paper.level_table(3), machine).makespan_us
    return simulate(split, cp_misf(split, machine, processors), machine).makespan_us


def findings() -> tuple[Finding, ...]:
    """Return every figure of the paper that counts or the model give."""
    return (*_counts(), *_level_tables(), *_model())


def _counts() -> tuple[Finding, ...]:
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
    op = Machine("op", "", "", 99, Costs(1, 1, 1, 1, 1), Shared(0, 0, 0, 0, poll=False))
    path = lower_bounds(graph, op, 1).critical_path_us
    return next(
        p
        for p in range(1, 100)
        if simulate(graph, cp_misf(graph, op, p), op).makespan_us <= path * (1 + 1e-9)
    )


def _level_tables() -> tuple[Finding, ...]:
    """Compare CP/MISF with the printed tables, in operations: there is nothing to fit."""
    op = Machine("op", "", "", 8, Costs(1, 1, 1, 1, 1), Shared(0, 0, 0, 0, poll=False))
    found = []
    for processes, graph in ((3, paper.graph_of_52()), (4, paper.graph_of_57())):
        table = simulate(graph, paper.level_table(processes), op).makespan_us
        ours = simulate(graph, cp_misf(graph, op, processes), op).makespan_us
        found.append(
            Finding(
                f"operations on the longest way, level table for {processes}",
                f"{table:.0f}",
                ours,
                "model",
                "printed: the table's lists simulated; ours: CP/MISF on the same graph, at least "
                f"{lower_bounds(graph, op, processes).best_us:.0f}",
            )
        )
    return tuple(found)


def _model() -> tuple[Finding, ...]:
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
        ours = simulate(split, cp_misf(split, fifth, processors), fifth).makespan_us
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
