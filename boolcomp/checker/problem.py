"""Checks the section `sketch` (see `nodes`): expanded, it is what is asked, but for its digits.

Both are sums of waves times powers; they differ by no more than the sizes of all differences of
coefficients, each times the largest values of its inputs. That is part of every error.
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
from boolcomp.checker.folder import DoesNotHoldError, Found, NotCoveredError, Step, checked
from boolcomp.checker.robot import Space, Sum, Variable, number, outputs, precise, signature, turned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.checker.folder import LoadFiles, Section


# --------------------------------------------------------------------------------------------------
# The section `sketch`: the function that a graph calculates, node by node, without any width.
#
#     s0 = input q1 angle                 an angle counts turns (see `origin`), else cells of a word
#     s1 = input qd1
#     s2 = turns | 1 s0 | -2 s0            a sum of angles
#     s3 = waves s2 | 0 1.5 0.0 | 1 0.0 1.6     Re Σ (a + ib) exp(2πikφ) over k, a, b
#     s4 = powers s1 | 0.0 | 0.0 | 1.0     Σ c x^k
#     s5 = curve s1 1.0 0.0 0.5 -inf inf | x | 2.0 | mul 0 1 | sin 2
#                                          factor · f(middle + unit·x), which stands still beyond
#                                          low .. high; the last step is f, x of an angle is in rad
#     s6 = sum 0.5 | 0.25 s3 | 1.0 s4 s3   a constant, multiples of nodes and of products of two
#     s7 = turning 16 0.0 | 1.5 s1         the same, an angle: it counts 2^-16 turns
#     tau1 = 0.0 1.5625 s6                 an output: the middle of its range, steps of a sum
#
# Every number is the double that its text names.
# --------------------------------------------------------------------------------------------------


MOST = 64  # of a multiple, a harmonic, a power, and the places of a turn
_LINE = re.compile(r"(\w+) = (.+)")
_NODE = re.compile(r"s(0|[1-9]\d{0,5})")
_ONE = "neg sqrt sin cos sign exp log atan asin acos tanh abs step wrap"
_ARITY = {"x": 0, "add": 2, "sub": 2, "mul": 2, "div": 2, "atan2": 2}
_ARITY |= dict.fromkeys(_ONE.split(" "), 1)


@dataclass(frozen=True, slots=True)
class Given:
    """An input; an `angle` counts turns."""

    name: str
    angle: bool


@dataclass(frozen=True, slots=True)
class Turns:
    """Σ multiple·angle, over (multiple, node)."""

    items: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Waves:
    """Re Σ (a + ib) exp(2πikφ) of an angle, over (k, a, b)."""

    source: int
    parts: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True, slots=True)
class Powers:
    """Σ c_k x^k."""

    source: int
    coefficients: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Operation:
    """A step of a curve: `x`, a `constant`, or an operation on earlier steps."""

    kind: str
    operands: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Curve:
    """factor · f(middle + unit·x), which stands still beyond low .. high; x of an angle is rad."""

    source: int
    unit: float
    middle: float
    factor: float
    low: float
    high: float
    angle: bool
    steps: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """A constant and addends, (factor, nodes); a `turning` one counts 2^-turning turns."""

    constant: float
    addends: tuple[tuple[float, tuple[int, ...]], ...]
    turning: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """An output: middle + step · node."""

    name: str
    middle: float
    step: float
    node: int


Node: TypeAlias = Given | Turns | Waves | Powers | Curve | Total


@dataclass(frozen=True, slots=True)
class Sketch:
    """Nodes, each of which reads earlier ones, and the outputs."""

    nodes: tuple[Node, ...]
    results: tuple[Result, ...]


def read_sketch(section: Section) -> Sketch:
    """Read the section; a `DataError` names the line that is wrong."""
    nodes: list[Node] = []
    results: list[Result] = []
    for row, line in enumerate(section.lines):
        try:
            name, text = _LINE.fullmatch(line).groups()  # type: ignore[union-attr]  # (caught)
            if name == f"s{len(nodes)}" and not results:
                kind, _, rest = text.partition(" ")
                nodes.append(_node(kind, [one.split() for one in rest.split("|")], nodes))
            else:
                results.append(Result(name, *_read("rrs", text.split(), nodes)))
                _require_node(results[-1].step > 0 and _sum(nodes[results[-1].node]))
        except (AttributeError, ValueError, KeyError, IndexError, OverflowError) as error:
            raise DataError(
                f"{section.where(row)}: {shown(line)} is no line of a sketch"
            ) from error
    return Sketch(tuple(nodes), tuple(results))


def is_angle(node: Node) -> bool:
    """Tell whether a node is an angle."""
    if isinstance(node, Given):
        return node.angle
    return isinstance(node, Turns) or (isinstance(node, Total) and node.turning > 0)


def _sum(node: Node) -> bool:
    return isinstance(node, Total) and not node.turning


def _require_node(holds: bool) -> None:  # noqa: FBT001 (what is checked)
    if not holds:
        raise ValueError("no line of a sketch")


def _read(kinds: str, words: Sequence[str], nodes: Sequence[Node]) -> tuple[Any, ...]:
    """Read words: i a small whole number, r a real one, e an end, s a node, a an angle's."""
    _require_node(len(kinds) == len(words))
    found: list[Any] = []
    for kind, word in zip(kinds, words, strict=True):
        if kind in "sa":
            found.append(int(_NODE.fullmatch(word)[1]))  # type: ignore[index]  # (caught)
            _require_node(is_angle(nodes[found[-1]]) == (kind == "a"))
        else:
            found.append(int(word) if kind == "i" else float(word))
            _require_node(not math.isnan(found[-1]) and (kind == "e" or math.isfinite(found[-1])))
            _require_node(kind != "i" or abs(found[-1]) <= MOST)
    return tuple(found)


