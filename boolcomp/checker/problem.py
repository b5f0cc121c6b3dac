"""Check the sections `origin` and `sketch`: the sketch is the specified function, up to rounding.

Both are expanded to sums of harmonics times powers. The sketch's error is at most the sum of the
differences of all coefficients, each times the maximum of its inputs. It is part of every bound.
"""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import acb, arb

from boolcomp.base.errors import DataError, parse_number, shown
from boolcomp.checker.folder import (
    CheckedCases,
    DoesNotHoldError,
    NotCoveredError,
    VerdictStep,
    checked,
)
from boolcomp.checker.robot import (
    ClaimedWaveSum,
    Space,
    Variable,
    number,
    outputs,
    precise,
    signature,
    turned,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.checker.folder import CertificateSection, LoadFiles


# --------------------------------------------------------------------------------------------------
# The section `sketch`: the function that a graph computes, node by node, without widths of words.
#
#     s0 = input q1 angle                 an angle counts turns (see `origin`), else cells of a word
#     s1 = input qd1
#     s2 = turns | 1 s0 | -2 s0            a sum of angles
#     s3 = waves s2 | 0 1.5 0.0 | 1 0.0 1.6     Re Σ (a + ib) exp(2πikφ) over k, a, b
#     s4 = powers s1 | 0.0 | 0.0 | 1.0     Σ c x^k
#     s5 = curve s1 1.0 0.0 0.5 -inf inf | x | 2.0 | mul 0 1 | sin 2
#                                          factor · f(middle + unit·x), its argument clamped to
#                                          low .. high; the last step is f, an angle x is in rad
#     s6 = sum 0.5 | 0.25 s3 | 1.0 s4 s3   a constant, multiples of nodes and of products of two
#     s7 = turning 16 0.0 | 1.5 s1         the same as an angle, in units of 2^-16 turns
#     tau1 = 0.0 1.5625 s6                 an output: the middle of its range, its step, and a sum
#
# Every number is the double nearest to its text.
# --------------------------------------------------------------------------------------------------

MOST = 64  # limit for multiples, harmonics, powers, and the exponent of a unit of angles
_LINE = re.compile(r"(\w+) = (.+)")
_NODE = re.compile(r"s(0|[1-9]\d{0,5})")
_ONE = "neg sqrt sin cos sign exp log atan asin acos tanh abs step wrap"
_ARITY = {"x": 0, "add": 2, "sub": 2, "mul": 2, "div": 2, "atan2": 2}
_ARITY |= dict.fromkeys(_ONE.split(" "), 1)


@dataclass(frozen=True, slots=True)
class ClaimedInput:
    """An input; an `angle` counts turns."""

    name: str
    angle: bool


@dataclass(frozen=True, slots=True)
class Turns:
    """Σ multiple·angle, over (multiple, node)."""

    items: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ClaimedWaves:
    """Re Σ (a + ib) exp(2πikφ) of an angle, over (k, a, b)."""

    source: int
    parts: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, slots=True)
class ClaimedPowers:
    """Σ c_k x^k."""

    source: int
    coefficients: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CurveStep:
    """A step of a curve: `x`, a `constant`, or an operation on earlier steps."""

    kind: str
    operands: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class ClaimedCurve:
    """factor · f(middle + unit·x), its argument clamped to low .. high; an angle x is in rad."""

    source: int
    unit: float
    middle: float
    factor: float
    low: float
    high: float
    angle: bool
    steps: tuple[CurveStep, ...]


@dataclass(frozen=True, slots=True)
class ClaimedTotal:
    """A constant plus addends (factor, nodes); if turning > 0, an angle in 2^-turning turns."""

    constant: float
    addends: tuple[tuple[float, tuple[int, ...]], ...]
    turning: int = 0


@dataclass(frozen=True, slots=True)
class ClaimedResult:
    """An output: middle + step · node."""

    name: str
    middle: float
    step: float
    node: int


Node: TypeAlias = ClaimedInput | Turns | ClaimedWaves | ClaimedPowers | ClaimedCurve | ClaimedTotal


@dataclass(frozen=True, slots=True)
class ClaimedSketch:
    """The nodes, each after its operands, and the outputs."""

    nodes: tuple[Node, ...]
    results: tuple[ClaimedResult, ...]


