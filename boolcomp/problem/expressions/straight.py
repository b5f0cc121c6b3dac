"""Straight-line programs: what was calculated, one operation after another.

Nodes are numbered by their place; an operand is the number of an earlier node. The inputs come
first, in the order in which columns are given to `evaluate`; constants are nodes too. Everything
else is one operation, of the task named in it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import number
from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.expressions.rules import ARITY, OPERATIONS, SYMBOLS, UNARY_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.expressions.rules import Kind


@dataclass(frozen=True, slots=True)
class Operation:
    """One value: `value` is that of a constant, `name` that of an input."""

    kind: Kind
    operands: tuple[int, ...] = ()
    value: float = 0.0
    name: str = ""
    task: str = ""

    @property
    def free(self) -> bool:
        """Whether it is there before anything is calculated (an input or a constant)."""
        return self.kind in ("input", "constant")


@dataclass(frozen=True, slots=True)
class Returned:
    """A named result and the node that holds it."""

    name: str
    node: int


@dataclass(frozen=True, slots=True, repr=False)
class Straight:
    """A straight-line program: nodes in an order in which they can be calculated, inputs first."""

    nodes: tuple[Operation, ...]
    outputs: tuple[Returned, ...]
    inputs: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        inputs = tuple(node.name for node in self.nodes if node.kind == "input")
        ordered = all(node.kind == "input" for node in self.nodes[: len(inputs)])
        sound = all(
            len(node.operands) == ARITY.get(node.kind, 2) and max(node.operands, default=-1) < place
            for place, node in enumerate(self.nodes)
        )
        sound = sound and all(output.node < len(self.nodes) for output in self.outputs)
        assert ordered and sound, "not a straight-line program"  # noqa: S101, PT018 (our mistake)
        object.__setattr__(self, "inputs", inputs)

    @property
    def operations(self) -> Operations:
        """What it takes to calculate every node once."""
        return count(self.nodes)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks, in the order of their first nodes."""
        return tuple(dict.fromkeys(node.task for node in self.nodes if not node.free))

    @property
    def last_use(self) -> tuple[int, ...]:
        """For every node the place of its last user; len(nodes) for outputs, -1 if unused."""
        last = [-1] * len(self.nodes)
        for place, node in enumerate(self.nodes):
            for k in node.operands:
                last[k] = place
        for output in self.outputs:
            last[output.node] = len(self.nodes)
        return tuple(last)

    @property
    def most_live(self) -> int:
        """The most values that must be kept at a time (constants not counted)."""
        last, live, most = self.last_use, len(self.inputs), len(self.inputs)
        for place, node in enumerate(self.nodes):
            live += not node.free and last[place] >= 0
            most = max(most, live)
            ended = (k for k in set(node.operands) if last[k] == place)
            live -= sum(self.nodes[k].kind != "constant" for k in ended)
        return most

    def evaluate(self, columns: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
        """Return a column per output from a column per input (all of one length, or scalars)."""
        if len(columns) != len(self.inputs):
            names = ", ".join(self.inputs)
            raise UsageError(f"{len(columns)} columns given, where {names} are wanted")
        values: list[NDArray[np.float64] | None] = [None] * len(self.nodes)
        values[: len(columns)] = [np.asarray(x, dtype=np.float64) for x in columns]
        last = self.last_use
        for place, node in enumerate(self.nodes):
            if node.kind == "constant":
                values[place] = np.asarray(node.value)
            elif node.kind != "input":
                values[place] = OPERATIONS[node.kind](*(values[k] for k in node.operands))
            for k in node.operands:
                if last[k] == place:
                    values[k] = None  # columns are large: those that are done with go
        shape = np.broadcast_shapes(*(np.shape(x) for x in columns))
        return [np.broadcast_to(values[x.node], shape) for x in self.outputs]  # type: ignore[arg-type]

    def live_order(self) -> Straight:
        """Return the same program in an order that keeps few values alive.

        The best of three: as it is; output by output, each from its operands; and greedily, of
        the nodes that can be calculated next the one after which most values are done with, of
        several the one that continues what was calculated last.
        """
        others = (self._in_order(self._by_outputs()), self._in_order(self._greedily()))
        return min((self, *others), key=lambda program: program.most_live)

    def _by_outputs(self) -> list[int]:
        order = [k for k, node in enumerate(self.nodes) if node.free]
        done = set(order)
        waiting = [x.node for x in reversed(self.outputs)]
        waiting = [*range(len(self.nodes) - 1, -1, -1), *waiting]  # what no output needs, last
        while waiting:
            k = waiting[-1]
            missing = [x for x in self.nodes[k].operands if x not in done]
            if k in done or not missing:
                waiting.pop()
                if k not in done:
                    done.add(k)
                    order.append(k)
            waiting += missing if k not in done else []
        return order

    def _greedily(self) -> list[int]:
        users = _users(self.nodes)
        waiting = [sum(not self.nodes[k].free for k in set(x.operands)) for x in self.nodes]
        uses = [len(u) for u in users]
        for output in self.outputs:
            uses[output.node] += 1
        order = [k for k, node in enumerate(self.nodes) if node.free]
        ready = {k: 0 for k, node in enumerate(self.nodes) if not node.free and not waiting[k]}
        while ready:
            chosen = max(ready, key=lambda k: (_freed(self.nodes[k], uses), ready[k], -k))
            del ready[chosen]
            order.append(chosen)
            for k in set(self.nodes[chosen].operands):
                uses[k] -= 1
            for user in users[chosen]:
                waiting[user] -= 1
                if not waiting[user]:
                    ready[user] = len(order)
        return order

    def _in_order(self, order: Iterable[int]) -> Straight:
        place = {old: new for new, old in enumerate(order)}
        nodes = (
            replace(self.nodes[old], operands=tuple(place[k] for k in self.nodes[old].operands))
            for old in place
        )
        outputs = (Returned(x.name, place[x.node]) for x in self.outputs)
        return Straight(tuple(nodes), tuple(outputs))

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        yield "inputs " + " ".join(self.inputs)
        names = {k: _name(k, node) for k, node in enumerate(self.nodes)}
        for place, node in enumerate(self.nodes):
            if not node.free:
                task = f"  # {node.task}" if node.task else ""
                yield f"{names[place]} = {_expression(node, names)}{task}"
        yield from (f"output {x.name} = {names[x.node]}" for x in self.outputs)


def count(nodes: Iterable[Operation]) -> Operations:
    """Return what the nodes take."""
    kinds = Counter[str](node.kind for node in nodes)
    return Operations(
        multiplications=kinds["mul"],
        additions=kinds["add"] + kinds["sub"],
        divisions=kinds["div"],
        roots=kinds["sqrt"],
        functions=sum(kinds[kind] for kind in (*UNARY_FUNCTIONS, "atan2") if kind != "sqrt"),
    )


def _users(nodes: Sequence[Operation]) -> list[list[int]]:
    users: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        for k in set(node.operands):
            users[k].append(place)
    return users


def _freed(node: Operation, uses: Sequence[int]) -> int:
    return sum(uses[k] == 1 for k in set(node.operands))


def _name(place: int, node: Operation) -> str:
    if node.kind == "input":
        return node.name
    return number(node.value) if node.kind == "constant" else f"v{place}"


def _expression(node: Operation, names: dict[int, str]) -> str:
    operands = [names[k] for k in node.operands]
    if node.kind in SYMBOLS:
        return f"{operands[0]} {SYMBOLS[node.kind]} {operands[1]}"
    return f"-{operands[0]}" if node.kind == "neg" else f"{node.kind}({', '.join(operands)})"