def _node(kind: str, listed: list[list[str]], nodes: Sequence[Node]) -> Node:
    """Return a node of what stands between its strokes."""
    head, *items = listed

    def read(kinds: str) -> tuple[Any, ...]:
        return tuple(_read(kinds, one, nodes) for one in items)

    if kind == "input":
        _require_node(head[1:] in ([], ["angle"]) and not items)
        return Given(head[0], len(head) > 1)
    if kind == "turns":
        _require_node(not head)
        return Turns(read("ia"))
    if kind == "waves":
        (source,) = _read("a", head, nodes)
        found = Waves(source, read("irr"))
        _require_node(all(k >= 0 for k, _, _ in found.parts))
        return found
    if kind == "powers":
        _require_node(len(items) <= MOST)
        (source,) = _read("s", head, nodes)
        return Powers(source, tuple(c for (c,) in read("r")))
    if kind == "curve":
        angle = head[-1] == "angle"
        numbers = _read("arrree" if angle else "srrree", head[: len(head) - angle], nodes)
        _require_node(numbers[1] != 0 and numbers[4] <= numbers[5] and bool(items))
        source, unit, middle, factor, low, high = numbers
        return Curve(
            source,
            unit,
            middle,
            factor,
            low,
            high,
            angle,
            tuple(operation(one, k) for k, one in enumerate(items)),
        )
    _require_node(kind in ("sum", "turning"))
    *turning, constant = _read("ir" if kind == "turning" else "r", head, nodes)
    addends = [_read("rs" if len(one) == 2 else "rss", one, nodes) for one in items]
    _require_node(not turning or turning[0] > 0)
    return Total(constant, tuple((factor, tuple(read)) for factor, *read in addends), *turning)


def operation(words: list[str], before: int) -> Operation:
    """Read a step of a curve, or of a function; a `ValueError` says that it is none."""
    kind, *listed = words
    if kind not in _ARITY:
        (value,) = _read("r", words, ())
        return Operation("constant", (), value)
    operands = tuple(map(int, listed))
    _require_node(len(operands) == _ARITY[kind] and all(0 <= k < before for k in operands))
    return Operation(kind, operands)


