"""Zeng & Egan 1991: their tables and task graphs as values (five revolute joints).

Tasks of the graph of 95 are `task/link`; those of the graph of 52 have the paper's numbers, task k
of link i being 10 (i - 1) + k; version 5 splits A v̇ of the link before off task 3, as 52…56.
Counts are those of the equations in the paper's figures 2 and 3: a rotated vector takes 9
multiplications and 6 additions, a cross product 6 and 3, a sum of vectors 3; z q̇ has one entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.placed import Assignment
from boolcomp.problem.dynamics.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

JOINTS = 5
LOOPS = 21200
SEQUENTIAL = "97.7"
# Seconds for that many loops with 1, 2, 3, 4 processors.
SECONDS: Mapping[str, tuple[str, ...]] = {
    "1 dynamic": ("298.1", "254.8", "287.8", "368.2"),
    "1 static": ("297.1", "255.8", "268.5", "313.3"),
    "2 dynamic": ("274.5", "177.9", "161.6", "180.1"),
    "2 static": ("252.6", "180.0", "156.5", "155.9"),
    "3 dynamic": ("192.8", "130.4", "115.4", "122.7"),
    "3 static": ("178.4", "124.4", "106.4", "112.3"),
    "4 dynamic": ("183.3", "125.9", "113.7", "118.0"),
    "4 static": ("161.7", "99.6", "82.7", "80.1"),
    "5 static": ("123.7", "83.9", "55.7", "50.4"),
}
# The level tables of version 5, process by process.
LEVELS: Mapping[int, tuple[str, ...]] = {
    4: (
        "0 52 53 54 55 56 24 25 28 14 15 18",
        "1 11 21 31 41 34 35 38 50 4 5 8 6",
        "2 12 22 32 42 45 46 36 26 16 40 30 20",
        "47 3 13 23 33 43 44 48 49 37 39 27 29 17 19 7 9 10 51",
    ),
    3: (
        "0 1 11 21 31 41 34 24 14 38 25 28 15 18 4 5 8",
        "2 12 22 32 42 45 35 46 36 26 16 50 40 30 20 6",
        "47 3 13 23 33 43 44 48 49 37 39 27 29 17 19 7 9 10 51",
    ),
}
# Multiplications, additions and predecessors of the nineteen tasks of link i (figure 2 and the
# table below it): `-` marks the link before, `+` the one after.
NINETEEN = (
    (9, 7, "1-"),
    (2, 0, "1-"),
    (9, 9, "3- 2"),
    (9, 6, "7-"),
    (6, 3, "1"),
    (6, 3, "3"),
    (6, 9, "4 5 6 1"),
    (12, 6, "1"),
    (6, 3, "3"),
    (3, 6, "7 8 9"),
    (9, 6, "3"),
    (15, 9, "1"),
    (0, 3, "11 12"),
    (9, 9, "10 14+"),
    (6, 3, "14+"),
    (9, 9, "15 18+"),
    (6, 3, "10"),
    (0, 6, "16 17 13"),
    (4, 3, "14 18"),
)
# Those of the ten tasks (figure 3); its table prints 2/i+1 where 2/i-1 is meant.
TEN = (
    (9, 7, "1-"),
    (11, 9, "1- 2-"),
    (27, 21, "3- 1 2"),
    (21, 15, "3 1 2"),
    (24, 18, "1 2"),
    (9, 9, "4 6+"),
    (15, 12, "6+ 9+"),
    (6, 3, "4"),
    (0, 6, "5 7 8"),
    (4, 3, "9"),
)
ROTATED = Operations(9, 6)  # what version 5 splits off task 3
_WORDS = 3  # every task hands on a vector


def graph_of_95() -> TaskGraph:
    """Return version 2's graph with its dummies 0 and 96."""
    return _graph("zeng-95", NINETEEN, lambda k, i: f"{k}/{i}", ("0", "96"))


