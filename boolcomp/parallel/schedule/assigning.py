"""Assignments given by the user, and the communication vectors that follow from any assignment.

A file names patterns of tasks for every processor (Schäfer & Schiehlen's configuration):

    order = "priority"             # or "given": as the tasks stand here
    [processors]
    P0 = ["J*", "M*", "solve"]
    P1 = ["k*"]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import parse_toml
from boolcomp.common.errors import DataError, cut, listing, shown, suggestion
from boolcomp.parallel.schedule.indexed import indexed
from boolcomp.parallel.schedule.placed import Assignment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.machine import Machine
    from boolcomp.problem.expressions.straight import Straight

_KEYS = ("order", "processors")
_ORDERS = ("priority", "given")


@dataclass(frozen=True, slots=True)
class CommunicationVector:
    """What one processor must send another, each word once; `nodes` where a program is known."""

    source: int
    target: int
    tasks: tuple[str, ...]
    words: int
    nodes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"P{self.source}->P{self.target}: {self.words} words of {', '.join(self.tasks)}"


def parse_assignment(
    text: str, graph: TaskGraph, machine: Machine, processors: int, where: str = "assignment"
) -> Assignment:
    """Read an assignment file for a graph; every task must be matched on exactly one processor."""
    document = parse_toml(text, where)
    for key in document:
        if key not in _KEYS:
            hint = suggestion(key, _KEYS) or f" (allowed: {listing(_KEYS)})"
            raise DataError(f"{where}: {cut(key)}: unknown key{hint}")
    order = document.get("order", "priority")
    if order not in _ORDERS:
        hint = suggestion(order, _ORDERS) if isinstance(order, str) else ""
        raise DataError(f"{where}: order: must be {' or '.join(_ORDERS)}, not {shown(order)}{hint}")
    table = document.get("processors")
    if not isinstance(table, dict) or not table:
        raise DataError(f"{where}: a [processors] section with at least one processor is missing")
    names = [task.name for task in graph.tasks]
    lists = _lists(where, table, names, processors)
    if order == "priority":
        tasks = indexed(graph, machine)
        number = {name: k for k, name in enumerate(tasks.names)}
        lists = [
            sorted(held, key=lambda name: (-tasks.levels[number[name]], number[name]))
            for held in lists
        ]
    left = [name for name in names if not any(name in held for held in lists)]
    if left:
        raise DataError(
            f"{where}: no processor is given task {left[0]!r}"
            + (f" nor {len(left) - 1} more" if len(left) > 1 else "")
        )
    return Assignment(tuple(tuple(held) for held in lists))


def _lists(
    where: str, table: Mapping[str, Any], names: Sequence[str], processors: int
) -> list[list[str]]:
    """Return the tasks of every processor in the order of the patterns."""
    known = [f"P{k}" for k in range(processors)]
    lists: list[list[str]] = [[] for _ in known]
    owner: dict[str, str] = {}
    for key, patterns in table.items():
        if key not in known:
            hint = suggestion(key, known) if re.fullmatch(r"P\d+", key) is None else ""
            raise DataError(
                f"{where}: processors.{cut(key)}: unknown processor{hint}; there are {processors}: "
                f"{known[0]} to {known[-1]}"
            )
        if not isinstance(patterns, list) or not all(isinstance(p, str) for p in patterns):
            raise DataError(f"{where}: processors.{key}: must be a list of task names or patterns")
        for pattern in patterns:
            found = [name for name in names if fnmatchcase(name, pattern)]
            if not found:
                raise DataError(
                    f"{where}: processors.{key}: no task matches {shown(pattern)}"
                    + suggestion(pattern, names)
                )
            for name in found:
                if owner.setdefault(name, key) != key:
                    raise DataError(
                        f"{where}: task {name!r} is given to {owner[name]} and to {key}"
                    )
                if name not in lists[known.index(key)]:
                    lists[known.index(key)].append(name)
    return lists


def communication(graph: TaskGraph, assignment: Assignment) -> tuple[CommunicationVector, ...]:
    """Return what must be sent between processors, as far as a graph alone tells.

    Tasks on one processor that need something of the same task get it in one message, as long as
    the most that one of them needs.
    """
    place = assignment.places()
    most: dict[tuple[int, int], dict[str, int]] = {}
    for edge in graph.edges:
        pair = (place[edge.before], place[edge.after])
        if pair[0] != pair[1]:
            words = most.setdefault(pair, {})
            words[edge.before] = max(edge.words, words.get(edge.before, 0))
    return tuple(
        CommunicationVector(*pair, tuple(words), sum(words.values()))
        for pair, words in sorted(most.items())
    )


def exact_communication(
    straight: Straight, task_of_node: Sequence[str], assignment: Assignment
) -> tuple[CommunicationVector, ...]:
    """Return the least that must be sent, value by value, by the program's own dependencies."""
    place = assignment.places()
    needed: dict[tuple[int, int], dict[int, None]] = {}
    for k, node in enumerate(straight.nodes):
        if node.free:
            continue
        here = place[task_of_node[k]]
        for j in node.operands:
            if not straight.nodes[j].free and place[task_of_node[j]] != here:
                needed.setdefault((place[task_of_node[j]], here), {})[j] = None
    return tuple(
        CommunicationVector(
            *pair,
            tuple(dict.fromkeys(task_of_node[j] for j in sorted(nodes))),
            len(nodes),
            tuple(sorted(nodes)),
        )
        for pair, nodes in sorted(needed.items())
    )