# --------------------------------------------------------------------------------------------------
# Functions of sums that are no sums: each is a variable more, and is found again by its argument.
#
# Two arguments that differ by no more than e have values that differ by no more than L·e, where L
# is the largest slope between them. Such a difference is a variable, too: a number between -1 and
# 1.
# --------------------------------------------------------------------------------------------------


SAME = 1e-6  # arguments that differ by more are others
EXACT, TURNING = " ", "~"  # before the name of an angle: as a number, or but for whole turns
RISING = ("exp", "log", "sqrt", "atan", "tanh")


class Functions(Space):
    """Sums over variables, and over functions of them."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        super().__init__(variables)
        self.known: list[tuple[str, Sum, Sum]] = []

    def named(self, name: str, low: arb, high: arb) -> Sum:
        """Return a variable more, between these numbers."""
        if name not in self.variables:
            ends = float(low.lower()) - 1e-12, float(high.upper()) + 1e-12
            if not all(abs(end) < 1e100 for end in ends):
                raise NotCoveredError(f"{name}: it may be any number, as far as is known")
            self.variables[name] = len(self.variables), Variable(name, False, *ends)  # noqa: FBT003
        return self.value(name)

    def angle(self, name: str, mark: str = EXACT) -> Sum:
        """Return an angle as a number, or as one that is known but for whole turns."""
        _, one = self.variables[name]
        return self.named(f"{mark}{name}", arb(one.low), arb(one.high))

    def beside(self, size: arb) -> Sum:
        """Return a number of which nothing but its size is known."""
        name = f"± {len(self.variables)}"
        return number(0) if size == 0 else self.named(name, arb(-1), arb(1)).times(size.upper())

    def apply(self, kind: str, read: Sequence[Sum]) -> Sum:
        """Return what an operation makes of sums."""
        if kind in ("add", "sub", "mul", "neg"):
            one, other = read[0], read[-1]
            return {"add": one + other, "sub": one - other, "neg": -one}.get(kind) or one * other
        if kind == "div":
            return read[0] * self._function("inverse", read[1])
        if kind == "atan2":
            raise NotCoveredError("the angle of a point is no function that the checker knows")
        if kind in ("sin", "cos") and (wave := self._wave(read[0])):
            one, other, away = wave
            found = one + other if kind == "cos" else (other - one).times(acb(0, 1))
            return found.times(0.5) + self.beside(away)
        return self._function(kind, read[0])

    def step(self, step: Operation, values: Sequence[Sum], x: Sum) -> Sum:
        """Return a step of a calculation, after the values of those before it; `x` is its input."""
        if step.kind == "x":
            return x
        if step.kind == "constant":
            return number(step.value)
        return self.apply(step.kind, [values[k] for k in step.operands])

    def _wave(self, x: Sum) -> tuple[Sum, Sum, arb] | None:
        """Return exp(ix) and exp(-ix) of a sum of whole multiples of angles, and how far it is."""
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

    def _function(self, kind: str, x: Sum) -> Sum:
        if any(v.name[0] == TURNING for key in x.parts for v, _ in self.exponents(key)):
            raise NotCoveredError(f"{kind} of an angle that is known but for whole turns")
        low, high = self.reached(x)
        if not set(x.parts) - {0}:
            return number(_value(kind, low.union(high)))
        for name, argument, value in self.known:
            away = self.most(x - argument)
            if name == kind and away < SAME:
                return value + self.beside(_slope(kind, low - away, high + away) * away)
        ends = _value(kind, low), _value(kind, high)
        if kind not in RISING:
            ends = (_value(kind, low.union(high)),) * 2
        made = self.named(f"{kind} {len(self.variables)}", *ends)
        self.known.append((kind, x, made))
        return made

    def reached(self, x: Sum) -> tuple[arb, arb]:
        """Return between which numbers a sum lies, product by product."""
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
    """Return a function's value, for all of a ball."""
    if kind == "inverse":
        found = 1 / x
    elif kind == "abs":
        found = abs(x)
    elif kind in (*RISING, "sin", "cos", "asin", "acos"):
        found = getattr(x, kind)()
    else:
        raise NotCoveredError(f"{kind} is no function that the checker knows")
    if not found.is_finite():
        raise NotCoveredError(f"{kind} of a number that may be anything, as far as is known")
    return found


