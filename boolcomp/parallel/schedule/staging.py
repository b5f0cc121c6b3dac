"""From a program and an assignment to segments: what a processor calculates between exchanges.

A value that crosses from one processor to another ends a stage; a processor's segment of stage s
needs only what segments of earlier stages have left. Blocks of samples go through the stages one
behind the other, so that all processors work at once and an exchange is waited for by nobody.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.parallel.schedule.placed import Assignment
    from boolcomp.problem.expressions.straight import Straight


Value = tuple[int, int]  # a node, and the processor that calculates it


@dataclass(frozen=True, slots=True)
class Segment:
    """Nodes that one processor calculates in one stage, in their order.

    `reads` are values of earlier segments; `writes` nodes that later segments or other processors
    read; `outputs` the places of the program's outputs that are calculated here. `suppliers` are
    the (processor, stage) pairs that must be done before.
    """

    processor: int
    stage: int
    nodes: tuple[int, ...]
    reads: tuple[Value, ...]
    writes: tuple[int, ...]
    outputs: tuple[int, ...]
    suppliers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Staged:
    """All segments, and the place in a block's frame of every value that is handed on."""

    processors: int
    stages: int
    segments: tuple[Segment, ...]
    slots: tuple[tuple[Value, int], ...]

    @property
    def exchanged(self) -> int:
        """How many values a sample are handed from one processor to another."""
        given = {(v, x.processor) for x in self.segments for v in x.reads if v[1] != x.processor}
        return len(given)

    def of(self, processor: int) -> tuple[Segment, ...]:
        """Return the segments of a processor, by stage."""
        return tuple(x for x in self.segments if x.processor == processor)

    def __str__(self) -> str:
        parts = ", ".join(
            f"P{p} {sum(len(x.nodes) for x in self.of(p))} nodes in {len(self.of(p))} segments"
            for p in range(self.processors)
        )
        return f"{self.stages} stages, {self.exchanged} values exchanged; {parts}"


def stage(straight: Straight, task_of_node: Sequence[str], assignment: Assignment) -> Staged:
    """Cut a program into segments along an assignment of its tasks.

    A task may be on several processors: each then calculates what it needs of it itself, and the
    first hands it to those that do not. Nothing is calculated where nobody needs it, and nothing
    that stays on its processor before the stage in which it is used: so little is kept.
    """
    places: dict[str, list[int]] = defaultdict(list)
    for processor, names in enumerate(assignment.lists):
        for name in names:
            places[name].append(processor)
    missing = sorted({task for task in task_of_node if task and task not in places})
    if missing:
        raise DataError(f"task {missing[0]!r} of the program is on no processor")
    maker = _Cutter(straight, [places.get(task, [0]) for task in task_of_node])
    return maker.staged(assignment.processors)


class _Cutter:
    """Who calculates which node, and when."""

    def __init__(self, straight: Straight, places: Sequence[Sequence[int]]) -> None:
        self.straight = straight
        self.places = places
        self.needed: set[Value] = set()
        self.exported: set[Value] = set()
        self.users: dict[Value, list[Value]] = defaultdict(list)
        self.stages: dict[Value, int] = {}
        self._need()
        self._level()
        self._sink()

    def operands(self, value: Value) -> list[Value]:
        """Return what a value is calculated from: here if it can be, else where it is first."""
        node, here = value
        nodes = self.straight.nodes
        return [
            (j, here if here in self.places[j] else self.places[j][0])
            for j in nodes[node].operands
            if not nodes[j].free
        ]

    def _need(self) -> None:
        nodes = self.straight.nodes
        ends = (x.node for x in self.straight.outputs)
        waiting = [(k, self.places[k][0]) for k in ends if not nodes[k].free]
        while waiting:
            value = waiting.pop()
            if value in self.needed:
                continue
            self.needed.add(value)
            for operand in self.operands(value):
                self.users[operand].append(value)
                if operand[1] != value[1]:
                    self.exported.add(operand)
                waiting.append(operand)

    def _level(self) -> None:
        for value in sorted(self.needed):
            before = ((self.stages[x] + (x[1] != value[1])) for x in self.operands(value))
            self.stages[value] = max(before, default=0)

    def _sink(self) -> None:
        """Put off what only its own processor uses."""
        for value in sorted(self.needed, reverse=True):
            if value not in self.exported and self.users[value]:
                self.stages[value] = min(self.stages[user] for user in self.users[value])

    def staged(self, processors: int) -> Staged:
        """Return the segments."""
        held: dict[tuple[int, int], list[int]] = defaultdict(list)
        for node, processor in sorted(self.needed):
            held[self.stages[node, processor], processor].append(node)
        outputs: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, output in enumerate(self.straight.outputs):
            value = (output.node, self.places[output.node][0])
            # Outputs that are inputs or constants are left to the first processor.
            free = self.straight.nodes[output.node].free
            outputs[(0, 0) if free else (self.stages[value], value[1])].append(i)
        for key in outputs:
            held[key] += []
        reads = {key: self._reads(key, members) for key, members in held.items()}
        read_later = {value for found in reads.values() for value in found}
        segments = [
            Segment(
                processor=key[1],
                stage=key[0],
                nodes=tuple(held[key]),
                reads=tuple(reads[key]),
                writes=tuple(k for k in held[key] if (k, key[1]) in read_later),
                outputs=tuple(outputs.get(key, ())),
                suppliers=tuple(sorted({(p, self.stages[k, p]) for k, p in reads[key]})),
            )
            for key in sorted(held)
        ]
        stages = 1 + max((x.stage for x in segments), default=0)
        slots = tuple((value, slot) for slot, value in enumerate(sorted(read_later)))
        return Staged(processors, stages, tuple(segments), slots)

    def _reads(self, key: tuple[int, int], members: Sequence[int]) -> list[Value]:
        found = {x for node in members for x in self.operands((node, key[1]))}
        return sorted(x for x in found if (self.stages[x], x[1]) != key)
