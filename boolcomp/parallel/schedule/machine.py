"""Machines: what an operation, a message and a lock cost, and which processors are neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from boolcomp.base.errors import short
from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from boolcomp.problem.dynamics.operations import Operations

Topology = Literal["full", "ring", "line", "star"]
TOPOLOGIES: tuple[Topology, ...] = ("full", "ring", "line", "star")


@dataclass(frozen=True, slots=True)
class Costs:
    """What one operation takes, in µs; `dispatch` is paid once a task, before it begins."""

    multiplication: float
    addition: float
    division: float
    root: float
    function: float
    dispatch: float = 0.0

    def time(self, operations: Operations) -> float:
        """Return the µs that the operations take one after another."""
        return (
            operations.multiplications * self.multiplication
            + operations.additions * self.addition
            + operations.divisions * self.division
            + operations.roots * self.root
            + operations.functions * self.function
        )


@dataclass(frozen=True, slots=True)
class Links:
    """Messages between processors that have no memory in common.

    A message of w words takes latency + w·word µs from one neighbour to the next, over a channel
    that carries one at a time. A processor sends and receives over at most `count` links at once.
    Without `overlap` the sender does nothing else meanwhile.
    """

    topology: Topology
    count: int
    latency: float
    word: float
    overlap: bool

    def message(self, words: int) -> float:
        """Return the µs of a message between neighbours."""
        return self.latency + words * self.word

    def neighbours(self, here: int, there: int, processors: int) -> bool:
        """Tell whether two different processors are joined."""
        if self.topology == "star":
            return 0 in (here, there)
        distance = abs(here - there)
        around = self.topology == "ring" and distance == processors - 1
        return self.topology == "full" or distance == 1 or around

    def path(self, source: int, target: int, processors: int) -> tuple[int, ...]:
        """Return the processors that a message passes, its ends included."""
        if source == target:
            return (source,)
        if self.neighbours(source, target, processors):
            return (source, target)
        if self.topology == "star":
            return (source, 0, target)
        step = 1 if target > source else -1
        if self.topology == "ring" and 2 * abs(target - source) > processors:
            step = -step
        stops = [source]
        while stops[-1] != target:
            stops.append((stops[-1] + step) % processors)
        return tuple(stops)

    def hops(self, source: int, target: int, processors: int) -> int:
        """Return how many channels a message passes."""
        distance = abs(source - target)
        match self.topology:
            case "line":
                return distance
            case "ring":
                return min(distance, processors - distance)
        if not distance:
            return 0
        return 1 if self.neighbours(source, target, processors) else 2


@dataclass(frozen=True, slots=True)
class Shared:
    """Memory that all processors reach.

    What another processor needs is written once, `word` µs a word, and seen `latency` µs later.
    For every successor on another processor a counter is lowered under its lock (`lock` µs). The
    queue of a dynamic schedule is held `queue` µs to put a task in or take one out, by one
    processor at a time; with `poll`, idle processors ask for it again and again, so that whoever
    wants it waits for each of them. With `own`, the counters of successors on the same processor
    are lowered under their locks too.
    """

    latency: float
    word: float
    lock: float
    queue: float
    poll: bool
    own: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with links or with shared memory, and at most so many processors."""

    name: str
    title: str
    source: str
    processors: int
    costs: Costs
    memory: Links | Shared

    def time(self, operations: Operations) -> float:
        """Return the µs that one processor takes for the operations."""
        return self.costs.time(operations)

    def delay(self, words: int, source: int, target: int, processors: int) -> float:
        """Return the µs from the end of a task to its words on another processor, unhindered."""
        if source == target:
            return 0.0
        if isinstance(self.memory, Shared):
            return self.memory.lock + words * self.memory.word + self.memory.latency
        return self.memory.hops(source, target, processors) * self.memory.message(words)

    def check_processors(self, processors: int) -> None:
        """Raise a `UsageError` unless the machine can have so many processors."""
        if not 1 <= processors <= self.processors:
            raise UsageError(
                f"machine {self.name} has 1 to {self.processors} processors, not {processors}"
            )

    def __str__(self) -> str:
        costs = self.costs
        head = (
            f"machine {self.name}: up to {self.processors} processors; µs: "
            f"mul {short(costs.multiplication)}, add {short(costs.addition)}, "
            f"div {short(costs.division)}, root {short(costs.root)}, fun {short(costs.function)}"
        )
        if costs.dispatch:
            head += f", {short(costs.dispatch)} a task"
        memory = self.memory
        if isinstance(memory, Shared):
            poll = ", idle processors poll" if memory.poll else ""
            return (
                f"{head}; shared memory: {short(memory.word)} a word, {short(memory.latency)} "
                f"until it is seen, lock {short(memory.lock)}, queue {short(memory.queue)}{poll}"
            )
        beside = "beside" if memory.overlap else "instead of"
        return (
            f"{head}; {memory.count} links ({memory.topology}), {short(memory.latency)} a message "
            f"+ {short(memory.word)} a word, {beside} calculation"
        )


# Every operation takes one, messages nothing: for what follows from counts alone.
UNIT = Machine("unit", "", "", 99, Costs(1, 1, 1, 1, 1), Shared(0, 0, 0, 0, poll=False))