def _slope(kind: str, low: arb, high: arb) -> arb:
    """Return the largest slope of a function between two numbers."""
    found = arb(1)  # of sin, cos, atan, tanh and abs
    if kind == "exp":
        found = high.exp()
    elif kind in ("log", "sqrt", "inverse", "asin", "acos"):
        near, far = arb(low.union(high).abs_lower()), arb(low.union(high).abs_upper())
        flat = (1 - far * far).sqrt()
        found = 1 / {"log": near, "sqrt": 2 * near.sqrt(), "inverse": near * near}.get(kind, flat)
    if not found.is_finite():
        raise NotCoveredError(f"the slope of {kind} may be anything, as far as is known")
    return found.upper()


# --------------------------------------------------------------------------------------------------
# The section `origin`: what is calculated, as its user gave it, and the inputs with their words.
#
#     function inverse-dynamics
#     payload 1.5                          kg, at the tip of the robot
#     | name = "arm"                       a robot file, line by line
#     step mul 0 1                         or the steps of a function, after its inputs, in order,
#     output y 3                           and which of them are its outputs
#     input q1 -3.0 3.0 angle word -3.14 3.14 10 of 0 wraps
#     input qd1 -1.0 1.0 word -1.0 1.0 8 of all
#     input q2 0.5 0.5 angle               a single value: it has no word
#
# An input lies between the first two numbers. Its word has 2^10 cells, which divide -3.14 .. 3.14;
# of an angle that is 2^-0 of a turn (`of all`: it is no such part), and what `wraps` may be whole
# turns farther. To a sketch an angle counts turns from half a turn above its word's lowest border,
# if it is a part of a turn; any other input counts cells from the middle. An `exact` input lies in
# the middles of cells alone.
# --------------------------------------------------------------------------------------------------


_REAL = r"(-?[0-9.e+-]+)"
_INPUT = re.compile(
    rf"input (\w+) {_REAL} {_REAL}( angle)?"
    rf"(?: word {_REAL} {_REAL} (\d\d?) of (\d\d?|all)( wraps)?( exact)?)?"
)


@dataclass(frozen=True, slots=True)
class Word:
    """An input's word: 2^bits cells divide low .. high, 2^-part of a turn if that is said."""

    low: float
    high: float
    bits: int
    part: int | None
    wraps: bool
    exact: bool


@dataclass(frozen=True, slots=True)
class Input:
    """An input: between which numbers it lies, and its word; a single value has none."""

    name: str
    low: float
    high: float
    angle: bool
    word: Word | None


@dataclass(frozen=True, slots=True)
class Origin:
    """A function of a robot, or the steps of one after its inputs, and all inputs.

    In format 1 the robot holds its payload (None), and what that is is not said.
    """

    function: str
    payload: float | None
    robot: str
    steps: tuple[Operation, ...]
    outputs: tuple[tuple[str, int], ...]
    inputs: tuple[Input, ...]


