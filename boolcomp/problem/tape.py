"""The recorder of expressions: straight-line programs, and an algebra that records them.

Evaluate a function over any algebra on a `Tape` and finish it with the outputs: the result is a
`Straight`, a list of nodes. By default constants fold, and common expressions are recorded once;
with `shared=False` they are recorded once in every task. `Tape(fold=False)` records every
operation, also those with zeros and ones and repeated ones, as the papers count them.

A node belongs to the task that was active when it was first recorded (`with tape.task("W3"):`);
inputs and constants belong to none. A tape works alone, or inside `Folding`. User-written functions
are recorded on a `Recorder`, whose values know their place in the user's code.
"""

from __future__ import annotations

import inspect
import linecache
import math
from collections import Counter
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

import numpy as np

from boolcomp.base.errors import DataError, UsageError, cut, listing, number, shown
from boolcomp.problem.algebra import (
    ANYTHING,
    ARITHMETIC,
    OPERATIONS,
    RULES,
    Algebra,
    Constant,
    Folding,
    Operations,
    even_ends,
    value_of,
)
from boolcomp.problem.words import MOST_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.problem.algebra import Ends


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

    kind: str
    operands: tuple[int, ...] = ()
    value: float = 0.0
    name: str = ""
    task: str = ""

    @property
    def free(self) -> bool:
        return self.kind in ("input", "constant")

    def text(self, operands: Sequence[str]) -> str:
        """Return the operation of these texts."""
        text = RULES[self.kind].text
        return text.format(*operands) if text else f"{self.kind}({', '.join(operands)})"


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
            len(node.operands) == (0 if node.free else RULES[node.kind].arity)
            and max(node.operands, default=-1) < place
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

    def cone(self, places: Iterable[int]) -> set[int]:
        return _cone(self.nodes, places)

    def part(self, outputs: Sequence[Returned]) -> Straight:
        """Return the program for other outputs: all inputs, and the nodes that they need."""
        return _part(self.nodes, outputs)

    def enclosures(self, inputs: Mapping[str, Ends]) -> list[Ends]:
        """Return an interval that encloses every node, from those of the inputs."""
        found: list[Ends] = []
        for node in self.nodes:
            read = [found[k] for k in node.operands]
            if node.free:
                ends = inputs[node.name] if node.kind == "input" else (node.value, node.value)
            elif node.kind == "mul" and node.operands[0] == node.operands[1]:
                ends = even_ends(read[0], lambda x: x * x)
            else:
                rule = RULES[node.kind]
                least, most = rule.domain
                ends = rule.ends(*(tuple(min(max(x, least), most) for x in one) for one in read))
            found.append(ANYTHING if any(map(math.isnan, ends)) else ends)
        return found

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        yield "inputs " + " ".join(self.inputs)
        names: list[str] = []
        for place, node in enumerate(self.nodes):
            if node.free:
                names.append(node.name or number(node.value))
                continue
            names.append(f"v{place}")
            task = f"  # {node.task}" if node.task else ""
            yield f"v{place} = {node.text([names[k] for k in node.operands])}{task}"
        yield from (f"output {x.name} = {names[x.node]}" for x in self.outputs)


def _cone(nodes: Sequence[Operation], places: Iterable[int]) -> set[int]:
    """Return the nodes on which some depend, themselves included."""
    found = set(places)
    for k in range(max(found, default=-1), -1, -1):
        if k in found:
            found.update(nodes[k].operands)
    return found


def _part(
    nodes: Sequence[Operation], outputs: Sequence[Returned], *, prune: bool = True
) -> Straight:
    needed = _cone(nodes, [x.node for x in outputs]) if prune else range(len(nodes))
    inputs = [k for k, node in enumerate(nodes) if node.kind == "input"]
    order = [*inputs, *(k for k in sorted(needed) if nodes[k].kind != "input")]
    new = {old: place for place, old in enumerate(order)}
    kept = (replace(nodes[k], operands=tuple(new[x] for x in nodes[k].operands)) for k in order)
    return Straight(tuple(kept), tuple(Returned(x.name, new[x.node]) for x in outputs))


