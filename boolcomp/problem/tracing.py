"""Recorded values, with which user-written functions are recorded, and the words of their inputs.

A `Value` adds, subtracts, multiplies and divides with other values and with numbers. Numpy's
functions of it are recorded, too. It has no number yet: comparisons and other operations raise
errors with the place in the user's code, a line of a file or a key.
"""

from __future__ import annotations

import contextlib
import inspect
import keyword
import linecache
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from boolcomp.base.errors import (
    LONGEST_NAME,
    DataError,
    UsageError,
    cut,
    listing,
    number,
    short,
    shown,
    spelled,
)
from boolcomp.problem.algebra import UNARY_FUNCTIONS
from boolcomp.problem.tape import Tape, Wire
from boolcomp.problem.words import (
    LEAST_BITS,
    MOST_BITS,
    MOST_SIZE,
    Input,
    Interval,
    WordSpan,
    span_of,
    width_problem,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from boolcomp.problem.algebra import Kind


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


@dataclass(slots=True)
class Recorder:
    """Records steps on a tape, each with its place in the user's code."""

    place: Callable[[], str]
    tape: Tape = field(default_factory=Tape)
    steps: int = 0

    def input(self, name: str) -> Value:
        """Return an input as a value."""
        return Value(self, self.tape.input(name))

    def number(self, value: float) -> Value:
        """Return a number as a value."""
        return Value(self, self.tape.constant(value))

    def step(self, kind: str, *given: Any) -> Value:
        """Record an operation on values and numbers."""
        place = self.place()
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise UsageError(f"{place}: more than {MOST_STEPS} steps: is there an endless loop?")
        operands = [self._wire(x, place) for x in given]
        try:
            with self.tape.task(place):
                return Value(self, self._recorded(kind, operands))
        except DataError as error:
            raise DataError(f"{place}: {error}") from None

    def _recorded(self, kind: str, operands: list[Wire]) -> Wire:
        if kind in UNARY_FUNCTIONS:
            return self.tape.function(kind, operands[0])
        if kind == "neg":
            return self.tape.negated(operands[0])
        if kind == "atan2":
            return self.tape.arc(*operands)
        return cast("Wire", self.tape.join(cast("Kind", kind), *operands))

    def _wire(self, given: Any, place: str) -> Wire:
        if isinstance(given, Value):
            if given.recorder is not self:
                raise UsageError(f"{place}: a value of another function: give numbers, or inputs")
            return given.wire
        if isinstance(given, (int, float, np.integer, np.floating)):
            # Compared before conversion: an integer may be too large for a float.
            number: Any = given
            if not isinstance(given, bool) and abs(number) <= MOST_SIZE:
                return self.tape.constant(float(number))
            raise UsageError(f"{place}: numbers are within ±{MOST_SIZE:g}, not {shown(given)}")
        raise UsageError(f"{place}: {cut(shown(given))} is neither a number nor an input's value")


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A recorded value: an input, or the result of a step."""

    recorder: Recorder
    wire: Wire

    def __add__(self, other: Any) -> Value:
        return self.recorder.step("add", self, other)

    def __radd__(self, other: Any) -> Value:
        return self.recorder.step("add", other, self)

    def __sub__(self, other: Any) -> Value:
        return self.recorder.step("sub", self, other)

    def __rsub__(self, other: Any) -> Value:
        return self.recorder.step("sub", other, self)

    def __mul__(self, other: Any) -> Value:
        return self.recorder.step("mul", self, other)

    def __rmul__(self, other: Any) -> Value:
        return self.recorder.step("mul", other, self)

    def __truediv__(self, other: Any) -> Value:
        return self.recorder.step("div", self, other)

    def __rtruediv__(self, other: Any) -> Value:
        return self.recorder.step("div", other, self)

    def __neg__(self) -> Value:
        return self.recorder.step("neg", self)

    def __pos__(self) -> Value:
        return self

    def __abs__(self) -> Value:
        return self.recorder.step("abs", self)

    def __pow__(self, exponent: Any) -> Value:
        found: Value = power(self, exponent, self.recorder.place())
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **options: Any) -> Any:
        """Record a ufunc of numpy."""
        kind = UFUNCS.get(ufunc.__name__)
        if kind is None or method != "__call__" or options:
            self._unknown(ufunc.__name__)
        if kind in COMPOSED:
            return COMPOSED[kind](*given)
        return self.recorder.step(kind, *given)

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
            f"numpy.{name} cannot be recorded: use a function of boolcomp "
            f"({listing(sorted({*UFUNCS.values(), 'clip', 'where_positive'} - OPERATORS))})"
        )

    def _refuse(self, reason: str) -> NoReturn:
        raise UsageError(f"{self.recorder.place()}: {reason}")

    def _compared(self, *_: object) -> NoReturn:
        self._refuse(
            "an input has no value yet, so it cannot be compared or used as a condition: "
            "write where_positive(x, a, b), clip, minimum or maximum"
        )

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared
    __bool__ = _compared
    __hash__ = object.__hash__

    def _no_number(self, *_: object) -> NoReturn:
        self._refuse("an input has no value yet: use boolcomp's functions, not those of math")

    __float__ = __int__ = __index__ = __complex__ = __round__ = _no_number
    __floor__ = __ceil__ = __trunc__ = __len__ = __iter__ = _no_number

    def _no_operation(self, *_: object) -> NoReturn:
        self._refuse("only + - * / and ** with whole exponents are recorded")

    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __rpow__ = __matmul__ = _no_operation
    __and__ = __or__ = __xor__ = __invert__ = __lshift__ = __rshift__ = _no_operation


def power(x: Any, exponent: Any, place: str) -> Any:
    """Return a whole power of a value or a number, by repeated squaring."""
    number = isinstance(exponent, (int, float, np.integer, np.floating))
    if not number or exponent != exponent // 1 or abs(exponent) > MOST_POWER:
        hint = ": write sqrt" if number and exponent == 1 / 2 else ""
        raise UsageError(
            f"{place}: exponents are whole numbers within ±{MOST_POWER}, "
            f"not {cut(shown(exponent))}{hint}"
        )
    count, square = abs(int(exponent)), x
    result: Any = None
    while count:
        if count & 1:
            result = square if result is None else result * square
        count >>= 1
        square = square * square if count else square
    if result is None:
        return x.recorder.number(1.0) if isinstance(x, Value) else 1.0
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
        raise UsageError(f"clip to {low} .. {high}: the first must be the smaller")


def _excess(a: Any, b: Any) -> Any:
    """Return max(0, a - b)."""
    difference = a - b
    return (difference + abs(difference)) * 0.5


def tangent(x: Any) -> Any:
    """Return sin x / cos x."""
    value = x.recorder
    return value.step("sin", x) / value.step("cos", x)


COMPOSED: dict[str, Callable[..., Any]] = {
    "tan": tangent,
    "reciprocal": lambda x: 1.0 / x,
    "minimum": minimum,
    "maximum": maximum,
    "square": lambda x: x * x,
    "power": lambda x, exponent: x**exponent,
}


def code_place() -> str:
    """Return file, number and text of the line of user code that is being recorded."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(HERE):
        frame = frame.f_back
    if frame is None:
        return "the function"
    path, line = frame.f_code.co_filename, frame.f_lineno
    text = cut(linecache.getline(path, line).strip(), LONGEST_LINE)
    where = f"line {line}" if path.startswith("<") else f"{Path(path).name}:{line}"
    return f"{where}: {text}" if text else where


# --------------------------------------------------------------------------------------------------
# Words of inputs and outputs of user-written functions: range, bits, unit.
# --------------------------------------------------------------------------------------------------

MOST_TURNS = 1000.0  # rad: larger angles are probably mistakes
# Names of columns of times, of options of a program, and of all words together.
RESERVED = {"t", "time", "payload", "engine", "threads", "words", "pi"}
_NAME = re.compile(rf"[A-Za-z](?:[A-Za-z0-9_]{{0,{LONGEST_NAME - 2}}}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class Word:
    """A range with a unit and the bits of its word; None selects them automatically.

    An `angle` is in rad and may occur in sums of whole multiples of angles, inside sin, cos or
    wrap. An angle over a whole turn wraps.
    """

    range: Interval | None = None
    bits: int | None = None
    unit: str = ""
    angle: bool = False

    def __post_init__(self) -> None:
        if self.bits is not None and not LEAST_BITS <= self.bits <= MOST_BITS:
            raise UsageError(f"a word has {LEAST_BITS} to {MOST_BITS} bits, not {self.bits}")
        if self.range is None:
            return
        low, high = self.range.low, self.range.high
        if not math.isfinite(low) or not math.isfinite(high):
            raise UsageError(f"a range has finite ends, not {low} .. {high}")
        if low > high:
            raise UsageError(f"a range must rise, not go from {number(low)} to {number(high)}")
        limit = MOST_TURNS if self.angle else MOST_SIZE
        if self.range.magnitude > limit:
            raise UsageError(f"a range ends within ±{short(limit)}, not at {number(high)}")
        if low < high and (problem := width_problem(low, high)):
            raise UsageError(f"the range {number(low)} .. {number(high)} {problem}")

    def input(self, name: str) -> Input:
        """Return an input with this word."""
        if self.range is None:
            raise UsageError(f"input {name} has no range")
        if not self.angle:
            return Input(name, self.range, self.unit, self.range, self.range)
        span = span_of(self.range, revolute=True)
        if self.range.single:
            span = WordSpan(self.range, self.range)
        unit = self.unit or "rad"
        return Input(name, self.range, unit, span.word, span.reach, angle=True, wraps=span.wraps)


@spelled
def word(
    low: float | None = None,
    high: float | None = None,
    *,
    bits: int | None = None,
    unit: str = "",
    angle: bool = False,
) -> Word:
    """Return a word for `boolcomp.compile`: a range, bits, a unit, and whether it is an angle.

    Bits have a default, and the range of an output may be left out; it is then found. A single
    number is the end of a range about zero.
    """
    ends = [None if end is None else _real(end) for end in (low, high)]
    if ends[1] is None and ends[0] is not None:
        ends = [-abs(ends[0]), abs(ends[0])]
    if bits is not None and (isinstance(bits, bool) or int(bits) != bits):
        raise UsageError(f"bits {shown(bits)}: give a whole number")
    first, last = ends
    if first is None and last is not None:
        raise UsageError("a range has two ends: word(low, high)")
    span = None if first is None or last is None else Interval(first, last)
    return Word(span, None if bits is None else int(bits), str(unit), bool(angle))


@spelled
def angle(
    low: float = -math.pi, high: float = math.pi, *, bits: int | None = None, unit: str = "rad"
) -> Word:
    """Return the word of an angle, which wraps over a whole turn, or is between two limits."""
    return word(low, high, bits=bits, unit=unit, angle=True)


def name_problem(name: str, others: Iterable[str] = ()) -> str:
    """Return a message if the name of an input, an output or a value is invalid, else "".

    `others` are names in use.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return (
            f"{shown(name)} is no name: a letter, then letters, digits and _, no _ at the end, "
            f"at most {LONGEST_NAME}"
        )
    if keyword.iskeyword(name):
        return f"{name!r} is a keyword of Python: choose another name"
    if name in RESERVED:
        return f"{name!r} is reserved: choose another name"
    if name in others:
        return f"{name!r} is already used: choose another name"
    return ""


def _real(end: object) -> float:
    if not isinstance(end, (str, bytes, bool)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(end)  # type: ignore[arg-type]  # which raises for other types
    raise UsageError(f"a range ends at numbers, not at {shown(end)}")