def graph_of_52() -> TaskGraph:
    """Return version 3's graph with its dummies 0 and 51."""
    return _graph("zeng-52", TEN, _number, ("0", "51"))


def graph_of_57() -> TaskGraph:
    """Return version 5's graph: tasks 52 to 56 are A v̇ of the link before."""
    whole = graph_of_52()
    tasks, edges = [], []
    for task in whole.tasks:
        place = int(task.name)
        if place % 10 == 3 and place < 50:
            link = place // 10 + 1
            given = task.operations
            left = Operations(
                given.multiplications - ROTATED.multiplications,
                given.additions - ROTATED.additions,
            )
            tasks += [Task(str(51 + link), ROTATED), Task(task.name, left)]
            edges.append(Edge(str(51 + link), task.name, _WORDS))
            if link == 1:
                edges.append(Edge("0", "52", 0))
        else:
            tasks.append(task)
    for edge in whole.edges:
        before, after = int(edge.before), int(edge.after)
        if before % 10 == 3 and after == before + 10:
            edges.append(Edge(edge.before, str(52 + after // 10), edge.words))
        else:
            edges.append(edge)
    return TaskGraph("zeng-57", tuple(tasks), tuple(edges))


def graph_by_link() -> TaskGraph:
    """Return version 1's graph: within one link at a time, a barrier before and behind each."""
    inner = _graph("zeng-1", NINETEEN, lambda k, i: f"{k}/{i}", None)
    stages = [[f"{k}/{i}" for k in range(1, 14)] for i in range(1, JOINTS + 1)]
    stages += [[f"{k}/{i}" for k in range(14, 20)] for i in range(JOINTS, 0, -1)]
    tasks, edges = [], []
    known = {task.name: task for task in inner.tasks}
    for n, stage in enumerate(stages):
        inside = [e for e in inner.edges if e.before in stage and e.after in stage]
        tasks += [Task(f"begin {n}", Operations()), *(known[name] for name in stage)]
        tasks.append(Task(f"end {n}", Operations()))
        first = set(stage) - {e.after for e in inside}
        last = set(stage) - {e.before for e in inside}
        edges += [Edge(f"begin {n}", name, _WORDS) for name in stage if name in first]
        edges += inside
        edges += [Edge(name, f"end {n}", _WORDS) for name in stage if name in last]
        if n:
            edges.append(Edge(f"end {n - 1}", f"begin {n}", 0))
    return TaskGraph("zeng-by-link", tuple(tasks), tuple(edges))


def level_table(processes: int) -> Assignment:
    """Return the printed table of version 5 for 3 or 4 processes."""
    return Assignment(tuple(tuple(line.split()) for line in LEVELS[processes]))


def _number(task: int, link: int) -> str:
    return str(10 * (link - 1) + task)


def _graph(
    name: str,
    rows: Iterable[tuple[int, int, str]],
    naming: Callable[[int, int], str],
    dummies: tuple[str, str] | None,
) -> TaskGraph:
    rows = tuple(rows)
    tasks, edges = [], []
    for link in range(1, JOINTS + 1):
        for k, (multiplications, additions, needs) in enumerate(rows, 1):
            tasks.append(Task(naming(k, link), Operations(multiplications, additions)))
            for need in needs.split():
                other = link + need.endswith("+") - need.endswith("-")
                if 1 <= other <= JOINTS:
                    before = naming(int(need.rstrip("+-")), other)
                    edges.append(Edge(before, naming(k, link), _WORDS))
    if dummies is not None:
        entry, end = dummies
        first = {task.name for task in tasks} - {edge.after for edge in edges}
        last = {task.name for task in tasks} - {edge.before for edge in edges}
        edges = [
            *(Edge(entry, task.name, 0) for task in tasks if task.name in first),
            *edges,
            *(Edge(task.name, end, 1) for task in tasks if task.name in last),
        ]
        tasks = [Task(entry, Operations()), *tasks, Task(end, Operations())]
    return TaskGraph(name, tuple(tasks), tuple(edges))
