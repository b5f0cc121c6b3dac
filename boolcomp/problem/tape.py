"""Straight-line programs, and an algebra that records calculations as such programs.

Evaluate a function over any algebra on a `Tape` and finish it with the outputs: the result is a
`Straight`, a list of nodes. By default constants fold, and common expressions are recorded once;
with `shared=False` they are recorded once in every task. `Tape(fold=False)` records every
operation, also those with zeros and ones and repeated ones, as the papers count them.

A node belongs to the task that was active when it was first recorded (`with tape.task("W3"):`);
inputs and constants belong to none. A tape works alone, or inside `Folding`.
"""

from __future__ import annotations

import math
from collections import Counter
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from boolcomp.base.errors import DataError, UsageError, number
from boolcomp.problem.algebra import (
    ARITY,
    OPERATIONS,
    SYMBOLS,
    UNARY_FUNCTIONS,
    Algebra,
    Constant,
    Folding,
    Operations,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.algebra import Kind, Unary


# --------------------------------------------------------------------------------------------------
# Straight-line programs.
#
# Nodes are numbered by their index; an operand is the number of an earlier node. The inputs come
# first, in the order of the columns of `evaluate`; constants are nodes, too. Every other node is
# one operation, of the task named in it.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """A node; `value` is the number of a constant, `name` the name of an input."""

    kind: Kind
    operands: tuple[int, ...] = ()
    value: float = 0.0
    name: str = ""
    task: str = ""

    @property
    def free(self) -> bool:
        return self.kind in ("input", "constant")


@dataclass(frozen=True, slots=True)
class Returned:
    """A named result and its node."""

    name: str
    node: int


@dataclass(frozen=True, slots=True, repr=False)
class Straight:
    """A straight-line program: nodes in an order of evaluation, inputs first."""

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
        assert ordered and sound, "not a straight-line program"  # noqa: S101, PT018 (an invariant)
        object.__setattr__(self, "inputs", inputs)

    @property
    def operations(self) -> Operations:
        return count(self.nodes)

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node.task for node in self.nodes if not node.free))

    @property
    def last_use(self) -> tuple[int, ...]:
        """The index of every node's last user; len(nodes) for outputs, -1 if unused."""
        last = [-1] * len(self.nodes)
        for place, node in enumerate(self.nodes):
            for k in node.operands:
                last[k] = place
        for output in self.outputs:
            last[output.node] = len(self.nodes)
        return tuple(last)

    @property
    def most_live(self) -> int:
        """The largest number of values that are live at a time, without constants."""
        last, live, largest = self.last_use, len(self.inputs), len(self.inputs)
        for place, node in enumerate(self.nodes):
            live += not node.free and last[place] >= 0
            largest = max(largest, live)
            ended = (k for k in set(node.operands) if last[k] == place)
            live -= sum(self.nodes[k].kind != "constant" for k in ended)
        return largest

    def evaluate(self, columns: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
        """Return a column per output from a column per input (all of one length, or scalars)."""
        if len(columns) != len(self.inputs):
            raise UsageError(f"{len(columns)} columns given for {', '.join(self.inputs)}")
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
                    values[k] = None  # frees a column, which may be large
        shape = np.broadcast_shapes(*(np.shape(x) for x in columns))
        return [np.broadcast_to(values[x.node], shape) for x in self.outputs]  # type: ignore[arg-type]

    def live_order(self) -> Straight:
        """Return the same program in an order with few live values.

        It is the best of three orders: the given one, output by output, and a greedy one. The
        greedy order takes the ready node that ends most live values, of several the one that became
        ready last.
        """
        others = (self._in_order(self._by_outputs()), self._in_order(self._greedily()))
        return min((self, *others), key=lambda program: program.most_live)

    def _by_outputs(self) -> list[int]:
        order = [k for k, node in enumerate(self.nodes) if node.free]
        done = set(order)
        waiting = [x.node for x in reversed(self.outputs)]
        waiting = [*range(len(self.nodes) - 1, -1, -1), *waiting]  # unused nodes come last
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

        def order_key(k: int) -> tuple[int, int, int]:
            return sum(uses[x] == 1 for x in set(self.nodes[k].operands)), ready[k], -k

        while ready:
            chosen = max(ready, key=order_key)
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
    """Count the operations of nodes."""
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


def _name(place: int, node: Operation) -> str:
    if node.kind == "input":
        return node.name
    return number(node.value) if node.kind == "constant" else f"v{place}"


def _expression(node: Operation, names: dict[int, str]) -> str:
    operands = [names[k] for k in node.operands]
    if node.kind in SYMBOLS:
        return f"{operands[0]} {SYMBOLS[node.kind]} {operands[1]}"
    return f"-{operands[0]}" if node.kind == "neg" else f"{node.kind}({', '.join(operands)})"


# --------------------------------------------------------------------------------------------------
# The recording algebra.
# --------------------------------------------------------------------------------------------------

Key: TypeAlias = "tuple[Kind, tuple[int, ...], float, str]"


@dataclass(frozen=True, slots=True, eq=False)
class Wire:
    """A recorded value, which calculates with others of its tape and with numbers."""

    tape: Tape
    node: int

    def __add__(self, other: Any) -> Any:
        return self.tape.join("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self.tape.join("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self.tape.join("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.tape.join("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self.tape.join("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.tape.join("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.tape.join("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.tape.join("div", other, self)

    def __neg__(self) -> Wire:
        return self.tape.negated(self)


@dataclass(slots=True)
class Tape:
    """The recording algebra; `fold` simplifies, `shared` records common expressions once."""

    fold: bool = True
    shared: bool = True
    _nodes: list[Operation] = field(default_factory=list)
    _known: dict[Key, int] = field(default_factory=dict)
    _task: str = ""

    def input(self, name: str) -> Wire:
        """Return the input of this name."""
        for index, node in enumerate(self._nodes):
            if node.kind == "input" and node.name == name:
                return Wire(self, index)
        self._nodes.append(Operation("input", name=name))
        return Wire(self, len(self._nodes) - 1)

    def constant(self, value: float) -> Wire:
        """Return a constant; constants are shared and belong to no task."""
        key: Key = ("constant", (), float(value) + 0.0, "")
        if key not in self._known:
            self._known[key] = len(self._nodes)
            self._nodes.append(Operation("constant", value=key[2]))
        return Wire(self, self._known[key])

    def sine(self, x: Any) -> Wire:
        return self.function("sin", x)

    def cosine(self, x: Any) -> Wire:
        return self.function("cos", x)

    def sign(self, x: Any) -> Wire:
        return self.function("sign", x)

    def root(self, x: Any) -> Wire:
        return self.function("sqrt", x)

    def function(self, kind: Unary, x: Any) -> Wire:
        """Record a function of one number by its name."""
        wire = self._wire(x)
        value = self._value(wire)
        if value is None or not self.fold:
            return self._record(kind, wire)
        found = value_of(kind, value)
        if not math.isfinite(found):
            name = "the root" if kind == "sqrt" else kind
            raise DataError(f"the calculation takes {name} of {number(value)} for all inputs")
        return self.constant(found)

    def arc(self, y: Any, x: Any) -> Wire:
        """Record atan2(y, x): the angle of the point (x, y)."""
        a, b = self._wire(y), self._wire(x)
        known = self._value(a), self._value(b)
        if self.fold and known[0] is not None and known[1] is not None:
            return self.constant(math.atan2(known[0], known[1]))
        return self._record("atan2", a, b)

    def again(self, step: Operation, read: Sequence[Wire]) -> Wire:
        """Record an operation of a program with new operands."""
        if step.kind == "input":
            return self.input(step.name)
        if step.kind == "constant":
            return self.constant(step.value)
        if step.kind == "neg":
            return self.negated(read[0])
        if step.kind == "atan2":
            return self.arc(*read)
        if len(read) == 2:
            return cast("Wire", self.join(step.kind, *read))
        return self.function(cast("Unary", step.kind), read[0])

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        """Assign the nodes recorded inside to this task; the innermost task counts."""
        outer, self._task = self._task, name
        try:
            yield
        finally:
            self._task = outer

    def join(self, kind: Kind, left: Any, right: Any) -> Any:
        """Record `left kind right`, simplified if the tape folds.

        A sum or product with a `Constant` is left to that class, which calls back with a number.
        """
        if kind != "div" and (isinstance(left, Constant) or isinstance(right, Constant)):
            return NotImplemented
        a, b = self._wire(left), self._wire(right)
        if not self.fold:
            return self._record(kind, a, b)
        x, y = self._value(a), self._value(b)
        if x is not None and y is not None:
            return self.constant(_calculate(kind, x, y))
        fold = {"add": self._add, "sub": self._sub, "mul": self._mul, "div": self._div}[kind]
        return fold(a, b)

    def negated(self, x: Wire) -> Wire:
        """Record -x; two negations cancel."""
        node = self._nodes[x.node]
        if self.fold:
            if node.kind == "constant":
                return self.constant(-node.value)
            if node.kind == "neg":
                return Wire(self, node.operands[0])
        return self._record("neg", x)

    def finish(self, outputs: Sequence[tuple[str, Any]], *, prune: bool = True) -> Straight:
        """Return the program for these named outputs; `prune` drops unused nodes."""
        wires = [(name, self._wire(x).node) for name, x in outputs]
        needed = set(range(len(self._nodes)))
        if prune:
            needed = self._needed([node for _, node in wires])
        inputs = [i for i, node in enumerate(self._nodes) if node.kind == "input"]
        rest = [i for i, node in enumerate(self._nodes) if node.kind != "input" and i in needed]
        place = {old: new for new, old in enumerate(inputs + rest)}
        nodes = (
            replace(node, operands=tuple(place[k] for k in node.operands))
            for node in (self._nodes[i] for i in inputs + rest)
        )
        return Straight(tuple(nodes), tuple(Returned(name, place[node]) for name, node in wires))

    def _needed(self, waiting: list[int]) -> set[int]:
        needed: set[int] = set()
        while waiting:
            node = waiting.pop()
            if node not in needed:
                needed.add(node)
                waiting += self._nodes[node].operands
        return needed

    def _wire(self, x: Any) -> Wire:
        if isinstance(x, Wire):
            return x
        return self.constant(x.value if isinstance(x, Constant) else x)

    def _value(self, x: Wire) -> float | None:
        node = self._nodes[x.node]
        return node.value if node.kind == "constant" else None

    def _negation(self, x: Wire) -> Wire | None:
        """Return y if x is -y, else None."""
        node = self._nodes[x.node]
        return Wire(self, node.operands[0]) if node.kind == "neg" else None

    def _record(self, kind: Kind, *operands: Wire) -> Wire:
        key = self._key(kind, *operands)
        if key in self._known and self.fold:
            return Wire(self, self._known[key])
        self._known[key] = len(self._nodes)
        self._nodes.append(Operation(kind, key[1], task=self._task))
        return Wire(self, self._known[key])

    def _key(self, kind: Kind, *operands: Wire) -> Key:
        places = tuple(x.node for x in operands)
        if kind in ("add", "mul") and self.fold:
            places = tuple(sorted(places))
        return (kind, places, 0.0, "" if self.shared else self._task)

    def _add(self, a: Wire, b: Wire) -> Wire:
        if self._value(a) == 0 or self._value(b) == 0:
            return b if self._value(a) == 0 else a
        minus_a, minus_b = self._negation(a), self._negation(b)
        if minus_b is not None:
            return self._sub(a, minus_b)
        if minus_a is not None:
            return self._sub(b, minus_a)
        return self._record("add", a, b)

    def _sub(self, a: Wire, b: Wire) -> Wire:
        if self._value(b) == 0:
            return a
        if self._value(a) == 0:
            return self.negated(b)
        minus_a, minus_b = self._negation(a), self._negation(b)
        if minus_b is not None:
            return self._add(a, minus_b)
        if minus_a is not None:
            return self.negated(self._add(minus_a, b))
        return self._difference(a, b)

    def _difference(self, a: Wire, b: Wire) -> Wire:
        if a.node == b.node:
            return self.constant(0.0)
        if self._key("sub", b, a) in self._known:
            return self.negated(self._record("sub", b, a))
        return self._record("sub", a, b)

    def _mul(self, a: Wire, b: Wire) -> Wire:
        x, y = self._value(a), self._value(b)
        if x is not None or y is not None:
            return self._scaled(x, b) if x is not None else self._scaled(y or 0.0, a)
        minus_a, minus_b = self._negation(a), self._negation(b)
        if minus_a is not None or minus_b is not None:
            product = self._mul(minus_a or a, minus_b or b)
            return product if minus_a and minus_b else self.negated(product)
        return self._record("mul", a, b)

    def _scaled(self, factor: float, x: Wire) -> Wire:
        """Return factor·x; signs move outwards, and constant factors are multiplied."""
        minus_x = self._negation(x)
        if minus_x is not None:
            return self._scaled(-factor, minus_x)
        if factor in (0.0, 1.0, -1.0):
            return self.constant(0.0) if factor == 0 else x if factor == 1 else self.negated(x)
        if factor < 0:
            return self.negated(self._scaled(-factor, x))
        node = self._nodes[x.node]
        if node.kind == "mul" and (self.shared or node.task == self._task):
            for known, other in (node.operands, node.operands[::-1]):
                if self._nodes[known].kind == "constant":
                    return self._scaled(factor * self._nodes[known].value, Wire(self, other))
        return self._record("mul", self.constant(factor), x)

    def _div(self, a: Wire, b: Wire) -> Wire:
        if self._value(a) == 0:
            return a
        known = self._value(b)
        if known is not None:
            return self._scaled(_calculate("div", 1.0, known), a)
        minus_a, minus_b = self._negation(a), self._negation(b)
        if minus_a is not None or minus_b is not None:
            quotient = self._div(minus_a or a, minus_b or b)
            return quotient if minus_a and minus_b else self.negated(quotient)
        return self._record("div", a, b)


def task(algebra: Algebra, name: str) -> AbstractContextManager[None]:
    """Assign the operations inside to a task, if the algebra records tasks."""
    inner = algebra.inner if isinstance(algebra, Folding) else algebra
    return inner.task(name) if isinstance(inner, Tape) else nullcontext()


def _calculate(kind: Kind, x: float, y: float) -> float:
    if kind == "mul":
        return x * y
    if kind == "div":
        if y == 0:
            raise DataError("the calculation divides by zero for all inputs")
        return x / y
    return x + y if kind == "add" else x - y