def read_sketch(section: CertificateSection) -> ClaimedSketch:
    """Read the section; a `DataError` names the invalid line."""
    nodes: list[Node] = []
    results: list[ClaimedResult] = []
    for row, line in enumerate(section.lines):
        try:
            name, text = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]  # (caught)
            if name == f"s{len(nodes)}" and not results:
                kind, _, rest = text.partition(" ")
                nodes.append(_node(kind, [one.split() for one in rest.split("|")], nodes))
            else:
                results.append(ClaimedResult(name, *_read("rrs", text.split(), nodes)))
                _require(results[-1].step > 0 and _sum(nodes[results[-1].node]))
        except (AttributeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise DataError(
                f"{shown(line)} is no line of a sketch", where=section.where(row)
            ) from error
    return ClaimedSketch(tuple(nodes), tuple(results))


def is_angle(node: Node) -> bool:
    """Tell whether a node counts turns, or parts of them."""
    if isinstance(node, ClaimedInput):
        return node.angle
    return isinstance(node, Turns) or (isinstance(node, ClaimedTotal) and node.turning > 0)


def _sum(node: Node) -> bool:
    return isinstance(node, ClaimedTotal) and not node.turning


def _require(holds: bool) -> None:  # noqa: FBT001 (the condition)
    if not holds:
        raise ValueError("no line of this section")


def _read(kinds: str, words: Sequence[str], nodes: Sequence[Node]) -> tuple[Any, ...]:
    """Read words by kind: i small integer, r real, e limit, s node, a node that is an angle."""
    _require(len(kinds) == len(words))
    found: list[Any] = []
    for kind, word in zip(kinds, words, strict=True):
        if kind in "sa":
            found.append(int(_NODE.fullmatch(word)[1]))  # type: ignore[index]  # (caught)
            _require(is_angle(nodes[found[-1]]) == (kind == "a"))
        else:
            found.append(int(word) if kind == "i" else float(word))
            _require(not math.isnan(found[-1]) and (kind == "e" or math.isfinite(found[-1])))
            _require(kind != "i" or abs(found[-1]) <= MOST)
    return tuple(found)


def _node(kind: str, listed: list[list[str]], nodes: Sequence[Node]) -> Node:
    """Make a node of the words between vertical bars."""
    head, *items = listed

    def read(kinds: str) -> tuple[Any, ...]:
        return tuple(_read(kinds, one, nodes) for one in items)

    if kind == "input":
        _require(head[1:] in ([], ["angle"]) and not items)
        return ClaimedInput(head[0], len(head) > 1)
    if kind == "turns":
        _require(not head)
        return Turns(read("ia"))
    if kind == "waves":
        (source,) = _read("a", head, nodes)
        found = ClaimedWaves(source, read("irr"))
        _require(all(k >= 0 for k, _, _ in found.parts))
        return found
    if kind == "powers":
        _require(len(items) <= MOST)
        (source,) = _read("s", head, nodes)
        return ClaimedPowers(source, tuple(c for (c,) in read("r")))
    if kind == "curve":
        angle = head[-1] == "angle"
        numbers = _read("arrree" if angle else "srrree", head[: len(head) - angle], nodes)
        _require(numbers[1] != 0 and numbers[4] <= numbers[5] and bool(items))
        source, unit, middle, factor, low, high = numbers
        return ClaimedCurve(
            source,
            unit,
            middle,
            factor,
            low,
            high,
            angle,
            tuple(operation(one, k) for k, one in enumerate(items)),
        )
    _require(kind in ("sum", "turning"))
    *turning, constant = _read("ir" if kind == "turning" else "r", head, nodes)
    addends = [_read("rs" if len(one) == 2 else "rss", one, nodes) for one in items]
    _require(not turning or turning[0] > 0)
    return ClaimedTotal(
        constant, tuple((factor, tuple(read)) for factor, *read in addends), *turning
    )


def operation(words: list[str], before: int) -> CurveStep:
    """Read a step of a curve or of a function; an invalid one raises a `ValueError`."""
    kind, *listed = words
    if kind not in _ARITY:
        (value,) = _read("r", words, ())
        return CurveStep("constant", (), value)
    operands = tuple(map(int, listed))
    _require(len(operands) == _ARITY[kind] and all(0 <= k < before for k in operands))
    return CurveStep(kind, operands)


# --------------------------------------------------------------------------------------------------
# Functions other than sums: each value is a further variable, identified by its argument.
#
# If two arguments differ by at most e, the values differ by at most L·e, where L is the largest
# slope between them. Such a difference is also a variable, which lies between -1 and 1.
# --------------------------------------------------------------------------------------------------

SAME = 1e-6  # arguments that differ by less are identified
EXACT, TURNING = " ", "~"  # prefixes of angles: known exactly, or modulo a turn
RISING = ("exp", "log", "sqrt", "atan", "tanh")


class Functions(Space):
    """Sums over variables and over functions of sums."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        super().__init__(variables)
        self.known: list[tuple[str, ClaimedWaveSum, ClaimedWaveSum]] = []

    def named(self, name: str, low: arb, high: arb) -> ClaimedWaveSum:
        """Return the variable of this name; a new one lies between these numbers."""
        if name not in self.variables:
            ends = float(low.lower()) - 1e-12, float(high.upper()) + 1e-12
            if not all(abs(end) < 1e100 for end in ends):
                raise NotCoveredError(f"{name}: no limits of it are known")
            self.variables[name] = len(self.variables), Variable(name, False, *ends)  # noqa: FBT003
        return self.value(name)

    def angle(self, name: str, mark: str = EXACT) -> ClaimedWaveSum:
        """Return an angle as a number; `mark` tells whether it is exact or modulo a turn."""
        _, one = self.variables[name]
        return self.named(f"{mark}{name}", arb(one.low), arb(one.high))

    def unknown(self, size: arb) -> ClaimedWaveSum:
        """Return an unknown number of at most this size."""
        name = f"± {len(self.variables)}"
        return number(0) if size == 0 else self.named(name, arb(-1), arb(1)).times(size.upper())

    def apply(self, kind: str, read: Sequence[ClaimedWaveSum]) -> ClaimedWaveSum:
        """Apply an operation to sums."""
        if kind in ("add", "sub", "mul", "neg"):
            one, other = read[0], read[-1]
            return {"add": one + other, "sub": one - other, "neg": -one}.get(kind) or one * other
        if kind == "div":
            return read[0] * self._function("inverse", read[1])
        if kind == "atan2":
            raise NotCoveredError("the checker does not support atan2")
        if kind in ("sin", "cos") and (wave := self._wave(read[0])):
            one, other, away = wave
            found = one + other if kind == "cos" else (other - one).times(acb(0, 1))
            return found.times(0.5) + self.unknown(away)
        return self._function(kind, read[0])

    def step(
        self, step: CurveStep, values: Sequence[ClaimedWaveSum], x: ClaimedWaveSum
    ) -> ClaimedWaveSum:
        """Evaluate a step; `values` are those of earlier steps, `x` is the input."""
        if step.kind == "x":
            return x
        if step.kind == "constant":
            return number(step.value)
        return self.apply(step.kind, [values[k] for k in step.operands])

    def _wave(self, x: ClaimedWaveSum) -> tuple[ClaimedWaveSum, ClaimedWaveSum, arb] | None:
        """Return exp(ix), exp(-ix) and the error of x, if x is nearly an integer sum of angles."""
        found, other, away = number(1), number(1), arb(0)
        for key, c in x.parts.items():
            if not key:
                found, other = found.times(turned(c.real)), other.times(turned(-c.real))
                continue
            (one, power), *others = self.exponents(key)
            k = round(float(c.real.mid()))
            size = abs(c - k) * max(abs(one.low), abs(one.high))
            if others or power != 1 or one.name[0] not in EXACT + TURNING or not size < SAME:
                return None
            found, other = found * self.wave(one.name[1:], k), other * self.wave(one.name[1:], -k)
            away += size
        return found, other, away

    def _function(self, kind: str, x: ClaimedWaveSum) -> ClaimedWaveSum:
        if any(v.name[0] == TURNING for key in x.parts for v, _ in self.exponents(key)):
            raise NotCoveredError(f"{kind} of an angle that is known modulo a turn")
        low, high = self.reached(x)
        if not set(x.parts) - {0}:
            return number(_value(kind, low.union(high)))
        for name, argument, value in self.known:
            away = self.maximum(x - argument)
            if name == kind and away < SAME:
                return value + self.unknown(_slope(kind, low - away, high + away) * away)
        ends = _value(kind, low), _value(kind, high)
        if kind not in RISING:
            ends = (_value(kind, low.union(high)),) * 2
        made = self.named(f"{kind} {len(self.variables)}", *ends)
        self.known.append((kind, x, made))
        return made

    def reached(self, x: ClaimedWaveSum) -> tuple[arb, arb]:
        """Return limits of a sum, by interval arithmetic on its products."""
        low = high = arb(0)
        for key, c in x.parts.items():
            listed = list(self.exponents(key))
            ends = [-abs(c), abs(c)] if any(one.angle for one, _ in listed) else [c.real]
            for one, k in ((one, k) for one, k in listed if not one.angle):
                powers = [arb(one.low) ** k, arb(one.high) ** k]
                powers += [arb(0)] * (one.low < 0 < one.high)
                found = [a * b for a in ends for b in powers]
                ends = [reduce(arb.min, found), reduce(arb.max, found)]
            low, high = low + ends[0], high + ends[-1]
        return arb(low.lower()), arb(high.upper())


def _value(kind: str, x: arb) -> arb:
    """Return a function's value over a ball."""
    if kind == "inverse":
        found = 1 / x
    elif kind == "abs":
        found = abs(x)
    elif kind in (*RISING, "sin", "cos", "asin", "acos"):
        found = getattr(x, kind)()
    else:
        raise NotCoveredError(f"the checker does not support {kind}")
    if not found.is_finite():
        raise NotCoveredError(f"{kind} is unbounded over the limits of its argument")
    return found


def _slope(kind: str, low: arb, high: arb) -> arb:
    """Bound the slope of a function between two numbers."""
    found = arb(1)  # of sin, cos, atan, tanh and abs
    if kind == "exp":
        found = high.exp()
    elif kind in ("log", "sqrt", "inverse", "asin", "acos"):
        near, far = arb(low.union(high).abs_lower()), arb(low.union(high).abs_upper())
        flat = (1 - far * far).sqrt()
        found = 1 / {"log": near, "sqrt": 2 * near.sqrt(), "inverse": near * near}.get(kind, flat)
    if not found.is_finite():
        raise NotCoveredError(f"the slope of {kind} is unbounded over the limits of its argument")
    return found.upper()


# --------------------------------------------------------------------------------------------------
# The section `origin`.
# --------------------------------------------------------------------------------------------------

_REAL = r"(-?[0-9.e+-]+)"
_INPUT = re.compile(
    rf"input (\w+) {_REAL} {_REAL}( angle)?"
    rf"(?: word {_REAL} {_REAL} (\d\d?) of (\d\d?|all)( wraps)?( exact)?)?"
)


@dataclass(frozen=True, slots=True)
class ClaimedWord:
    """An input's word: 2^bits cells divide low .. high, which spans 2^-part of a turn (or None)."""

    low: float
    high: float
    bits: int
    part: int | None
    wraps: bool
    exact: bool


@dataclass(frozen=True, slots=True)
class ClaimedRange:
    """The range of an input and its word; a single value has none."""

    name: str
    low: float
    high: float
    angle: bool
    word: ClaimedWord | None


@dataclass(frozen=True, slots=True)
class Origin:
    """The section `origin`: a function of a robot, or the steps of a function, and all inputs.

        function inverse-dynamics
        payload 1.5                          kg, at the tip of the robot
        | name = "arm"                       a robot file, line by line
        step mul 0 1                         or the steps of a function, counted after its inputs,
        output y 3                           and the steps that are its outputs
        input q1 -3.0 3.0 angle word -3.14 3.14 10 of 0 wraps
        input qd1 -1.0 1.0 word -1.0 1.0 8 of all
        input q2 0.5 0.5 angle               a single value, which has no word

    The first two numbers are the range of an input. Its word divides -3.14 .. 3.14 into 2^10 cells,
    which span 2^-0 of a turn (`of all`: no such part). The values of an input that `wraps` may
    differ from those of its word by whole turns. In a sketch, an angle whose word spans a part of a
    turn is in turns, and zero is half a turn above the lowest border of the word. Any other input
    is in cells from the middle. An `exact` input takes only the middles of cells.

    In format 1 the payload is None, and the robot includes it.
    """

    function: str
    payload: float | None
    robot: str
    steps: tuple[CurveStep, ...]
    outputs: tuple[tuple[str, int], ...]
    inputs: tuple[ClaimedRange, ...]


def read_origin(section: CertificateSection) -> Origin:
    """Read the section; a `DataError` names the invalid line."""
    function, payload, robot, outputs = "", None, [], {}
    steps: list[CurveStep] = []
    inputs: dict[str, ClaimedRange] = {}
    for row, line in enumerate(section.lines):
        kind, _, rest = line.partition(" ")
        try:
            if kind == "input":
                one = _input(line)
                _require(one.name not in inputs)
                inputs[one.name] = one
            elif kind == "|":
                robot.append(rest)
            elif kind == "payload":
                _require(row == 1 and not math.isinf(float(rest)) and float(rest) >= 0)
                payload = float(rest)
            elif kind == "step":
                steps.append(operation(rest.split(" "), len(inputs) + len(steps)))
            elif kind == "output":
                name, place = rest.split(" ")
                _require(name not in outputs)
                outputs[name] = int(place)
                _require(0 <= int(place) < len(inputs) + len(steps))
            else:
                _require(kind == "function" and not row)
                function = rest
        except (ValueError, AttributeError) as error:
            where = section.where(row)
            raise DataError(f"{shown(line)} is no line of an origin", where=where) from error
    found = tuple(inputs.values())
    return Origin(function, payload, "\n".join(robot), tuple(steps), tuple(outputs.items()), found)


def _input(line: str) -> ClaimedRange:
    name, low, high, angle, *rest = _INPUT.fullmatch(line).groups()  # type: ignore[union-attr]
    if float(low) > float(high) or (rest[0] is None) != (float(low) == float(high)):
        raise ValueError(line)
    word = None
    if rest[0] is not None:
        part = None if rest[3] == "all" else int(rest[3])
        word = ClaimedWord(
            float(rest[0]), float(rest[1]), int(rest[2]), part, bool(rest[4]), bool(rest[5])
        )
        if word.low >= word.high or word.bits > 60 or (part is not None and not angle):
            raise ValueError(line)
    return ClaimedRange(name, float(low), float(high), bool(angle), word)


def space_of(origin: Origin) -> Functions:
    return Functions([Variable(x.name, x.angle, x.low, x.high) for x in origin.inputs])


def values_of(origin: Origin, space: Functions, extra: float = 0.0) -> dict[str, ClaimedWaveSum]:
    """Expand the outputs by name, with `extra` kg added to the payload."""
    if origin.function:
        payload = (origin.payload or 0.0) + extra
        found = outputs(origin.function, origin.robot, space, payload)
        return {name: space.fixed(one) for name, one in found.items()}
    values = [space.angle(x.name) if x.angle else space.value(x.name) for x in origin.inputs]
    for step in origin.steps:
        values.append(space.step(step, values, values[0]))
    return {name: space.fixed(values[place]) for name, place in origin.outputs}


def function_of(section: CertificateSection) -> tuple[Functions, dict[str, ClaimedWaveSum]]:
    """Expand the specified function; return its space and its outputs by name."""
    origin = read_origin(section)
    space = space_of(origin)
    return space, values_of(origin, space)


def check_origin(load: LoadFiles) -> Iterator[VerdictStep]:
    """Check that the origin can be expanded, and the ranges of its inputs."""
    section = load.section("origin")
    name, method = "robot to waves", "Lagrange's equations in balls, a second time"
    if not section.text.startswith("function "):
        name, method = "function to waves", "its steps in balls, a second time"

    def waves() -> CheckedCases:
        origin = read_origin(section)
        with precise():
            found = function_of(section)[1]
        ranges = signature(origin.function, origin.robot).ranges if origin.function else {}
        for one in origin.inputs:
            if ranges.get(one.name, (one.low, one.high)) != (one.low, one.high):
                low, high = ranges[one.name]
                raise DoesNotHoldError(
                    f"origin: the range of {one.name} is {one.low!r} .. {one.high!r}, but that of "
                    f"the robot's joint {low!r} .. {high!r}"
                )
        parts = sum(len(one.parts) for one in found.values())
        of = origin.function or f"{len(origin.steps)} steps"
        return CheckedCases(parts, f"{of}: {len(found)} outputs")

    yield checked(name, method, waves)


# --------------------------------------------------------------------------------------------------
# The comparison of the expanded sketch with the specified function.
# --------------------------------------------------------------------------------------------------

MOST_STEPS = 2.0**-6  # a larger difference means another function; a smaller one is an error


@dataclass(frozen=True, slots=True)
class ClaimedAngle:
    """Σ multiple·angle over inputs plus an offset, in turns; modulo a turn if `turning`."""

    multiples: dict[str, int]
    offset: arb
    turning: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest difference between sketch and specified function of an output, in steps."""

    name: str
    steps: float
    cases: int


class ClaimedExpansion:
    """The nodes of a sketch as sums over the inputs, or as angles."""

    def __init__(
        self, nodes: Mapping[int, Node], inputs: Mapping[str, ClaimedRange], space: Functions
    ) -> None:
        self.inputs, self.space = inputs, space
        self.sums: dict[int, ClaimedWaveSum] = {}
        self.angles: dict[int, ClaimedAngle] = {}
        for place, node in nodes.items():
            found = self._value(node)
            if isinstance(found, ClaimedAngle):
                self.angles[place] = found
            else:
                self.sums[place] = found

    def _value(self, node: Node) -> ClaimedWaveSum | ClaimedAngle:
        if isinstance(node, ClaimedInput):
            return self.given(node)
        if isinstance(node, Turns):
            return self._turns(node)
        if isinstance(node, ClaimedWaves):
            return self._waves(node, self.angles[node.source])
        if isinstance(node, ClaimedPowers):
            found, x = number(0), self.sums[node.source]
            for c in reversed(node.coefficients):
                found = found * x + number(c)
            return found
        if isinstance(node, ClaimedCurve):
            return self.curve(node)
        found = number(node.constant)
        for factor, read in node.addends:
            part = self.sums[read[0]]
            found = found + (part * self.sums[read[1]] if read[1:] else part).times(factor)
        return self.turning(found, node) if node.turning else found

    def given(self, node: ClaimedInput) -> ClaimedWaveSum | ClaimedAngle:
        """Return an input in the sketch's unit: an angle in turns, any other in cells."""
        one = self.inputs.get(node.name)
        if one is None or one.word is None or (one.word.part is not None) != node.angle:
            raise DoesNotHoldError(f"sketch: {node.name} is no input with such a word")
        low, high = arb(one.word.low), arb(one.word.high)
        if node.angle:
            return ClaimedAngle({one.name: 1}, -low / (2 * arb.pi()) - 0.5, one.word.wraps)
        x = self.space.angle(one.name) if one.angle else self.space.value(one.name)
        return (x - number((low + high) / 2)).times((1 << one.word.bits) / (high - low))

    def _turns(self, node: Turns) -> ClaimedAngle:
        multiples: dict[str, int] = {}
        for multiple, place in node.items:
            for name, k in self.angles[place].multiples.items():
                multiples[name] = multiples.get(name, 0) + multiple * k
        offsets = (self.angles[place].offset * multiple for multiple, place in node.items)
        return ClaimedAngle(multiples, sum(offsets, arb(0)))

    def turning(self, found: ClaimedWaveSum, node: ClaimedTotal) -> ClaimedAngle:
        """Return a sum in parts of a turn as an angle with integer multiples, and an error."""
        multiples, offset = {}, arb(0)
        for key, c in found.times(arb(2) ** -node.turning).parts.items():
            if not key:
                offset += c.real
                continue
            (one, power), *others = self.space.exponents(key)
            if others or power != 1 or one.name[0] != EXACT:
                raise NotCoveredError("an angle that is not a sum of angles")
            turns = c.real * 2 * arb.pi()
            multiples[one.name[1:]] = round(float(turns.mid()))
            away = abs(turns - multiples[one.name[1:]]) * max(abs(one.low), abs(one.high))
            offset += away / (2 * arb.pi()) * arb(0, 1)
        return ClaimedAngle(multiples, offset)

    def _waves(self, node: ClaimedWaves, angle: ClaimedAngle) -> ClaimedWaveSum:
        found = number(0)
        for k, a, b in node.parts:
            for sign in (1, -1):
                wave = number(acb(a, sign * b) / 2 * turned(angle.offset * 2 * arb.pi() * k * sign))
                for name, multiple in angle.multiples.items():
                    wave = wave * self.space.wave(name, sign * k * multiple)
                found = found + wave
        return found

    def curve(self, node: ClaimedCurve) -> ClaimedWaveSum:
        """Return a curve whose argument stays within its limits."""
        if node.angle:
            angle = self.angles[node.source]
            mark, x = TURNING if angle.turning else EXACT, number(angle.offset * 2 * arb.pi())
            for name, multiple in angle.multiples.items():
                x = x + self.space.angle(name, mark).times(multiple)
        else:
            x = self.sums[node.source]
        x = x.times(node.unit) + number(node.middle)
        if not math.isinf(node.high) or not math.isinf(node.low):
            low, high = self.space.reached(x)
            over = max(arb(0), node.low - low, high - node.high)
            if not over < SAME:
                raise NotCoveredError("a curve whose argument may exceed its limits")
            x = x + self.space.unknown(over)
        values: list[ClaimedWaveSum] = []
        for step in node.steps:
            values.append(self.space.step(step, values, x))
        if any(
            v.name[0] == TURNING for key in values[-1].parts for v, _ in self.space.exponents(key)
        ):
            raise NotCoveredError("a curve of an angle modulo a turn that is not periodic")
        return values[-1].times(node.factor)


@lru_cache(maxsize=4)
def differences(origin: CertificateSection, section: CertificateSection) -> tuple[Difference, ...]:
    """Bound the difference between every output of a sketch and the specified function."""
    sketch, found = read_sketch(section), []
    with precise():
        space, specified = function_of(origin)
        inputs = {one.name: one for one in read_origin(origin).inputs}
        expansion = ClaimedExpansion(dict(enumerate(sketch.nodes)), inputs, space)
        for one in sketch.results:
            if one.name not in specified:
                raise DoesNotHoldError(f"sketch: {one.name} is no output of the origin")
            value = expansion.sums[one.node].times(one.step) + number(one.middle)
            difference = specified[one.name] - value
            maximum = space.maximum(difference) / one.step
            steps = float(maximum.upper()) * (1 + 2**-50)
            found.append(Difference(one.name, steps, len(value.parts)))
            if not maximum < MOST_STEPS:
                _refuse(one.name, difference, space, maximum)
    return tuple(found)


def sketch_error(load: LoadFiles, name: str) -> Fraction:
    """Return the error of an output's sketch in steps, or 0 if `check_sketch` cannot bound it."""
    try:
        found = differences(load.section("origin"), load.section("sketch"))
    except (NotCoveredError, DataError):
        return Fraction(0)
    return Fraction(next(one.steps for one in found if one.name == name))


def _refuse(name: str, difference: ClaimedWaveSum, space: Space, maximum: arb) -> None:
    """Raise an error that names the coefficient with the largest difference."""
    parts = difference.parts
    key = max(parts, key=lambda k: float(space.maximum(ClaimedWaveSum({k: parts[k]}, 0)).mid()))
    listed = [(one.name, k, one.angle) for one, k in space.exponents(key)]
    factors = [f"exp({k}i {of})" if angle else f"{of}^{k}" for of, k, angle in listed]
    what, size = " ".join(factors) or "1", complex(parts[key])
    if any(" " in of for of, _, _ in listed):
        raise NotCoveredError(f"{name}: {what} could not be identified in origin and sketch")
    raise DoesNotHoldError(
        f"sketch: {name} is another function: it may differ by {float(maximum.mid()):.3g} steps; "
        f"the coefficient of {what} is {size:.6g} too small"
    )


def check_sketch(load: LoadFiles) -> Iterator[VerdictStep]:
    """Check the sketch of a load against its origin."""
    origin, section = load.section("origin"), load.section("sketch")

    def same() -> CheckedCases:
        found = differences(origin, section)
        listed = ", ".join(f"{one.name} {one.steps:.2g}" for one in found)
        return CheckedCases(
            sum(one.cases for one in found), f"largest differences, in LSB: {listed}"
        )

    yield checked("waves to sketch", "expansion, coefficients compared in balls", same)


# --------------------------------------------------------------------------------------------------
# Function files, whose expressions are read as sums, step by step as the file format specifies.
#
# [inputs.e]                           range, unit, angle or not
# [let]                                named expressions, read in order
# [outputs.u]  # noqa: ERA001 (a format)
# expression = "clip(2*e, -1, 1)"  # noqa: ERA001 (a format)
# --------------------------------------------------------------------------------------------------

OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
CURVES = ["sin", "cos", "sqrt", "exp", "log", "sign", "asin", "acos", "atan", "tanh", "abs", "wrap"]
MOST_POWER = 64


def input_of(table: Mapping[str, Any]) -> tuple[float, float, bool, str]:
    """Return the limits of an input, whether it is an angle, and its unit."""
    turning = bool(table.get("angle", False))
    ends = [parse_number(str(end)) for end in table.get("range", (-math.pi, math.pi))]
    low, high = (math.nan if end is None else end for end in ends)
    return low, high, turning, str(table.get("unit", "")) or ("rad" if turning else "")


def outputs_of(document: Mapping[str, Any], space: Functions) -> dict[str, ClaimedWaveSum]:
    """Return the outputs of a file as sums over its inputs."""
    reader = Reader(space)
    for name, table in document["inputs"].items():
        turning = input_of(table)[2]
        reader.known[name] = space.angle(name) if turning else space.value(name)
    for name, text in document.get("let", {}).items():
        reader.known[name] = reader.read(str(text))
    texts = {name: one["expression"] for name, one in document["outputs"].items()}
    return {name: space.fixed(reader.read(text)) for name, text in texts.items()}


class Reader:
    """Reads expressions as sums, over `known` names."""

    def __init__(self, space: Functions) -> None:
        self.space, self.known = space, dict[str, "ClaimedWaveSum"]()
        self.several: dict[str, Callable[..., ClaimedWaveSum]] = {
            "tan": lambda x: self.apply("div", self.apply("sin", x), self.apply("cos", x)),
            "reciprocal": lambda x: self.apply("div", number(1), x),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "clip": lambda x, low, high: self.maximum(self.minimum(x, high), low),
        }

    def read(self, text: str) -> ClaimedWaveSum:
        """Read an expression."""
        try:
            return self.value(ast.parse(" ".join(text.split()), mode="eval").body)
        except (SyntaxError, ValueError, TypeError, RecursionError) as error:
            raise DataError(f"{shown(text)} is no expression ({error!r})") from error

    def apply(self, kind: str, *given: ClaimedWaveSum) -> ClaimedWaveSum:
        return self.space.apply(kind, given)

    def value(self, node: ast.AST) -> ClaimedWaveSum:
        """Read a part of an expression."""
        if isinstance(node, ast.Constant):
            return number(arb(float(node.value)))  # type: ignore[arg-type]  # no number: an error
        if isinstance(node, ast.Name):
            return self.known[node.id] if node.id in self.known else _constant(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self.power(self.value(node.left), ast.literal_eval(node.right))
        if isinstance(node, ast.BinOp):
            one = self.value(node.left)
            return self.apply(OPERATORS[type(node.op)], one, self.value(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self.called(node.func.id, [self.value(one) for one in node.args])
        raise NotCoveredError(f"{type(node).__name__} is not supported in expressions")

    def called(self, name: str, given: list[ClaimedWaveSum]) -> ClaimedWaveSum:
        """Apply a named function."""
        if name in self.several:
            return self.several[name](*given)
        if name not in CURVES or len(given) != 1:
            raise NotCoveredError(f"the checker does not support {shown(name)}")
        return self.apply(name, given[0])

    def power(self, x: ClaimedWaveSum, exponent: float) -> ClaimedWaveSum:
        """Return an integer power."""
        if exponent != int(exponent) or abs(exponent) > MOST_POWER:
            raise ValueError(exponent)
        found = number(1)
        for _ in range(abs(int(exponent))):
            found = found * x
        return self.apply("div", number(1), found) if exponent < 0 else found

    def maximum(self, a: ClaimedWaveSum, b: ClaimedWaveSum) -> ClaimedWaveSum:
        """Return the larger number: the second plus the excess of the first."""
        a, b = (a, b) if any(a.parts) else (b, a)
        return b + self.excess(a, b)

    def minimum(self, a: ClaimedWaveSum, b: ClaimedWaveSum) -> ClaimedWaveSum:
        """Return the smaller number: the second minus its excess over the first."""
        a, b = (a, b) if any(a.parts) else (b, a)
        return b - self.excess(b, a)

    def excess(self, a: ClaimedWaveSum, b: ClaimedWaveSum) -> ClaimedWaveSum:
        """Return max(a - b, 0)."""
        difference = a - b
        return (difference + self.apply("abs", difference)).times(0.5)


def _constant(name: str) -> ClaimedWaveSum:
    if name != "pi":
        raise DataError(f"{shown(name)} is an unknown name")
    return number(arb.pi())