def read_origin(section: Section) -> Origin:
    """Read the section; a `DataError` names the line that is wrong."""
    function, payload, robot, outputs = "", None, [], {}
    steps: list[Operation] = []
    inputs: dict[str, Input] = {}
    for row, line in enumerate(section.lines):
        kind, _, rest = line.partition(" ")
        try:
            if kind == "input":
                one = _input(line)
                _require_line(one.name not in inputs)
                inputs[one.name] = one
            elif kind == "|":
                robot.append(rest)
            elif kind == "payload":
                _require_line(row == 1 and not math.isinf(float(rest)) and float(rest) >= 0)
                payload = float(rest)
            elif kind == "step":
                steps.append(operation(rest.split(" "), len(inputs) + len(steps)))
            elif kind == "output":
                name, place = rest.split(" ")
                _require_line(name not in outputs)
                outputs[name] = int(place)
                _require_line(0 <= int(place) < len(inputs) + len(steps))
            else:
                _require_line(kind == "function" and not row)
                function = rest
        except (ValueError, AttributeError) as error:
            where = section.where(row)
            raise DataError(f"{where}: {shown(line)} is no line of an origin") from error
    found = tuple(inputs.values())
    return Origin(function, payload, "\n".join(robot), tuple(steps), tuple(outputs.items()), found)


def _require_line(holds: bool) -> None:  # noqa: FBT001 (what is checked)
    if not holds:
        raise ValueError("no line of an origin")


def _input(line: str) -> Input:
    name, low, high, angle, *rest = _INPUT.fullmatch(line).groups()  # type: ignore[union-attr]
    if float(low) > float(high) or (rest[0] is None) != (float(low) == float(high)):
        raise ValueError(line)
    word = None
    if rest[0] is not None:
        part = None if rest[3] == "all" else int(rest[3])
        word = Word(
            float(rest[0]), float(rest[1]), int(rest[2]), part, bool(rest[4]), bool(rest[5])
        )
        if word.low >= word.high or word.bits > 60 or (part is not None and not angle):
            raise ValueError(line)
    return Input(name, float(low), float(high), bool(angle), word)


def space_of(origin: Origin) -> Functions:
    """Return the space of sums over the inputs of an origin."""
    return Functions([Variable(x.name, x.angle, x.low, x.high) for x in origin.inputs])


def values_of(origin: Origin, space: Functions, more: float = 0.0) -> dict[str, Sum]:
    """Return what is calculated, by the outputs' names; `more` is added to the payload (kg)."""
    if origin.function:
        payload = (origin.payload or 0.0) + more
        found = outputs(origin.function, origin.robot, space, payload)
        return {name: space.held(one) for name, one in found.items()}
    values = [space.angle(x.name) if x.angle else space.value(x.name) for x in origin.inputs]
    for step in origin.steps:
        values.append(space.step(step, values, values[0]))
    return {name: space.held(values[place]) for name, place in origin.outputs}


def function_of(section: Section) -> tuple[Functions, dict[str, Sum]]:
    """Return what is calculated as sums of waves, by the outputs' names, and their space."""
    origin = read_origin(section)
    space = space_of(origin)
    return space, values_of(origin, space)


