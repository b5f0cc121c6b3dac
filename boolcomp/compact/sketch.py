"""Sketches: word graphs without widths, their width variables, and polynomials for their sums.

Nodes are in topological order and are numbered by their place. Values are in units of words (see
`Poly`); angles are in radians.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

import numpy as np

from boolcomp.problem.words import Interval, part_of
from boolcomp.words.graph import ANGLE_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.tape import Straight
    from boolcomp.problem.words import Input
    from boolcomp.terms.extract import Terms

    Floats = NDArray[np.float64]


CHORD = 2.0**-11  # of a word's range: the distance over which a curve's slope is taken
BESIDE = 1e-9  # of half a word's range: the distance of points next to zero
NEAR = 16  # chords on either side in a mean of slopes
TURN = ANGLE_BITS  # a heap that is an angle has steps of 2^-TURN turns


@dataclass(frozen=True, slots=True)
class SourceWord:
    """An input word; an `angle` has the range of a turn, which sums may wrap, or 2^-part of it.

    An `exact` word has only the values at the middles of its cells.
    """

    name: str
    bits: int
    angle: bool
    part: int = 0
    exact: bool = False

    @property
    def hidden(self) -> float:
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
        """Return the values at angles in radians."""
        total = np.zeros_like(angle)
        for k, real, imaginary in self.parts:
            if k == 0:
                total += real
            elif not imaginary:  # a single sine or cosine
                total += real * np.cos(k * angle)
            elif not real:
                total -= imaginary * np.sin(k * angle)
            else:
                total += real * np.cos(k * angle) - imaginary * np.sin(k * angle)
        return total

    def slope(self, angle: Floats) -> Floats:
        """Return the derivative."""
        parts = tuple((k, -k * b, k * a) for k, a, b in self.parts if k)
        return Waves(self.source, parts).at(angle)


@dataclass(frozen=True, slots=True)
class Powers:
    """Σ c_k x^k of one linear word."""

    source: int
    coefficients: tuple[float, ...]
    angle: ClassVar[bool] = False

    def at(self, x: Floats) -> Floats:
        return np.asarray(np.polynomial.polynomial.polyval(x, self.coefficients))

    def slope(self, x: Floats) -> Floats:
        """Return the derivative."""
        slopes = [k * c for k, c in enumerate(self.coefficients)][1:]
        return np.asarray(np.polynomial.polynomial.polyval(x, slopes or [0.0]))


@dataclass(frozen=True, slots=True)
class Curve:
    """factor · f(middle + unit · x) of one word, constant beyond low .. high.

    For an `angle` f has the period 2π, x is in radians, and only stops limit the range.
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
        """Return the values at words x."""
        inside = np.clip(self.middle + self.unit * x, self.low, self.high)
        return np.asarray(self.factor * self.function.evaluate([inside])[0])

    def slope(self, x: Floats) -> Floats:
        """Return the slope over about a cell of a word of eleven bits."""
        half = self._half * CHORD
        return (self.at(x + half) - self.at(x - half)) / (2 * half)

    def steepness(self, x: Floats, *, exact: bool = False) -> Floats:
        """Return the root mean square of slopes nearby, with the sign of the slope at x.

        A jump is seldom at a state, but it is near to some. An `exact` word determines the sign of
        its value, and the place where an angle wraps, so that jumps there do not count.
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
SketchNode: TypeAlias = SourceWord | AngleSum | Table | WordSum


@dataclass(frozen=True, slots=True)
class Sketch:
    """All nodes, and for every output the sum that is its value in its own units."""

    nodes: tuple[SketchNode, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        """Raise a `ValueError` if a node reads a later one, or one of a wrong kind."""
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
        """Return the exact values of all nodes; inputs by name, in units of words or radians."""
        values: list[Floats] = []
        for node in self.nodes:
            values.append(self._value(node, values, inputs))
        return values

    def _value(
        self, node: SketchNode, values: Sequence[Floats], inputs: Mapping[str, Floats]
    ) -> Floats:
        if isinstance(node, SourceWord):
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
        return self.angle(table.source, values) if table.angle else values[table.source]

    def angle(self, place: int, values: Sequence[Floats]) -> Floats:
        """Return a node's value in radians."""
        node = self.nodes[place]
        turns = isinstance(node, WordSum)
        return values[place] * (2 * math.pi / (1 << TURN)) if turns else values[place]

    def __str__(self) -> str:
        """Write the nodes as lines of a certificate (see `checker.problem`); floats are exact."""
        return "".join(f"s{place} = {_text(node)}\n" for place, node in enumerate(self.nodes))


