"""A word graph before its widths are chosen: what is computed, not how finely.

Nodes stand in topological order and are numbered by their place. `evaluate` computes all of them
exactly, in units of words (see `poly`); angles are in radians.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from boolcomp.base.errors import number
from boolcomp.words.graph import ANGLE_BITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Straight

    Floats = NDArray[np.float64]

CHORD = 2.0**-11  # of a word's range: the distance over which a curve's slope is taken
BESIDE = 1e-9  # of half a word's range: beside zero
NEAR = 16  # such distances either way are near
TURN = ANGLE_BITS  # a sum that is an angle counts such parts of a turn


@dataclass(frozen=True, slots=True)
class Source:
    """An input word; an `angle` stands for a turn, which sums may wrap around, or 2^-part of it.

    Of an `exact` one nothing is unknown; else a cell stands for all that lies in it.
    """

    name: str
    bits: int
    angle: bool
    part: int = 0
    exact: bool = False

    @property
    def hidden(self) -> float:
        """The variance that its cells hide, as a part of what their width makes."""
        return 0.0 if self.exact else 1.0


@dataclass(frozen=True, slots=True)
class AngleSum:
    """Σ multiple·angle over (node, multiple), modulo a turn; an `exact` one loses no bit."""

    items: tuple[tuple[int, int], ...]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Waves:
    """Re Σ c·exp(ikφ) of one angle, over (k, Re c, Im c)."""

    source: int
    parts: tuple[tuple[int, float, float], ...]
    angle: ClassVar[bool] = True

    def at(self, angle: Floats) -> Floats:
        """Return the function's values."""
        total = np.zeros_like(angle)
        for k, real, imaginary in self.parts:
            if k == 0:
                total += real
            elif not imaginary:  # most waves are a sine or a cosine
                total += real * np.cos(k * angle)
            elif not real:
                total -= imaginary * np.sin(k * angle)
            else:
                total += real * np.cos(k * angle) - imaginary * np.sin(k * angle)
        return total

    def slope(self, angle: Floats) -> Floats:
        """Return its derivative."""
        parts = tuple((k, -k * b, k * a) for k, a, b in self.parts if k)
        return Waves(self.source, parts).at(angle)


@dataclass(frozen=True, slots=True)
class Powers:
    """Σ c_k x^k of one linear word."""

    source: int
    coefficients: tuple[float, ...]
    angle: ClassVar[bool] = False

    def at(self, x: Floats) -> Floats:
        """Return the function's values."""
        return np.asarray(np.polynomial.polynomial.polyval(x, self.coefficients))

    def slope(self, x: Floats) -> Floats:
        """Return its derivative."""
        slopes = [k * c for k, c in enumerate(self.coefficients)][1:]
        return np.asarray(np.polynomial.polynomial.polyval(x, slopes or [0.0]))


@dataclass(frozen=True, slots=True)
class Curve:
    """factor · f(middle + unit · x) of one word, which stands still beyond low .. high.

    Of an `angle` f has the period 2π, x is in radians, and there are ends only where it has stops.
    """

    source: int
    function: Straight
    unit: float = 1.0
    middle: float = 0.0
    factor: float = 1.0
    low: float = -math.inf
    high: float = math.inf
    angle: bool = False

    def at(self, x: Floats) -> Floats:
        """Return the function's values."""
        inside = np.clip(self.middle + self.unit * x, self.low, self.high)
        return np.asarray(self.factor * self.function.evaluate([inside])[0])

    def slope(self, x: Floats) -> Floats:
        """Return its slope over about a cell of a word of eleven bits."""
        half = self._half * CHORD
        return (self.at(x + half) - self.at(x - half)) / (2 * half)

    def steepness(self, x: Floats, *, exact: bool = False) -> Floats:
        """Return the root mean square of slopes nearby, with the sign of that at x.

        A jump hardly ever lies at a state, but it lies near to some. An `exact` word, an input,
        has the sign of what it stands for, and if it is an angle wraps where that does: a jump
        there costs nothing.
        """
        half = self._half
        cells = round(1 / CHORD)
        start = -math.pi if self.angle else (self.low - self.middle) / self.unit
        start = min(start, start + 2 * half * math.copysign(1, self.unit))
        places = start + np.linspace(0, 2 * half, cells + 1)
        middle = np.where((np.abs(places) < BESIDE * half) & (exact and not self.angle), BESIDE, 0)
        if exact and self.angle:
            places[-1] -= BESIDE * half  # up to the jump
        risen = self.at(places - middle * half)[1:] - self.at(places + middle * half)[:-1]
        squares = (risen * cells) ** 2
        padded = np.pad(squares, NEAR, "wrap" if self.angle and not exact else "symmetric")
        near = np.convolve(padded, np.ones(2 * NEAR + 1), "valid")
        place = np.floor((x - start) / (2 * half) * cells).astype(np.int64)
        place = place % cells if self.angle else np.clip(place, 0, cells - 1)
        size = np.sqrt(near[place] / (2 * NEAR + 1)) / (2 * half)
        return np.where(self.slope(x) < 0, -size, size)

    @property
    def _half(self) -> float:
        """Half the width of its range, in units of the word."""
        return math.pi if self.angle else (self.high - self.low) / 2 / abs(self.unit)


@dataclass(frozen=True, slots=True)
class Linear:
    """factor · node."""

    node: int
    factor: float


@dataclass(frozen=True, slots=True)
class Product:
    """factor · a · b; the factor is ± a power of two."""

    a: int
    b: int
    factor: float


Addend: TypeAlias = Linear | Product