def count(nodes: Iterable[Operation]) -> Operations:
    """Count the operations of nodes."""
    kinds = Counter[str](node.kind for node in nodes)
    others = kinds.keys() - {*ARITHMETIC, "sqrt", "input", "constant"}
    return Operations(
        multiplications=kinds["mul"],
        additions=kinds["add"] + kinds["sub"],
        divisions=kinds["div"],
        roots=kinds["sqrt"],
        functions=sum(kinds[kind] for kind in others),
    )


# --------------------------------------------------------------------------------------------------
# The recording algebra.
# --------------------------------------------------------------------------------------------------

FOLDS = {kind: f"_{kind}" for kind in ARITHMETIC}  # methods that simplify
Key: TypeAlias = tuple[str, tuple[int, ...], float, str]


@dataclass(frozen=True, slots=True, eq=False)
class Wire:
    """A recorded value, which calculates with others of its tape and with numbers."""

    tape: Tape
    node: int

    def __add__(self, other: Any) -> Any:
        return self.tape.function("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return self.tape.function("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return self.tape.function("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.tape.function("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self.tape.function("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.tape.function("mul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.tape.function("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.tape.function("div", other, self)

    def __neg__(self) -> Any:
        return self.tape.function("neg", self)


@dataclass
class Tape(Algebra):
    """The recording algebra; `fold` simplifies, `shared` records common expressions once."""

    fold: bool = True
    shared: bool = True
    _nodes: list[Operation] = field(default_factory=list)
    _known: dict[Key, int] = field(default_factory=dict)
    _task: str = ""
    wire: ClassVar[type[Wire]] = Wire

    def input(self, name: str) -> Any:
        """Return the input of this name."""
        for index, node in enumerate(self._nodes):
            if node.kind == "input" and node.name == name:
                return self.wire(self, index)
        self._nodes.append(Operation("input", name=name))
        return self.wire(self, len(self._nodes) - 1)

    def constant(self, value: float) -> Any:
        """Return a constant; constants are shared and belong to no task."""
        return self.wire(self, self._constant(value))

    def function(self, kind: str, *x: Any) -> Any:
        """Record an operation on wires and numbers, simplified if the tape folds.

        A sum or product with a `Constant` is left to that class, which calls back with a number.
        """
        places = []
        for one in x:
            if isinstance(one, Constant) and kind in ("add", "sub", "mul"):
                return NotImplemented
            places.append(one.node if isinstance(one, Wire) else self._place(one))
        return self.wire(self, self._operation(kind, *places))

    def again(self, step: Operation, read: Sequence[Any]) -> Any:
        """Record an operation of a program with new operands."""
        if step.kind == "input":
            return self.input(step.name)
        return self.constant(step.value) if step.free else self.function(step.kind, *read)

    @contextmanager
    def task(self, name: str) -> Iterator[None]:
        """Assign the nodes recorded inside to this task; the innermost task counts."""
        outer, self._task = self._task, name
        try:
            yield
        finally:
            self._task = outer

    def finish(self, outputs: Iterable[tuple[str, Any]], *, prune: bool = True) -> Straight:
        """Return the program for these named outputs; `prune` drops unused nodes."""
        return _part(self._nodes, [Returned(n, self._place(x)) for n, x in outputs], prune=prune)

    def _place(self, x: Any) -> int:
        if isinstance(x, Wire):
            return x.node
        return self._constant(x.value if isinstance(x, Constant) else x)

    def _constant(self, value: float) -> int:
        key: Key = ("constant", (), float(value) + 0.0, "")
        if key not in self._known:
            self._known[key] = len(self._nodes)
            self._nodes.append(Operation("constant", value=key[2]))
        return self._known[key]

    def _value(self, x: int) -> float | None:
        node = self._nodes[x]
        return node.value if node.kind == "constant" else None

    def _negated(self, x: int) -> int | None:
        """Return y if x is -y, else None."""
        node = self._nodes[x]
        return node.operands[0] if node.kind == "neg" else None

    def _record(self, kind: str, *operands: int) -> int:
        key = self._key(kind, *operands)
        if key in self._known and self.fold:
            return self._known[key]
        self._known[key] = len(self._nodes)
        self._nodes.append(Operation(kind, key[1], task=self._task))
        return self._known[key]

    def _key(self, kind: str, *operands: int) -> Key:
        if kind in ("add", "mul") and self.fold:
            operands = tuple(sorted(operands))
        return (kind, operands, 0.0, "" if self.shared else self._task)

    def _operation(self, kind: str, *x: int) -> int:
        if not self.fold:
            return self._record(kind, *x)
        known = [self._nodes[k].value for k in x if self._nodes[k].kind == "constant"]
        if len(known) == len(x):
            return self._constant(_known_value(kind, *known))
        if kind not in FOLDS:
            return self._record(kind, *x)
        found: int = getattr(self, FOLDS[kind])(*x)
        return found

    def _neg(self, x: int) -> int:
        """Record -x; two negations cancel."""
        value, inner = self._value(x), self._negated(x)
        if value is not None:
            return self._constant(-value)
        return self._record("neg", x) if inner is None else inner

    def _add(self, a: int, b: int) -> int:
        if self._value(a) == 0 or self._value(b) == 0:
            return b if self._value(a) == 0 else a
        minus_a, minus_b = self._negated(a), self._negated(b)
        if minus_b is not None:
            return self._sub(a, minus_b)
        return self._record("add", a, b) if minus_a is None else self._sub(b, minus_a)

    def _sub(self, a: int, b: int) -> int:
        if self._value(a) == 0 or self._value(b) == 0:
            return a if self._value(b) == 0 else self._neg(b)
        minus_a, minus_b = self._negated(a), self._negated(b)
        if minus_b is not None:
            return self._add(a, minus_b)
        if minus_a is not None:
            return self._neg(self._add(minus_a, b))
        if a == b:
            return self._constant(0.0)
        if self._key("sub", b, a) in self._known:
            return self._neg(self._record("sub", b, a))
        return self._record("sub", a, b)

    def _mul(self, a: int, b: int) -> int:
        for known, other in ((a, b), (b, a)):
            if (factor := self._value(known)) is not None:
                return self._scaled(factor, other)
        return self._unsigned("mul", a, b)

    def _div(self, a: int, b: int) -> int:
        if self._value(a) == 0:
            return a
        divisor = self._value(b)
        if divisor is not None:
            return self._scaled(_known_value("div", 1.0, divisor), a)
        return self._unsigned("div", a, b)

    def _unsigned(self, kind: str, a: int, b: int) -> int:
        """Record a product or quotient; signs of the operands move outwards."""
        minus_a, minus_b = self._negated(a), self._negated(b)
        a, b = a if minus_a is None else minus_a, b if minus_b is None else minus_b
        found = self._record(kind, a, b)
        return found if (minus_a is None) == (minus_b is None) else self._neg(found)

    def _scaled(self, factor: float, x: int) -> int:
        """Return factor·x; signs move outwards, and constant factors are multiplied."""
        minus_x = self._negated(x)
        if minus_x is not None:
            return self._scaled(-factor, minus_x)
        if factor in (0.0, 1.0, -1.0):
            return self._constant(0.0) if factor == 0 else x if factor == 1 else self._neg(x)
        if factor < 0:
            return self._neg(self._scaled(-factor, x))
        node = self._nodes[x]
        if node.kind == "mul" and (self.shared or node.task == self._task):
            for known, other in (node.operands, node.operands[::-1]):
                if (value := self._value(known)) is not None:
                    return self._scaled(factor * value, other)
        return self._record("mul", self._constant(factor), x)


def recorded(
    text: Callable[..., Iterable[Any]],
    groups: Iterable[Iterable[str]],
    outputs: Iterable[str],
    tape: Tape | None = None,
) -> Straight:
    """Record the outputs of `text(algebra, *groups of inputs)`.

    The algebra folds constants; a given tape does so if it simplifies.
    """
    own = Tape() if tape is None else tape
    state = [[own.input(name) for name in group] for group in groups]
    found = text(Folding(own) if tape is None else own, *state)
    return own.finish(list(zip(outputs, found, strict=True)), prune=own.fold)


def task(algebra: Algebra, name: str) -> AbstractContextManager[None]:
    """Assign the operations inside to a task, if the algebra records tasks."""
    inner = algebra.inner if isinstance(algebra, Folding) else algebra
    return inner.task(name) if isinstance(inner, Tape) else nullcontext()


def _known_value(kind: str, *x: float) -> float:
    if kind == "div" and x[1] == 0:
        raise DataError("the calculation divides by zero for all inputs")
    found = value_of(kind, *x)
    if kind not in ARITHMETIC and not math.isfinite(found):
        name = "the root" if kind == "sqrt" else kind
        raise DataError(f"the calculation takes {name} of {number(x[0])} for all inputs")
    return found


# --------------------------------------------------------------------------------------------------
# User-written functions: values with a place, a line of a file or a key.
#
# Numpy's functions of values are recorded, too. A value has no number yet: comparisons and other
# operations raise errors with the place in the user's code.
# --------------------------------------------------------------------------------------------------

HERE = str(Path(__file__).parent)
MOST_STEPS = 4000  # of a function
MOST_POWER = 64
LONGEST_LINE = 70  # characters of a line of code in a message
# numpy's functions with the steps that record them; those of several steps are in `COMPOSED`.
UFUNCS: dict[str, str] = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "negative": "neg",
    "sin": "sin", "cos": "cos", "sqrt": "sqrt", "exp": "exp", "log": "log", "sign": "sign",
    "arctan": "atan", "arcsin": "asin", "arccos": "acos", "tanh": "tanh", "absolute": "abs",
    "fabs": "abs", "arctan2": "atan2", "tan": "tan", "reciprocal": "reciprocal",
    "minimum": "minimum", "maximum": "maximum", "square": "square", "power": "power",
}  # fmt: skip
OPERATORS = {"add", "sub", "mul", "div", "neg", "square", "power"}


def code_place(*, exact: bool = False) -> str:
    """Return file, number and text of the line of user code that is being recorded.

    If it is `exact`, the text is that of the operation, if that is on one line.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    if frame is None:
        return "the function"
    path, line = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, line)
    _, end, left, right = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None))
    if exact and end == line and right:
        text = text.encode()[left:right].decode()
    text = cut(text.strip(), LONGEST_LINE)
    where = f"line {line}" if path.startswith("<") else f"{Path(path).name}:{line}"
    return f"{where}: {text}" if text else where


class Value(Wire):
    """A recorded value of a `Recorder`: an input, or the result of a step."""

    __slots__ = ()
    tape: Recorder

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Any:
        return self.tape.function("abs", self)

    def __pow__(self, exponent: Any) -> Any:
        return power(self, exponent, self.tape.place())

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        """Record a ufunc of numpy."""
        kind = UFUNCS.get(ufunc.__name__)
        if kind is None or method != "__call__" or options:
            self._unknown(ufunc.__name__)
        if kind in COMPOSED:
            return COMPOSED[kind](*given)
        return self.tape.function(kind, *given)

    def __array_function__(self, function: Any, _: Any, given: Any, options: Any) -> Any:
        """Record numpy.clip; refuse all other functions that are not ufuncs."""
        named = {**dict(zip(("a", "a_min", "a_max"), given, strict=False)), **options}
        ends = [named.pop(key) for key in ("a_min", "min", "a_max", "max") if key in named]
        if function is not np.clip or len(ends) != 2 or len(named) != 1:
            self._unknown(function.__name__)
        check_ends(*ends)
        return maximum(minimum(named["a"], ends[1]), ends[0])

    def _unknown(self, name: str) -> NoReturn:
        self._refuse(
            f"numpy.{name} cannot be recorded",
            "use a function of boolcomp "
            f"({listing(sorted({*UFUNCS.values(), 'clip', 'where_positive'} - OPERATORS))})",
        )

    def _refuse(self, reason: str, hint: str = "") -> NoReturn:
        own = self.tape.place is code_place
        place = code_place(exact=True) if own else self.tape.place()
        raise UsageError(reason, hint, where=place)

    def _compared(self, *_: object) -> NoReturn:
        self._refuse(
            "an input has no value yet, so it cannot be compared or used as a condition",
            "write where_positive(x, a, b), clip, minimum or maximum",
        )

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared
    __bool__ = _compared
    __hash__ = object.__hash__

    def _no_number(self, *_: object) -> NoReturn:
        self._refuse("an input has no value yet", "use boolcomp's functions, not those of math")

    __float__ = __int__ = __index__ = __complex__ = __round__ = _no_number
    __floor__ = __ceil__ = __trunc__ = __len__ = __iter__ = _no_number

    def _no_operation(self, *_: object) -> NoReturn:
        self._refuse("only + - * / and ** with whole exponents are recorded")

    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __rpow__ = __matmul__ = _no_operation
    __and__ = __or__ = __xor__ = __invert__ = __lshift__ = __rshift__ = _no_operation


@dataclass
class Recorder(Tape):
    """A tape of values; each step is of the task named like its place in the user's code."""

    place: Callable[[], str] = code_place
    steps: int = 0
    wire: ClassVar[type[Wire]] = Value

    def function(self, kind: str, *x: Any) -> Any:
        """Record an operation on values and numbers."""
        place = self.place()
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise UsageError(
                f"more than {MOST_STEPS} steps", "is there an endless loop?", where=place
            )
        operands = [self._operand(one, place) for one in x]
        try:
            with self.task(place):
                return super().function(kind, *operands)
        except DataError as error:
            raise DataError.around(error, place) from None

    def _operand(self, given: Any, place: str) -> Any:
        if isinstance(given, Value):
            if given.tape is not self:
                raise UsageError(
                    "a value of another function", "give numbers, or inputs", where=place
                )
            return given
        if isinstance(given, (int, float, np.integer, np.floating)):
            # Compared before conversion: an integer may be too large for a float.
            number: Any = given
            if not isinstance(given, bool) and abs(number) <= MOST_SIZE:
                return float(number)
            raise UsageError(f"numbers are within ±{MOST_SIZE:g}, not {shown(given)}", where=place)
        raise UsageError(
            f"{cut(shown(given))} is neither a number nor the value of an input", where=place
        )


def power(x: Any, exponent: Any, place: str) -> Any:
    """Return a whole power of a value or a number, by repeated squaring."""
    number = isinstance(exponent, (int, float, np.integer, np.floating))
    if not number or exponent != exponent // 1 or abs(exponent) > MOST_POWER:
        hint = "write sqrt" if number and exponent == 1 / 2 else ""
        raise UsageError(
            f"exponents are whole numbers within ±{MOST_POWER}, not {cut(shown(exponent))}", hint,
            where=place,
        )  # fmt: skip
    count, square = abs(int(exponent)), x
    result: Any = None
    while count:
        if count & 1:
            result = square if result is None else result * square
        count >>= 1
        square = square * square if count else square
    if result is None:
        return x.tape.constant(1.0) if isinstance(x, Value) else 1.0
    return 1.0 / result if exponent < 0 else result


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two: b + max(0, a - b).

    In (a + b)/2 + |a - b|/2 the halves would cancel, and their words would need more bits.
    """
    if not isinstance(a, Value):
        a, b = b, a
    return b + _excess(a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two: b - max(0, b - a)."""
    if not isinstance(a, Value):
        a, b = b, a
    return b - _excess(b, a)


def check_ends(low: Any, high: Any) -> None:
    """Raise a UsageError for limits of `clip` in the wrong order, if both are numbers."""
    ends = [end for end in (low, high) if isinstance(end, (int, float))]
    if len(ends) == 2 and ends[0] > ends[1]:
        raise UsageError(f"clip to {low} .. {high} is empty", "the first limit must be the smaller")


def _excess(a: Any, b: Any) -> Any:
    """Return max(0, a - b)."""
    difference = a - b
    return (difference + abs(difference)) * 0.5


def tangent(x: Any) -> Any:
    """Return sin x / cos x."""
    return x.tape.sine(x) / x.tape.cosine(x)


COMPOSED: dict[str, Callable[..., Any]] = {
    "tan": tangent,
    "reciprocal": lambda x: 1.0 / x,
    "minimum": minimum,
    "maximum": maximum,
    "square": lambda x: x * x,
    "power": lambda x, exponent: x**exponent,
}