def _text(node: SketchNode) -> str:
    """Write a node in one line."""
    if isinstance(node, SourceWord):
        return f"input {node.name}{' angle' * node.angle}"
    if isinstance(node, AngleSum):
        return " | ".join(["turns", *(f"{multiple} s{k}" for k, multiple in node.items)])
    if isinstance(node, Waves):
        parts = (f"{k} {float(a)!r} {float(b)!r}" for k, a, b in node.parts)
        return " | ".join([f"waves s{node.source}", *parts])
    if isinstance(node, Powers):
        return " | ".join([f"powers s{node.source}", *(repr(float(c)) for c in node.coefficients)])
    if isinstance(node, Curve):
        numbers = (node.unit, node.middle, node.factor, node.low, node.high)
        head = " ".join(repr(float(x)) for x in numbers) + " angle" * node.angle
        return " | ".join([f"curve s{node.source} {head}", *_curve_steps(node.function)])
    head = f"turning {TURN}" if node.angle else "sum"
    addends = (
        " ".join([repr(float(one.factor)), *(f"s{k}" for k in addend_reads(one))])
        for one in node.addends
    )
    return " | ".join([f"{head} {float(node.constant)!r}", *addends])


def _curve_steps(function: Straight) -> Iterable[str]:
    """Yield the steps of a function of one input; the last step is its result."""
    for node in function.nodes[: function.outputs[0].node + 1]:
        if node.kind == "constant":
            yield repr(float(node.value))
        else:
            yield " ".join(["x" if node.kind == "input" else node.kind, *map(str, node.operands)])


def reads(node: SketchNode) -> tuple[int, ...]:
    """Return the places of a node's operands."""
    if isinstance(node, SourceWord):
        return ()
    if isinstance(node, AngleSum):
        return tuple(k for k, _ in node.items)
    if isinstance(node, WordSum):
        return tuple(k for addend in node.addends for k in addend_reads(addend))
    return (node.source,)


def addend_reads(addend: Addend) -> tuple[int, ...]:
    return (addend.node,) if isinstance(addend, Linear) else (addend.a, addend.b)


def addend_value(addend: Addend, values: Sequence[Floats]) -> Floats:
    """Return the value of an addend, given the values of all nodes."""
    if isinstance(addend, Linear):
        return addend.factor * values[addend.node]
    return addend.factor * values[addend.a] * values[addend.b]


def addend_means(node: SketchNode, values: Sequence[Floats]) -> tuple[float, ...]:
    """Return the means of the addends of a sum, given the values of all nodes."""
    if not isinstance(node, WordSum):
        return ()
    return tuple(float(addend_value(addend, values).mean()) for addend in node.addends)


def is_power_of_two(factor: float) -> bool:
    return bool(factor) and math.frexp(abs(factor))[0] == 0.5


# --------------------------------------------------------------------------------------------------
# A builder of sketches that shares equal nodes, and builds angle sums from shorter ones.
# --------------------------------------------------------------------------------------------------

SAME = 1e-9  # relative
COEFFICIENT = 11  # digits of coefficients and constants