@dataclass(frozen=True, slots=True)
class WordSum:
    """A constant and addends; an `angle` counts in 2^-TURN turns and wraps."""

    addends: tuple[Addend, ...]
    constant: float
    angle: bool = False


Table: TypeAlias = Waves | Powers | Curve
SketchNode: TypeAlias = Source | AngleSum | Table | WordSum


@dataclass(frozen=True, slots=True)
class Sketch:
    """All nodes, and for every output the sum that is its value in its own units."""

    nodes: tuple[SketchNode, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise a `ValueError` where a node reads a later one, or one of a wrong kind."""
        for place, node in enumerate(self.nodes):
            if any(not 0 <= k < place for k in reads(node)):
                raise ValueError(f"node {place} reads a later node")
            if isinstance(node, WordSum):
                for addend in node.addends:
                    if isinstance(addend, Product) and not is_power_of_two(addend.factor):
                        raise ValueError(f"sum {place}: a product's factor is no power of two")
        if not all(isinstance(self.nodes[k], WordSum) for k in self.outputs):
            raise ValueError("an output is no sum")

    def evaluate(self, inputs: Mapping[str, Floats]) -> list[Floats]:
        """Return every node's exact value; inputs by name, in units of words or radians."""
        values: list[Floats] = []
        for node in self.nodes:
            values.append(self._value(node, values, inputs))
        return values

    def _value(
        self, node: SketchNode, values: Sequence[Floats], inputs: Mapping[str, Floats]
    ) -> Floats:
        if isinstance(node, Source):
            return inputs[node.name]
        if isinstance(node, AngleSum):
            return np.asarray(sum(m * self.angle(k, values) for k, m in node.items))
        if isinstance(node, Table):
            return node.at(self.argument(node, values))
        total = np.full(len(next(iter(inputs.values()), (0,))), node.constant)
        for addend in node.addends:
            total += addend_value(addend, values)
        return total

    def argument(self, table: Table, values: Sequence[Floats]) -> Floats:
        """Return what a table is a function of: radians, or units of a word."""
        return self.angle(table.source, values) if table.angle else values[table.source]

    def angle(self, place: int, values: Sequence[Floats]) -> Floats:
        """Return a node's value in radians."""
        node = self.nodes[place]
        turns = isinstance(node, WordSum)
        return values[place] * (2 * math.pi / (1 << TURN)) if turns else values[place]

    def __str__(self) -> str:
        lines = [f"s{place} = {self._text(node)}" for place, node in enumerate(self.nodes)]
        lines += [f"T{k} = s{place}" for k, place in enumerate(self.outputs, 1)]
        return "\n".join(lines)

    def _text(self, node: SketchNode) -> str:
        if isinstance(node, Source):
            part = f" of 2^-{node.part} turn" if node.part else ""
            exact = " exact" if node.exact else ""
            return f"input {node.name} {node.bits} bits{' angle' * node.angle}{part}{exact}"
        if isinstance(node, AngleSum):
            kind = "exact angle " if node.exact else "angle "
            return kind + " ".join(f"{m:+d} s{k}" for k, m in node.items)
        if isinstance(node, Waves):
            parts = [f"{number(a)} cos{k} {number(b)} -sin{k}" for k, a, b in node.parts]
            return f"waves(s{node.source}) " + " + ".join(parts)
        if isinstance(node, Powers):
            return f"powers(s{node.source}) " + " ".join(number(c) for c in node.coefficients)
        if isinstance(node, Curve):
            return _curve_text(node)
        parts = [number(node.constant)] if node.constant else []
        for a in node.addends:
            names = f"s{a.node}" if isinstance(a, Linear) else f"s{a.a} s{a.b}"
            parts.append(f"{number(a.factor)} {names}")
        return f"{'angle ' if node.angle else ''}sum " + " + ".join(parts)


def _curve_text(curve: Curve) -> str:
    """Write a curve in one line: what x is, what it is a function of, where it ends."""
    inner = "" if curve.unit == 1 else f"{number(curve.unit)} "
    shift = f" + {number(curve.middle)}" if curve.middle else ""
    ends = "" if curve.angle else f" within {number(curve.low)} .. {number(curve.high)}"
    steps = "; ".join(str(curve.function).splitlines()[1:])
    return f"curve({inner}s{curve.source}{shift}){ends}: {number(curve.factor)} of {steps}"


def reads(node: SketchNode) -> tuple[int, ...]:
    """Return the nodes that a node reads."""
    if isinstance(node, Source):
        return ()
    if isinstance(node, AngleSum):
        return tuple(k for k, _ in node.items)
    if isinstance(node, WordSum):
        return tuple(k for addend in node.addends for k in addend_reads(addend))
    return (node.source,)


def addend_reads(addend: Addend) -> tuple[int, ...]:
    """Return the nodes that an addend reads."""
    return (addend.node,) if isinstance(addend, Linear) else (addend.a, addend.b)


def addend_value(addend: Addend, values: Sequence[Floats]) -> Floats:
    """Return an addend's value from those of all nodes."""
    if isinstance(addend, Linear):
        return addend.factor * values[addend.node]
    return addend.factor * values[addend.a] * values[addend.b]


def addend_means(node: SketchNode, values: Sequence[Floats]) -> tuple[float, ...]:
    """Return the mean of every addend of a sum over the values of all nodes."""
    if not isinstance(node, WordSum):
        return ()
    return tuple(float(addend_value(addend, values).mean()) for addend in node.addends)


def is_power_of_two(factor: float) -> bool:
    """Tell whether a number is ± a power of two."""
    return bool(factor) and math.frexp(abs(factor))[0] == 0.5