def check_origin(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section: robot to sums of waves, ranges of inputs."""
    section = load.section("origin")
    name, method = "robot to waves", "Lagrange's equations in balls, a second time"
    if not section.text.startswith("function "):
        name, method = "function to waves", "its steps in balls, a second time"

    def waves() -> Found:
        origin = read_origin(section)
        with precise():
            found = function_of(section)[1]
        said = signature(origin.function, origin.robot).ranges if origin.function else {}
        for one in origin.inputs:
            if said.get(one.name, (one.low, one.high)) != (one.low, one.high):
                low, high = said[one.name]
                raise DoesNotHoldError(
                    f"origin: {one.name} is said to lie in {one.low!r} .. {one.high!r}, and the "
                    f"robot's joint may go from {low!r} to {high!r}"
                )
        parts = sum(len(one.parts) for one in found.values())
        of = origin.function or f"{len(origin.steps)} steps"
        return Found(parts, f"{of}: {len(found)} outputs")

    try:
        yield checked(name, method, waves)
    except NotCoveredError as error:
        yield Step(name, "not checked", note=f"{error}")


# --------------------------------------------------------------------------------------------------
# Checks the section `sketch` (see `nodes`): expanded, it is what is asked, but for its digits.
# --------------------------------------------------------------------------------------------------


MOST_STEPS = 2.0**-6  # a sketch that differs by more is another function; less is an error


@dataclass(frozen=True, slots=True)
class Angle:
    """Σ multiple·angle over inputs, and an offset, in turns; a `turning` one but for whole ones."""

    multiples: dict[str, int]
    offset: arb
    turning: bool = True


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much an output of the sketch may differ from what was asked, in steps."""

    name: str
    steps: float
    cases: int


class Expansion:
    """The nodes of a sketch as sums of waves over the inputs themselves, and angles."""

    def __init__(
        self, nodes: Mapping[int, Node], inputs: Mapping[str, Input], space: Functions
    ) -> None:
        self.inputs, self.space = inputs, space
        self.sums: dict[int, Sum] = {}
        self.angles: dict[int, Angle] = {}
        for place, node in nodes.items():
            found = self._value(node)
            if isinstance(found, Angle):
                self.angles[place] = found
            else:
                self.sums[place] = found

    def _value(self, node: Node) -> Sum | Angle:
        if isinstance(node, Given):
            return self.given(node)
        if isinstance(node, Turns):
            return self._turns(node)
        if isinstance(node, Waves):
            return self._waves(node, self.angles[node.source])
        if isinstance(node, Powers):
            found, x = number(0), self.sums[node.source]
            for c in reversed(node.coefficients):
                found = found * x + number(c)
            return found
        if isinstance(node, Curve):
            return self.curve(node)
        found = number(node.constant)
        for factor, read in node.addends:
            part = self.sums[read[0]]
            found = found + (part * self.sums[read[1]] if read[1:] else part).times(factor)
        return self.turning(found, node) if node.turning else found

    def given(self, node: Given) -> Sum | Angle:
        """Return an input as the sketch counts it: an angle in turns, cells of any other word."""
        one = self.inputs.get(node.name)
        if one is None or one.word is None or (one.word.part is not None) != node.angle:
            raise DoesNotHoldError(f"sketch: {node.name} is no input with such a word")
        low, high = arb(one.word.low), arb(one.word.high)
        if node.angle:
            return Angle({one.name: 1}, -low / (2 * arb.pi()) - 0.5, one.word.wraps)
        x = self.space.angle(one.name) if one.angle else self.space.value(one.name)
        return (x - number((low + high) / 2)).times((1 << one.word.bits) / (high - low))

    def _turns(self, node: Turns) -> Angle:
        multiples: dict[str, int] = {}
        for multiple, place in node.items:
            for name, k in self.angles[place].multiples.items():
                multiples[name] = multiples.get(name, 0) + multiple * k
        offsets = (self.angles[place].offset * multiple for multiple, place in node.items)
        return Angle(multiples, sum(offsets, arb(0)))

    def turning(self, found: Sum, node: Total) -> Angle:
        """Return a sum that counts parts of a turn as an angle: whole multiples, and the rest."""
        multiples, offset = {}, arb(0)
        for key, c in found.times(arb(2) ** -node.turning).parts.items():
            if not key:
                offset += c.real
                continue
            (one, power), *others = self.space.exponents(key)
            if others or power != 1 or one.name[0] != EXACT:
                raise NotCoveredError("an angle that is no sum of angles")
            turns = c.real * 2 * arb.pi()
            multiples[one.name[1:]] = round(float(turns.mid()))
            away = abs(turns - multiples[one.name[1:]]) * max(abs(one.low), abs(one.high))
            offset += away / (2 * arb.pi()) * arb(0, 1)
        return Angle(multiples, offset)

    def _waves(self, node: Waves, angle: Angle) -> Sum:
        found = number(0)
        for k, a, b in node.parts:
            for sign in (1, -1):
                wave = number(acb(a, sign * b) / 2 * turned(angle.offset * 2 * arb.pi() * k * sign))
                for name, multiple in angle.multiples.items():
                    wave = wave * self.space.wave(name, sign * k * multiple)
                found = found + wave
        return found

    def curve(self, node: Curve) -> Sum:
        """Return a curve, where it does not stand still: what its argument may be is known."""
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
                raise NotCoveredError("a curve that stands still where its argument may go on")
            x = x + self.space.beside(over)
        values: list[Sum] = []
        for step in node.steps:
            values.append(self.space.step(step, values, x))
        if any(
            v.name[0] == TURNING for key in values[-1].parts for v, _ in self.space.exponents(key)
        ):
            raise NotCoveredError("a curve of an angle that does not repeat itself")
        return values[-1].times(node.factor)


@lru_cache(maxsize=4)
def differences(origin: Section, section: Section) -> tuple[Difference, ...]:
    """Return by how much every output of a sketch may differ from what was asked."""
    sketch, found = read_sketch(section), []
    with precise():
        space, asked = function_of(origin)
        inputs = {one.name: one for one in read_origin(origin).inputs}
        expansion = Expansion(dict(enumerate(sketch.nodes)), inputs, space)
        for one in sketch.results:
            if one.name not in asked:
                raise DoesNotHoldError(f"sketch: {one.name} is no output of what was asked")
            said = expansion.sums[one.node].times(one.step) + number(one.middle)
            beside = asked[one.name] - said
            most = space.most(beside) / one.step
            found.append(Difference(one.name, float(most.upper()) * (1 + 2**-50), len(said.parts)))
            if not most < MOST_STEPS:
                _refuse(one.name, beside, space, most)
    return tuple(found)


def beside_asked(load: LoadFiles, name: str) -> Fraction:
    """Return what an output's sketch errs by, in steps: 0 where that is not known (and said so)."""
    try:
        found = differences(load.section("origin"), load.section("sketch"))
    except (NotCoveredError, DataError):
        return Fraction(0)
    return Fraction(next(one.steps for one in found if one.name == name))


def _refuse(name: str, beside: Sum, space: Space, most: arb) -> None:
    """Say which coefficient differs most; a function may be one that was not recognised."""
    key = max(beside.parts, key=lambda k: float(space.most(Sum({k: beside.parts[k]}, 0)).mid()))
    listed = [(one.name, k, one.angle) for one, k in space.exponents(key)]
    factors = [f"exp({k}i {of})" if angle else f"{of}^{k}" for of, k, angle in listed]
    what, size = " ".join(factors) or "1", complex(beside.parts[key])
    if any(" " in of for of, _, _ in listed):
        raise NotCoveredError(f"{name}: {what} is not known to be the same on both sides")
    raise DoesNotHoldError(
        f"sketch: {name} is another function: it may differ by {float(most.mid()):.3g} steps; the "
        f"coefficient of {what} is {size:.6g} too small"
    )


def check_sketch(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section."""
    origin, section = load.section("origin"), load.section("sketch")
    name, method = "waves to sketch", "expansion, coefficients compared in balls"

    def same() -> Found:
        found = differences(origin, section)
        listed = ", ".join(f"{one.name} {one.steps:.2g}" for one in found)
        return Found(sum(one.cases for one in found), f"they differ by at most, in LSB: {listed}")

    try:
        yield checked(name, method, same)
    except NotCoveredError as error:
        yield Step(name, "not checked", note=str(error))


# --------------------------------------------------------------------------------------------------
# Function files: their expressions as sums, in the steps in which the format says they are read.
#
# [inputs.e]                           its range, an angle or not, a unit
# [let]                                expressions by name, read in order
# [outputs.u]  # noqa: ERA001 (a format)
# expression = "clip(2*e, -1, 1)"  # noqa: ERA001 (a format)
# --------------------------------------------------------------------------------------------------


OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
CURVES = ["sin", "cos", "sqrt", "exp", "log", "sign", "asin", "acos", "atan", "tanh", "abs", "wrap"]
MOST_POWER = 64


def input_of(table: Mapping[str, Any]) -> tuple[float, float, bool, str]:
    """Return between which numbers an input lies, whether it is an angle, and its unit."""
    turning = bool(table.get("angle", False))
    ends = [parse_number(str(end)) for end in table.get("range", (-math.pi, math.pi))]
    low, high = (math.nan if end is None else end for end in ends)
    return low, high, turning, str(table.get("unit", "")) or ("rad" if turning else "")


def outputs_of(document: Mapping[str, Any], space: Functions) -> dict[str, Sum]:
    """Return the outputs of a file as sums over its inputs."""
    reader = Reader(space)
    for name, table in document["inputs"].items():
        turning = input_of(table)[2]
        reader.known[name] = space.angle(name) if turning else space.value(name)
    for name, text in document.get("let", {}).items():
        reader.known[name] = reader.read(str(text))
    texts = {name: one["expression"] for name, one in document["outputs"].items()}
    return {name: space.held(reader.read(text)) for name, text in texts.items()}


class Reader:
    """Makes sums of expressions, over names that are `known`."""

    def __init__(self, space: Functions) -> None:
        self.space, self.known = space, dict[str, "Sum"]()
        self.several: dict[str, Callable[..., Sum]] = {
            "tan": lambda x: self.apply("div", self.apply("sin", x), self.apply("cos", x)),
            "reciprocal": lambda x: self.apply("div", number(1), x),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "clip": lambda x, low, high: self.maximum(self.minimum(x, high), low),
        }

    def read(self, text: str) -> Sum:
        """Return what an expression makes of the names that are known."""
        try:
            return self.value(ast.parse(" ".join(text.split()), mode="eval").body)
        except (SyntaxError, ValueError, TypeError, RecursionError) as error:
            raise DataError(f"{shown(text)} is no expression ({error!r})") from error

    def apply(self, kind: str, *given: Sum) -> Sum:
        """Return what an operation makes of sums."""
        return self.space.apply(kind, given)

    def value(self, node: ast.AST) -> Sum:
        """Return what a part of an expression is."""
        if isinstance(node, ast.Constant):
            return number(arb(float(node.value)))  # type: ignore[arg-type]  # what is none is refused
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
        raise NotCoveredError(f"{type(node).__name__} is no part of an expression that it knows")

    def called(self, name: str, given: list[Sum]) -> Sum:
        """Return what a function makes of sums."""
        if name in self.several:
            return self.several[name](*given)
        if name not in CURVES or len(given) != 1:
            raise NotCoveredError(f"{shown(name)} is no function that the checker knows")
        return self.apply(name, given[0])

    def power(self, x: Sum, exponent: float) -> Sum:
        """Return a whole power."""
        if exponent != int(exponent) or abs(exponent) > MOST_POWER:
            raise ValueError(exponent)
        found = number(1)
        for _ in range(abs(int(exponent))):
            found = found * x
        return self.apply("div", number(1), found) if exponent < 0 else found

    def maximum(self, a: Sum, b: Sum) -> Sum:
        """Return the larger of two: the second, and by how much the first is more."""
        a, b = (a, b) if any(a.parts) else (b, a)
        return b + self.excess(a, b)

    def minimum(self, a: Sum, b: Sum) -> Sum:
        """Return the smaller of two: the second, less by how much it is more than the first."""
        a, b = (a, b) if any(a.parts) else (b, a)
        return b - self.excess(b, a)

    def excess(self, a: Sum, b: Sum) -> Sum:
        """Return by how much one is more than the other, 0 where it is not."""
        apart = a - b
        return (apart + self.apply("abs", apart)).times(0.5)


def _constant(name: str) -> Sum:
    if name != "pi":
        raise DataError(f"{shown(name)} is no name that is known")
    return number(arb.pi())