class SketchNodes:
    """A builder of nodes over input words; it may continue another one (`begun`)."""

    def __init__(
        self,
        words: Mapping[str, Quantity],
        *,
        exact: bool = False,
        begun: SketchNodes | None = None,
    ) -> None:
        self.words, self.exact = words, exact
        self.nodes: list[SketchNode] = list(begun.nodes) if begun else []
        self.known: dict[SketchNode, int] = dict(begun.known) if begun else {}
        self.angles: dict[Angle, int] = dict(begun.angles) if begun else {}

    def add(self, node: SketchNode, *, fresh: bool = False) -> int:
        """Return the number of a node, which is added if it is new."""
        if fresh or node not in self.known:
            self.known[node] = len(self.nodes)
            self.nodes.append(node)
        return self.known[node]

    def angle(self, angle: Angle) -> int:
        """Return the node of an angle sum: a shorter sum and one angle, if possible."""
        if angle in self.angles:
            return self.angles[angle]
        if len(angle) == 1 and angle[0][1] == 1:
            place = self._single(angle[0][0])
        else:
            place = self.add(AngleSum(self._items(angle), self.exact))
        self.angles[angle] = place
        return place

    def _items(self, angle: Angle) -> tuple[tuple[int, int], ...]:
        best: tuple[tuple[int, int], ...] | None = None
        for known, place in self.angles.items():
            for sign in (1, -1):
                rest = dict(angle)
                for name, multiple in known:
                    rest[name] = rest.get(name, 0) - sign * multiple
                left = [(name, m) for name, m in sorted(rest.items()) if m]
                if len(left) == 1 and len(known) > 1 and abs(left[0][1]) in (1, 2):
                    items = ((place, sign), (self._single(left[0][0]), left[0][1]))
                    if best is None or abs(items[1][1]) < abs(best[1][1]):
                        best = items
        return best or tuple((self._single(name), multiple) for name, multiple in angle)

    def _single(self, name: str) -> int:
        word = self.words[name]
        source = self.add(
            SourceWord(name, word.bits, word.part is not None, word.part or 0, word.exact)
        )
        if word.part is not None:
            return source
        # An angle over another range than 2^-k turns is first converted to steps of a turn.
        cells = (1 << TURN) / (2 * math.pi)
        turned = WordSum(
            (Linear(source, word.step * cells),), word.range.centre * cells, angle=True
        )
        return self.add(turned)


def primitive(angle: Angle) -> tuple[Angle, int, bool]:
    """Return an angle sum without its common multiple, the multiple, and whether it is negated."""
    common = math.gcd(*(m for _, m in angle))
    flipped = angle[0][1] < 0
    divisor = -common if flipped else common
    return tuple((name, m // divisor) for name, m in angle), common, flipped


def rounded(value: float) -> float:
    return float(f"{value:.{COEFFICIENT}g}") + 0.0


def power_of_two(size: float) -> float:
    return float(2.0 ** math.floor(math.log2(size) + SAME))


def fraction(value: float) -> float:
    return abs(value) / power_of_two(abs(value))


def is_power(value: float) -> bool:
    return abs(fraction(value) - 1) < SAME


def signed_power(value: float) -> float:
    return math.copysign(power_of_two(abs(value)), value)


# --------------------------------------------------------------------------------------------------
# The width variables of a sketch. Files name them by a place and letters, such as `12 a3`.
# --------------------------------------------------------------------------------------------------

_NAME = re.compile(r"([a-z]+)(\d*)")


class Role(StrEnum):
    """The meaning of a width variable, with its letters in files."""

    ANGLE_BITS = "n"  # bits of an angle sum, at most those of its parts
    READ = "t"  # bits that a table reads
    EXPONENT = "e"  # of the lowest bit of a table's output
    SPLIT = "s"  # bits split off a bipartite table
    LEAD = "p"  # leading bits that its correction reads
    TIMES = "m"  # bits split off that a slope multiplies
    SLOPES = "sp"  # leading bits that the table of slopes reads
    FINENESS = "sl"  # exponent of a slope's lowest bit, relative to the table's output
    BEND = "bp"  # bits split off that a table of bends reads; 0: no such table
    BENDS = "bl"  # leading bits that the table of bends reads
    CUT = "cut"  # the exponent of a heap's lowest column
    SHIFT = "c"  # correction of a heap's constant
    ROOM = "r"  # columns of a heap in addition to those for samples
    KEEP = "k"  # 0 if the mean of an addend replaces it
    DROP_A = "a"  # discarded digits of a product's first word
    DROP_B = "b"  # and of its second one
    DIGITS = "d"  # signed digits of an addend's constant

    @cache
    def of(self, node: int, addend: int | None = None) -> WidthVariable:
        return WidthVariable(node, self, addend)


class WidthVariable(NamedTuple):
    """One width: of a node of a sketch, or of one of its addends."""

    node: int
    role: Role
    addend: int | None = None

    @property
    def name(self) -> str:
        return self.role if self.addend is None else f"{self.role}{self.addend}"

    @property
    def rank(self) -> tuple[int, str]:
        return self.node, self.name


UNSEEN = (Role.SHIFT, Role.ROOM)  # not in models of costs and noise
INTERPOLATION = (Role.TIMES, Role.SLOPES, Role.FINENESS, Role.BEND, Role.BENDS)
Widths: TypeAlias = Mapping[WidthVariable, int]


def variable(node: int, name: str) -> WidthVariable:
    """Return the variable of a name; `ValueError` if there is none."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} names no width")
    return WidthVariable(node, Role(found[1]), int(found[2]) if found[2] else None)


def widths_text(widths: Widths) -> dict[str, int]:
    return {f"{v.node} {v.name}": widths[v] for v in sorted(widths, key=lambda v: v.rank)}


def widths_of(text: Mapping[str, int]) -> dict[WidthVariable, int]:
    """Parse the result of `widths_text`."""
    split = {key.partition(" "): value for key, value in text.items()}
    return {variable(int(node), name): int(value) for (node, _, name), value in split.items()}


def own_variables(place: int, node: SketchNode) -> list[WidthVariable]:
    """Return all width variables of a node."""
    if isinstance(node, WordSum):
        found = [v for k in range(len(node.addends)) for v in addend_variables(place, node, k)]
        return [Role.CUT.of(place), *found]
    roles: tuple[Role, ...] = (Role.READ, Role.EXPONENT, Role.SPLIT, Role.LEAD)
    if isinstance(node, AngleSum):
        roles = (Role.ANGLE_BITS,)
    elif isinstance(node, Curve):
        roles += INTERPOLATION
    return [role.of(place) for role in roles]


def addend_variables(place: int, node: WordSum, addend: int) -> list[WidthVariable]:
    """Return the width variables of an addend of a sum."""
    product = isinstance(node.addends[addend], Product)
    roles = (Role.KEEP, Role.DROP_A, Role.DROP_B) if product else (Role.KEEP, Role.DIGITS)
    return [role.of(place, addend) for role in roles]


def shape_variables(sketch: Sketch) -> list[tuple[WidthVariable, ...]]:
    """Return, for every node, the widths that determine the bits of its word."""
    found: list[tuple[WidthVariable, ...]] = []
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, SourceWord):
            found.append(())
        elif isinstance(node, WordSum):
            found.append((Role.CUT.of(place),))
        else:
            shapes = (v for k in reads(node) for v in found[k])
            found.append(tuple(dict.fromkeys([*own_variables(place, node), *shapes])))
    return found


def is_kept(widths: Widths, place: int, addend: int) -> bool:
    return widths.get(Role.KEEP.of(place, addend), 1) > 0


def live_nodes(sketch: Sketch, widths: Widths) -> frozenset[int]:
    """Return the nodes that outputs need through kept addends."""
    live = set(sketch.outputs)
    for place in reversed(range(len(sketch.nodes))):
        if place in live:
            live.update(_kept_reads(sketch.nodes[place], place, widths))
    return frozenset(live)


def _kept_reads(node: SketchNode, place: int, widths: Widths) -> Iterable[int]:
    if not isinstance(node, WordSum):
        return reads(node)
    kept = (a for k, a in enumerate(node.addends) if is_kept(widths, place, k))
    return (k for addend in kept for k in addend_reads(addend))


def operands(sketch: Sketch) -> frozenset[int]:
    """Return the operands of products, tables and exact angles: words that are centred on zero."""
    found: set[int] = set()
    for node in sketch.nodes:
        if isinstance(node, WordSum):
            products = [a for a in node.addends if isinstance(a, Product)]
            found.update(k for addend in products for k in addend_reads(addend))
        elif not isinstance(node, AngleSum) or node.exact:
            found.update(reads(node))
    return frozenset(found)


# --------------------------------------------------------------------------------------------------
# Outputs as polynomials in linear variables with Fourier series of the angles as coefficients.
#
# All numbers are in units of words. A linear variable (any input except angles) counts cells of its
# input word from the centre of its range. An angle is the turn of its word. An output counts its
# steps. A scale between words in a sum is then a power of two or a constant of the problem.
# --------------------------------------------------------------------------------------------------

Monomial = tuple[tuple[str, int], ...]  # (linear variable, power), sorted, powers positive
Angle = tuple[tuple[str, int], ...]  # (angle, multiple), sorted, never zero, the first positive
Series = dict[Angle, complex]  # f = Re Σ c·exp(i Σ multiple·angle); the empty angle is a number
Poly = dict[Monomial, Series]

NOISE = 1e-12  # ratio to the largest coefficient below which one is a rounding error
WORD = 11  # bits: the largest value of words in a product of more than two
NEARLY = 1e-9  # of a power of two


@dataclass(frozen=True, slots=True)
class Quantity:
    """An input word: its name, the range that its cells divide, and whether it is an angle.

    The logic must be valid within `reach`. An angle that `wraps` has period 2π. `group` is the
    place of its group. An `exact` word has only the values at the middles of its cells.
    """

    name: str
    range: Interval
    bits: int
    turns: bool
    reach: Interval
    wraps: bool = False
    group: int = 0
    exact: bool = False

    @property
    def step(self) -> float:
        return (self.range.high - self.range.low) / (1 << self.bits)

    @property
    def part(self) -> int | None:
        return part_of(self.range) if self.turns else None

    def cells(self, column: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the cells of values, which saturate or wrap."""
        cell = np.floor((column - self.range.low) / self.step).astype(np.int64)
        maximum = (1 << self.bits) - 1
        return cell & maximum if self.wraps else np.clip(cell, 0, maximum)


def quantities(problem: Problem, bits: Mapping[str, int]) -> dict[str, Quantity]:
    """Return the words of a problem's inputs by name, without constant inputs.

    `bits` gives the widths of inputs by name or group.
    """
    widths, found = problem.by_input(bits), {}
    for place, group in enumerate(problem.groups):
        for x in problem.members(group):
            if not x.range.single:
                width = widths[x.name]
                found[x.name] = Quantity(
                    x.name, _cells(x, width), width, x.angle, x.reach, x.wraps, place, x.exact
                )
    return found


def _cells(one: Input, bits: int) -> Interval:
    """Return the range that an input's cells divide: half a step lower with a cell at zero."""
    half = one.word.width / (2 << bits) if one.format.tread else 0.0
    return Interval(one.word.low - half, one.word.high - half) if half else one.word


def output_polys(terms: Terms, words: Mapping[str, Quantity], steps: Iterable[float]) -> list[Poly]:
    """Return every output, in units of its step, over the words of its inputs."""
    polys = []
    for output, parts, step in zip(terms.problem.outputs, terms.outputs, steps, strict=True):
        total: Poly = {}
        if output.range.centre:
            add_into(total, {(): {(): complex(-output.range.centre)}}, 1 / step)
        for term in parts:
            for wave in term.waves():
                part = _wave_poly(wave.multiples, complex(wave.cosine, -wave.sine), words)
                for name, power in wave.powers:
                    part = times_power(part, shifted(words[name]), power)
                for variable in term.factor:
                    part = multiply(part, shifted(words[variable.name]))
                add_into(total, part, 1 / step)
        polys.append(pruned(total))
    return polys


def _wave_poly(multiples: Angle, coefficient: complex, words: Mapping[str, Quantity]) -> Poly:
    """Return a wave over the turns of words; a word's angle is -π at its lowest border."""
    phase = 0.0
    for name, multiple in multiples:
        word = words[name]
        phase += multiple * (0.0 if word.part is None else word.range.low + math.pi)
    turned = coefficient * complex(np.exp(1j * phase)) if phase else coefficient
    return {(): {tuple(sorted(multiples)): turned}}


def shifted(word: Quantity) -> Poly:
    """Return a linear variable: the centre of its range plus its step times its word."""
    centre = word.range.centre
    poly: Poly = {((word.name, 1),): {(): complex(word.step)}}
    if centre:
        poly[()] = {(): complex(centre)}
    return poly


def multiply(one: Poly, linear: Poly) -> Poly:
    """Multiply a polynomial by one with plain numbers as coefficients."""
    result: Poly = {}
    for monomial, series in linear.items():
        factor = series[()].real
        for other, coefficients in one.items():
            powers = dict(other)
            for name, power in monomial:
                powers[name] = powers.get(name, 0) + power
            add_into(result, {tuple(sorted(powers.items())): coefficients}, factor)
    return result


def times_power(poly: Poly, linear: Poly, power: int) -> Poly:
    """Return `poly · linear^power`."""
    for _ in range(power):
        poly = multiply(poly, linear)
    return poly


def add_into(total: Poly, part: Poly, factor: float = 1.0) -> None:
    """Add `factor · part` to a polynomial in place."""
    for monomial, series in part.items():
        into = total.setdefault(monomial, {})
        for angle, coefficient in series.items():
            into[angle] = into.get(angle, 0) + factor * coefficient


def pruned(poly: Poly) -> Poly:
    """Remove coefficients that are rounding errors, and put the others in canonical order."""
    largest = max((abs(c) for s in poly.values() for c in s.values()), default=0.0)
    result: Poly = {}
    for monomial in sorted(poly):
        # Words are up to 2^11, so coefficients of products of many words are small, but no errors.
        factors = sum(power for _, power in monomial)
        least = math.ldexp(NOISE * largest, -WORD * max(0, factors - 2))
        series = {a: c for a, c in sorted(poly[monomial].items()) if abs(c) > least}
        if series:
            result[monomial] = series
    return result


def substituted(poly: Poly, name: str, linear: Poly) -> Poly:
    """Replace a linear variable of a polynomial by a combination of others."""
    result: Poly = {}
    for monomial, series in poly.items():
        powers = dict(monomial)
        power = powers.pop(name, 0)
        part: Poly = {tuple(sorted(powers.items())): series}
        add_into(result, times_power(part, linear, power))
    return pruned(result)


def divided(poly: Poly, name: str) -> tuple[Poly, Poly]:
    """Return (quotient, rest) with poly = rest + name·quotient, the rest free of the variable."""
    quotient: Poly = {}
    rest: Poly = {}
    for monomial, series in poly.items():
        powers = dict(monomial)
        if name not in powers:
            rest[monomial] = series
            continue
        powers[name] -= 1
        quotient[tuple((n, p) for n, p in sorted(powers.items()) if p)] = series
    return quotient, rest


def scaled(poly: Poly, factor: float) -> Poly:
    return {m: {a: factor * c for a, c in s.items()} for m, s in poly.items()}


def variables(poly: Poly) -> tuple[str, ...]:
    return tuple(sorted({name for monomial in poly for name, _ in monomial}))


def constant(poly: Poly) -> float:
    return poly.get((), {}).get((), 0j).real


def without_constant(poly: Poly) -> Poly:
    """Return a polynomial without its constant term."""
    result = {m: dict(s) for m, s in poly.items()}
    if () in result and () in result[()]:
        del result[()][()]
        if not result[()]:
            del result[()]
    return result


def signed_digits(value: float, smallest: float, maximum: int = 16) -> tuple[float, ...]:
    """Return at most `maximum` signed powers of two, largest first, with a sum near a value."""
    found: list[float] = []
    rest = value
    while abs(rest) > smallest and len(found) < maximum:
        power = 2.0 ** math.floor(math.log2(abs(rest) * 4 / 3) + NEARLY)
        found.append(math.copysign(power, rest))
        rest -= found[-1]
    return tuple(found)
