"""Sketches of the steps of a calculation: sums, products, and tables of single words.

Every step is a function of its root (see `dependences`): an input, a primitive sum of angles, or a
step that reads several words. The latter is a word, a sum of products. A function of a root is a
table, or an addend if it is linear.

Words have individual units, because a product's factor must be a power of two. Constants go into
tables if possible. Else a sum gets the unit that suits most of its readers, or a multiple of it is
added as a word.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.base.errors import UsageError, listing
from boolcomp.compact.sketch import (
    SAME,
    Addend,
    Curve,
    Linear,
    Product,
    Quantity,
    Sketch,
    SketchNodes,
    SourceWord,
    Waves,
    WordSum,
    fraction,
    is_power,
    power_of_two,
    primitive,
    rounded,
    signed_digits,
    signed_power,
)
from boolcomp.problem.tape import Operation, Returned, Straight, Tape
from boolcomp.problem.words import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch import Angle
    from boolcomp.problem.problem import Problem
    from boolcomp.terms.extract import Terms

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Curves of an angle that are sums of a few waves.
# --------------------------------------------------------------------------------------------------

HARMONICS = 12  # largest multiple of an angle in a sum of waves
ROUNDING = 1e-11  # part of a function's size that counts as a rounding error
CLOSE = 1e-9  # largest difference to waves between the points, as a part of a function's size
BETWEEN = 0.38  # of the way between two points
SMOOTH = {"input", "constant", "add", "sub", "mul", "neg", "sin", "cos"}  # map waves to waves


def waves_of(curve: Curve, x: Floats) -> Waves | None:
    """Return a function of an angle as a sum of a few waves, or None.

    A function with other operations than sums and products of waves is refused, because it may
    jump between the points.
    """
    if any(step.kind not in SMOOTH for step in curve.function.nodes):
        return None
    series = np.fft.rfft(curve.at(x)) / len(x)
    series[1:] *= 2
    series *= np.where(np.arange(len(series)) % 2, -1, 1)  # x begins at -π
    size = float(np.abs(series).max())
    if not size or float(np.abs(series[HARMONICS + 1 :]).max()) > ROUNDING * size:
        return None
    parts = [
        (k, _cleared(c.real, size), _cleared(c.imag, size))
        for k, c in enumerate(series[: HARMONICS + 1])
        if abs(c) > ROUNDING * size
    ]
    found, between = Waves(curve.source, tuple(parts)), x + BETWEEN * (x[1] - x[0])
    missed = float(np.abs(found.at(between) - curve.at(between)).max())
    return found if missed <= CLOSE * size else None


def _cleared(value: float, size: float) -> float:
    return float(value) if abs(value) > ROUNDING * size else 0.0


# --------------------------------------------------------------------------------------------------
# The roots of steps: an input, a sum of integer multiples of angles, or a step that reads several
# words. A step is a function of its root.
# --------------------------------------------------------------------------------------------------

SAMPLES, SEED = 8192, 0xD1EC7  # states for the ranges of steps
STEEPEST = 16.0  # largest slope of a point with a table of its slope
LEAST = 2.0**-14  # of the largest value: smaller values have this logarithm

Root: TypeAlias = "int | Angle"  # a step by its place, or a primitive sum of angles


@dataclass(frozen=True, slots=True)
class KnownNumber:
    """A constant step."""

    value: float


@dataclass(frozen=True, slots=True)
class Turned:
    """A sum of integer multiples of angles, and a phase, for periodic functions."""

    multiples: Angle
    phase: float


@dataclass(frozen=True, slots=True)
class RootFunction:
    """A function of a root; `affine` is (slope, offset) if it is linear."""

    root: Root
    affine: tuple[float, float] | None = None


Dependence: TypeAlias = KnownNumber | Turned | RootFunction


def dependences(problem: Problem, steps: Straight) -> list[Dependence]:
    """Return the dependence of every step on its root."""
    inputs = {one.name: one for one in problem.inputs}
    found: list[Dependence] = []
    for place, step in enumerate(steps.nodes):
        if step.kind == "constant":
            found.append(KnownNumber(step.value))
        elif step.kind == "input":
            one = inputs[step.name]
            if one.range.single:
                found.append(KnownNumber(one.range.low))
            elif one.angle:
                found.append(Turned(((one.name, 1),), 0.0))
            else:
                found.append(RootFunction(place, (1.0, 0.0)))
        else:
            read = [found[k] for k in step.operands]
            found.append(_dependence(problem, steps, place, read))
    return found


def _dependence(
    problem: Problem, steps: Straight, place: int, read: Sequence[Dependence]
) -> Dependence:
    kind = steps.nodes[place].kind
    if all(isinstance(one, KnownNumber) for one in read):
        values = [np.asarray(one.value) for one in read if isinstance(one, KnownNumber)]
        part = Straight(
            (*(_input(k) for k in range(len(values))), _moved(steps, place, len(values))),
            (Returned("y", len(values)),),
        )
        return KnownNumber(float(part.evaluate(values)[0]))
    if any(isinstance(one, Turned) for one in read):
        return _of_angles(steps.nodes[place].task or problem.name, kind, read)
    roots = {one.root for one in read if isinstance(one, RootFunction)}
    if len(roots) > 1:
        return RootFunction(place, (1.0, 0.0))
    (root,) = roots
    return RootFunction(root, _affine(kind, read))


def _input(place: int) -> Operation:
    return Operation("input", name=f"x{place}")


def _moved(steps: Straight, place: int, count: int) -> Operation:
    return replace(steps.nodes[place], operands=tuple(range(count)))


def _of_angles(where: str, kind: str, read: Sequence[Dependence]) -> Dependence:
    """Return the dependence of a step that reads angles; `UsageError` if it is not periodic."""
    if kind in ("sin", "cos", "wrap"):
        (one,) = read
        if isinstance(one, Turned):
            return RootFunction(primitive(one.multiples)[0])
    terms = [(x.multiples, x.phase) for x in read if isinstance(x, Turned)]
    numbers = [x.value for x in read if isinstance(x, KnownNumber)]
    if kind in ("add", "sub", "neg") and len(terms) + len(numbers) == len(read):
        sign = -1 if kind in ("sub", "neg") else 1
        signs = (1, sign) if len(read) == 2 else (sign,)
        parts = [
            (x.multiples, x.phase) if isinstance(x, Turned) else ((), _number(x)) for x in read
        ]
        return _turned(parts, signs)
    if kind == "mul" and len(numbers) == 1 and numbers[0] == round(numbers[0]):
        return _turned(terms, (round(numbers[0]),))
    names = sorted({name for multiples, _ in terms for name, _ in multiples})
    raise UsageError(
        f"{listing(names)} is an angle",
        "use it only in sums of integer multiples of angles, inside sin, cos, tan or wrap",
        where=where,
    )


def _number(x: Dependence) -> float:
    return x.value if isinstance(x, KnownNumber) else 0.0


def _turned(parts: Sequence[tuple[Angle, float]], signs: Sequence[int]) -> Dependence:
    total: dict[str, int] = {}
    phase = 0.0
    for (multiples, shift), sign in zip(parts, signs, strict=True):
        phase += sign * shift
        for name, multiple in multiples:
            total[name] = total.get(name, 0) + sign * multiple
    left = tuple((name, m) for name, m in sorted(total.items()) if m)
    return Turned(left, phase) if left else KnownNumber(phase)


def _affine(kind: str, read: Sequence[Dependence]) -> tuple[float, float] | None:
    """Return slope and offset of a step of one root and numbers, if it is linear."""
    pairs = [(0.0, x.value) if isinstance(x, KnownNumber) else _pair(x) for x in read]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    if kind == "neg":
        return -known[0][0], -known[0][1]
    if kind in ("add", "sub"):
        sign = 1 if kind == "add" else -1
        return known[0][0] + sign * known[1][0], known[0][1] + sign * known[1][1]
    if kind == "mul" and 0.0 in (known[0][0], known[1][0]):
        (a, b), (c, d) = known
        return a * d + b * c, b * d
    if kind == "div" and known[1][0] == 0.0:
        return known[0][0] / known[1][1], known[0][1] / known[1][1]
    return None


def _pair(x: Dependence) -> tuple[float, float] | None:
    return x.affine if isinstance(x, RootFunction) else None


def reached(problem: Problem, steps: Straight) -> tuple[Floats, Floats]:
    """Return the least and largest values of all steps, at random states and ends of ranges."""
    rng = np.random.default_rng(SEED)
    low = np.array([one.reach.low for one in problem.inputs])
    high = np.array([one.reach.high for one in problem.inputs])
    drawn = rng.uniform(low, high, (SAMPLES, len(low)))
    ends = np.where(rng.random(drawn.shape) < 0.5, low, high)
    angles = np.array([one.angle for one in problem.inputs])
    grid = np.clip(np.round(drawn / (math.pi / 4)) * (math.pi / 4), low, high)
    ends = np.where(angles & (rng.random(drawn.shape) < 0.8), grid, ends)
    states = np.concatenate([drawn, ends])
    columns = {one.name: states[:, k] for k, one in enumerate(problem.inputs)}
    every = Straight(steps.nodes, tuple(Returned(str(k), k) for k in range(len(steps.nodes))))
    with np.errstate(all="ignore"):
        values = every.evaluate([columns[name] for name in every.inputs])
    found = [value[np.isfinite(value)] if value.ndim else value[None] for value in values]
    return (
        np.array([v.min() if v.size else 0.0 for v in found]),
        np.array([v.max() if v.size else 0.0 for v in found]),
    )


def lowered(problem: Problem, steps: Straight) -> Straight:
    """Replace steps of several words by sums and products.

    a / b is a · (1/b). The angle of a point on one side of an axis is the atan of its slope,
    y · (1/x). For other points log |y| - log |x| replaces the slope, and the signs turn the angle:
    atan2(y, x) = sgn y · (π/2 + sgn x · (atan(|y|/|x|) - π/2)).
    """
    roots = dependences(problem, steps)
    if not any(step.kind in ("div", "atan2") for step in steps.nodes):
        return steps
    low, high = reached(problem, steps)
    size = np.maximum(np.abs(low), np.abs(high))
    tape = Tape()
    wires: list[Any] = []
    for place, step in enumerate(steps.nodes):
        read = [wires[k] for k in step.operands]
        several = isinstance(roots[place], RootFunction) and roots[place] == RootFunction(
            place, (1.0, 0.0)
        )
        if step.kind == "div" and several:
            wires.append(read[0] * (1.0 / read[1]))
        elif step.kind == "atan2" and several:
            y, x = step.operands
            if low[x] > size[y] / STEEPEST:  # always on one side
                wires.append(tape.function("atan", read[0] * (1.0 / read[1])))
            elif min(abs(low[y]), abs(high[y])) > size[x] / STEEPEST and low[y] * high[y] > 0:
                slope = tape.function("atan", read[1] * (1.0 / read[0]))
                wires.append(math.copysign(math.pi / 2, low[y]) - slope)
            else:
                wires.append(_arc(tape, read[0], read[1], size[y], size[x], above=low[y] >= 0))
        else:
            wires.append(tape.again(step, read))
    return tape.finish([(one.name, wires[one.node]) for one in steps.outputs])


def _arc(tape: Tape, y: Any, x: Any, largest_y: float, largest_x: float, *, above: bool) -> Any:
    """Return the angle of a point, which does not need the sign of y if it is always `above`."""
    slope = _log(tape, y, largest_y) - _log(tape, x, largest_x)
    angle = tape.function("atan", tape.function("exp", slope))
    turned = tape.sign(x) * (angle - math.pi / 2) + math.pi / 2
    return turned if above else tape.sign(y) * turned


def _log(tape: Tape, x: Any, largest: float) -> Any:
    """Record log max(|x|, LEAST · largest)."""
    least = LEAST * largest
    size = tape.function("abs", x)
    held = (size + least + tape.function("abs", size - least)) * 0.5
    return tape.function("log", held)


# --------------------------------------------------------------------------------------------------
# Roots as sums of products of other roots and of functions.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mixed:
    """Σ coefficient · step over functions of one root, which is one table."""

    parts: tuple[tuple[float, int], ...]


Factor: TypeAlias = "int | Mixed"  # a root by its place, or a function of one
Monomials: TypeAlias = "dict[tuple[Factor, ...], float]"  # coefficients of products; () a number


class Structure:
    """All roots other than inputs, as sums of products of roots and functions."""

    def __init__(self, problem: Problem, steps: Straight) -> None:
        self.problem, self.steps = problem, steps
        self.roots = dependences(problem, steps)
        self.low, self.high = reached(problem, steps)
        self.sums: dict[int, Monomials] = {}
        self.outputs = [self._expanded(one.node) for one in steps.outputs]
        self._require([factor for sums in self.outputs for factor in sums])
        self._join()

    def root(self, factor: Factor) -> Root:
        """Return the root of a factor."""
        place = factor if isinstance(factor, int) else factor.parts[0][1]
        found = self.roots[place]
        if not isinstance(found, RootFunction):
            raise TypeError(f"step {place} has no root")
        return found.root

    def is_input(self, place: int) -> bool:
        return self.steps.nodes[place].kind == "input"

    def users(self) -> dict[int, list[tuple[int | None, tuple[Factor, ...]]]]:
        """Return, for every root, the products that read it, with their sums (None: by a table)."""
        found: dict[int, list[tuple[int | None, tuple[Factor, ...]]]] = defaultdict(list)
        for owner, sums in [*((-1 - k, s) for k, s in enumerate(self.outputs)), *self.sums.items()]:
            for factors in sums:
                for factor in factors:
                    if isinstance(factor, int):
                        found[factor].append((owner, factors))
                    else:
                        root = self.root(factor)
                        if isinstance(root, int):
                            found[root].append((None, factors))
        return found

    def _require(self, waiting: list[tuple[Factor, ...]]) -> None:
        """Expand all roots that products read, directly or indirectly."""
        places = [self.root(f) for factors in waiting for f in factors]
        while places:
            place = places.pop()
            if not isinstance(place, int) or self.is_input(place) or place in self.sums:
                continue
            self.sums[place] = self._made(place)
            places += [self.root(f) for factors in self.sums[place] for f in factors]

    def _expanded(self, place: int) -> Monomials:
        """Return a step as a sum over roots and functions of them."""
        found = self.roots[place]
        if isinstance(found, KnownNumber):
            return {(): found.value} if found.value else {}
        if isinstance(found, Turned):
            raise TypeError(f"step {place} is an angle")
        if found.affine is not None and isinstance(found.root, int):
            slope, offset = found.affine
            return {(found.root,): slope} | ({(): offset} if offset else {})
        return {(Mixed(((1.0, place),)),): 1.0}

    def _made(self, place: int) -> Monomials:
        """Return a root other than an input as a sum of products."""
        step = self.steps.nodes[place]
        one, other = (self._expanded(k) for k in step.operands)
        if step.kind == "mul":
            found: Monomials = {}
            for a, x in one.items():
                for b, y in other.items():
                    _add(found, self._grouped((*a, *b)), x * y)
            return found
        if step.kind not in ("add", "sub"):
            raise TypeError(f"step {place} reads several words: {step}")
        found = dict(one)
        for b, y in other.items():
            _add(found, b, y if step.kind == "add" else -y)
        return found

    def _grouped(self, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
        return tuple(sorted(factors, key=_rank))

    def _join(self) -> None:
        """Expand sums that are read once, as an addend, in their readers."""
        users = self.users()
        once = {
            place
            for place, products in users.items()
            if place in self.sums and [(len(f), o is None) for o, f in products] == [(1, False)]
        }
        for sums in [*self.outputs, *self.sums.values()]:
            while inner := [place for place in once if (place,) in sums]:
                for place in sorted(inner):
                    coefficient = sums.pop((place,))
                    for factors, value in self.sums[place].items():
                        _add(sums, factors, coefficient * value)
        for place in once:
            del self.sums[place]
        for sums in [*self.outputs, *self.sums.values()]:
            self._mix(sums)

    def _mix(self, sums: Monomials) -> None:
        """Merge addends that are functions of one root times the same factor into one table."""
        groups: dict[
            tuple[Root, tuple[Factor, ...]], list[tuple[Mixed, float, tuple[Factor, ...]]]
        ] = defaultdict(list)
        for factors, coefficient in sums.items():
            tables = [f for f in factors if isinstance(f, Mixed)]
            if len(tables) == 1 and len(factors) <= 2:
                rest = tuple(f for f in factors if f is not tables[0])
                key = (self.root(tables[0]), rest)
                groups[key].append((tables[0], coefficient, factors))
        for (_, rest), found in groups.items():
            if len(found) < 2:
                continue
            parts: dict[int, float] = {}
            for table, coefficient, factors in found:
                del sums[factors]
                for value, place in table.parts:
                    parts[place] = parts.get(place, 0.0) + coefficient * value
            mixed = Mixed(tuple((value, place) for place, value in sorted(parts.items()) if value))
            if mixed.parts:
                _add(sums, self._grouped((mixed, *rest)), 1.0)


def _add(sums: Monomials, factors: tuple[Factor, ...], value: float) -> None:
    total = sums.get(factors, 0.0) + value
    if total:
        sums[factors] = total
    else:
        sums.pop(factors, None)


def _rank(factor: Factor) -> tuple[int, tuple[tuple[float, int], ...]]:
    return (factor, ()) if isinstance(factor, int) else (-1, factor.parts)


# --------------------------------------------------------------------------------------------------
# Units of words with which few constants remain.
#
# A product's factor must be a power of two, so only the unit's fraction between 1 and 2 matters. A
# constant that remains costs signed digits of a word. Before a product of words it costs another
# word, before a function of one word another table, unless that exists. Units are chosen one after
# another for the least cost, from several starts.
# --------------------------------------------------------------------------------------------------

CLASS_DIGITS = 9  # of a unit's fraction
TABLE = 60.0  # nodes: of a table
DIGIT = 18.0  # of a signed digit of a constant beyond the first
WORD = 20.0  # of a word that is a multiple of another
FINE, MOST_DIGITS = 2.0**-7, 5  # of constants
SWEEPS = 8

Key: TypeAlias = "tuple[Hashable, float]"


@dataclass(frozen=True, slots=True)
class FactoredPart:
    """One product of a sum: a coefficient, the words and the functions of one word it reads."""

    owner: int
    coefficient: float
    words: tuple[int, ...]
    functions: tuple[Hashable, ...]


def chosen_units(
    parts: Sequence[FactoredPart],
    fixed: Mapping[int, float],
    free: Iterable[int],
    plain: Mapping[Hashable, float] | None = None,
) -> dict[int, float]:
    """Return units between 1 and 2 for `free` words.

    `plain` are multiples of functions that are the word of an angle, and so need no table.
    """
    bare = {name: unit_class(multiple) for name, multiple in (plain or {}).items()}
    places = sorted(free, reverse=True)
    classes = {place: unit_class(unit) for place, unit in fixed.items()}
    starts = [1.0, *(x for x, _ in Counter(classes.values()).most_common(3))]
    best: tuple[float, dict[int, float]] | None = None
    for start in dict.fromkeys(starts):
        search = _UnitSearch(parts, {**classes, **dict.fromkeys(places, start)}, places, bare)
        search.run()
        if best is None or search.cost < best[0] - 1e-9:
            best = (search.cost, {place: search.units[place] for place in places})
    return best[1] if best else {}


def unit_class(unit: float) -> float:
    """Return the unit between 1 and 2 that differs by a power of two, and a sign."""
    fraction = abs(unit) / power_of_two(abs(unit))
    return float(f"{fraction:.{CLASS_DIGITS}g}")


class _UnitSearch:
    """Units, their cost, and the numbers of readers of tables and multiples of words."""

    def __init__(
        self,
        parts: Sequence[FactoredPart],
        units: dict[int, float],
        free: Sequence[int],
        bare: Mapping[Hashable, float],
    ) -> None:
        self.parts, self.units, self.free, self.bare = parts, units, free, bare
        self.touching: dict[int, list[int]] = defaultdict(list)
        for k, part in enumerate(parts):
            for place in dict.fromkeys((part.owner, *part.words)):
                self.touching[place].append(k)
        self.used: Counter[Key] = Counter()
        self.cost = 0.0
        for k in range(len(parts)):
            self._count(k, 1)

    def run(self) -> None:
        """Improve one unit after another until the cost stays the same."""
        for _ in range(SWEEPS):
            before = self.cost
            for place in self.free:
                self._improve(place)
            if self.cost >= before - 1e-9:
                return

    def _improve(self, place: int) -> None:
        """Give a word the unit of least cost."""
        least, best = self.cost - 1e-9, self.units[place]
        for unit in self._candidates(place):
            self._set(place, unit)
            if self.cost < least - 1e-9:
                least, best = self.cost, unit
        self._set(place, best)

    def _set(self, place: int, unit: float) -> None:
        for k in self.touching[place]:
            self._count(k, -1)
        self.units[place] = unit
        for k in self.touching[place]:
            self._count(k, 1)

    def _candidates(self, place: int) -> list[float]:
        """Return the units with which a product has no constant, or that of an existing table."""
        found: dict[float, None] = {}
        for k in self.touching[place]:
            part = self.parts[k]
            factor = self._factor(part)
            targets = [1.0]
            if len(part.functions) == 1:
                own = part.functions[0]
                targets += [multiple for name, multiple in self.used if name == own]
                targets += [self.bare[own]] if own in self.bare else []
            for multiple in targets:
                if part.owner == place and place not in part.words:
                    found[unit_class(self.units[place] * factor / multiple)] = None
                elif part.words.count(place) == 1 and part.owner != place:
                    found[unit_class(self.units[place] * multiple / factor)] = None
        return list(found)

    def _factor(self, part: FactoredPart) -> float:
        """Return the constant that remains before a product."""
        words = math.prod(self.units[place] for place in part.words)
        return unit_class(part.coefficient * words / self.units[part.owner])

    def _count(self, k: int, step: int) -> None:
        """Add the cost of a product (step 1), or subtract it (-1)."""
        part = self.parts[k]
        factor = self._factor(part)
        if part.functions:
            own, *others = part.functions
            same = abs(factor - self.bare.get(own, 0.0)) < 1e-7
            self._use((own, factor), step, 0.0 if same else TABLE)
            for name in others:
                self._use((name, 1.0), step, TABLE)
        elif len(part.words) == 1:
            self.cost += step * DIGIT * _digits(factor)
        elif len(part.words) == 2 and factor != 1:
            self._use((part.words[0], factor), step, WORD + DIGIT * _digits(factor))

    def _use(self, key: Key, step: int, cost: float) -> None:
        before = self.used[key]
        self.used[key] = before + step
        if before == 0 or before + step == 0:
            self.cost += step * cost
        if before + step == 0:
            del self.used[key]


def _digits(factor: float) -> int:
    return max(0, len(signed_digits(factor, FINE, MOST_DIGITS)) - 1)


# --------------------------------------------------------------------------------------------------
# The nodes of the sketch.
# --------------------------------------------------------------------------------------------------

POINTS = 512  # of a function that are evaluated
WIDER = 0.01  # margin of a sampled range
NEAR_ZERO = 1e-3  # rad: for the slope of a function that is linear about zero


def direct_sketch(
    problem: Problem,
    steps: Straight,
    words: Mapping[str, Quantity],
    units: Sequence[float],
    *,
    exact: bool = False,
) -> Sketch:
    """Return the sketch of steps with outputs in these units; sums of angles may be `exact`."""
    structure = Structure(problem, lowered(problem, steps))
    return Emitter(structure, words, units, exact=exact).sketch()


@dataclass(slots=True)
class RootWord:
    """A root as a word: its node, its unit, and the value of its 0."""

    node: int
    unit: float
    middle: float


class Emitter:
    """Chooses units, then builds nodes."""

    def __init__(
        self,
        structure: Structure,
        words: Mapping[str, Quantity],
        units: Sequence[float | None],
        *,
        exact: bool,
    ) -> None:
        self.of, self.words = structure, words
        self.maker = SketchNodes(words, exact=exact)
        self.made: dict[int, RootWord] = {}
        self.users = structure.users()
        self.chosen = self._units(units)
        self.units = [self.chosen[-1 - k] for k in range(len(units))]

    def sketch(self) -> Sketch:
        """Build the nodes of all outputs."""
        problem, outputs = self.of.problem, []
        self._register_angles()
        for output, sums, unit in zip(problem.outputs, self.of.outputs, self.units, strict=True):
            number, addends = self._addends(sums, unit)
            total = number - output.range.centre / unit
            outputs.append(self.maker.add(WordSum(tuple(addends), total), fresh=True))
        return Sketch(tuple(self.maker.nodes), tuple(outputs))

    def results(self) -> list[RootWord]:
        """Return every output as a word; a single table is one without a sum."""
        self._register_angles()
        found = []
        for sums, unit in zip(self.of.outputs, self.units, strict=True):
            number, addends = self._addends(sums, unit)
            lone = addends[0] if len(addends) == 1 and not number else None
            if isinstance(lone, Linear) and lone.factor > 0:
                found.append(RootWord(lone.node, unit * lone.factor, 0.0))
            else:
                node = self.maker.add(WordSum(tuple(addends), number))
                found.append(RootWord(node, unit, 0.0))
        return found

    def _register_angles(self) -> None:
        """Make sums of angles first, short ones before long ones that use them."""
        angles: set[Angle] = set()
        for sums in [*self.of.outputs, *self.of.sums.values()]:
            for factors in sums:
                roots = (self.of.root(f) for f in factors)
                angles.update(root for root in roots if not isinstance(root, int))
        for angle in sorted(angles, key=lambda a: (sum(abs(m) for _, m in a), a)):
            self.maker.angle(angle)

    # units -------------------------------------------------------------------------------------

    def _units(self, units: Sequence[float | None]) -> dict[int, float]:
        """Return the units of roots and outputs; that of an input is its step."""
        steps, sums = self.of.steps, self.of.sums
        chosen = {-1 - k: unit for k, unit in enumerate(units) if unit is not None}
        for place, step in enumerate(steps.nodes):
            if step.kind == "input" and step.name in self.words:
                chosen[place] = self.words[step.name].step
        parts = [
            FactoredPart(
                owner,
                coefficient,
                tuple(f for f in factors if isinstance(f, int)),
                tuple(f for f in factors if not isinstance(f, int)),
            )
            for owner, own in [*((-1 - k, x) for k, x in enumerate(self.of.outputs)), *sums.items()]
            for factors, coefficient in own.items()
            if factors
        ]
        functions = {one for part in parts for one in part.functions if isinstance(one, Mixed)}
        slopes = {one: self._slope(one) for one in functions}
        plain: dict[Hashable, float] = {
            one: 1 / (2 * math.pi * slope) for one, slope in slopes.items() if slope
        }
        free = [*sums, *(-1 - k for k, unit in enumerate(units) if unit is None)]
        for place, unit in chosen_units(parts, chosen, free, plain).items():
            held = steps.outputs[-1 - place].node if place < 0 else place
            size = max(abs(self.of.low[held]), abs(self.of.high[held]), 1e-300)
            chosen[place] = unit * power_of_two(size)
        return chosen

    def _slope(self, factor: Mixed) -> float:
        """Return the slope of a function of an angle that is linear about zero, else 0."""
        if isinstance(root := self.of.root(factor), int):
            return 0.0
        x = np.asarray([-2.0, -1.0, 1.0, 2.0]) * NEAR_ZERO
        y = self._function(factor, root).evaluate([x])[0]
        wide, narrow = float(y[3] - y[0]) / 4, float(y[2] - y[1]) / 2
        return narrow / NEAR_ZERO if abs(wide - narrow) <= SAME * abs(narrow) else 0.0

    # nodes -------------------------------------------------------------------------------------

    def _word(self, place: int) -> RootWord:
        """Return a root as a word, which is added if it is new."""
        if place not in self.made:
            step = self.of.steps.nodes[place]
            if step.kind == "input":
                word = self.words[step.name]
                source = self.maker.add(
                    SourceWord(step.name, word.bits, angle=False, exact=word.exact)
                )
                self.made[place] = RootWord(source, word.step, word.range.centre)
            else:
                only_tables = all(owner is None for owner, _ in self.users[place])
                middle = (self.of.low[place] + self.of.high[place]) / 2 if only_tables else 0.0
                if abs(middle) < WIDER * (self.of.high[place] - self.of.low[place]):
                    middle = 0.0
                unit = self.chosen[place]
                number, addends = self._addends(self.of.sums[place], unit)
                node = self.maker.add(WordSum(tuple(addends), rounded(number - middle / unit)))
                self.made[place] = RootWord(node, unit, float(middle))
        return self.made[place]

    def _addends(self, sums: Monomials, unit: float) -> tuple[float, list[Addend]]:
        """Return the constant and the addends of a sum in a unit."""
        number = sums.get((), 0.0) / unit
        addends: list[Addend] = []
        for factors, coefficient in sums.items():
            if not factors:
                continue
            for plain, value in self._products(factors, coefficient):
                if not plain:
                    number += value / unit
                elif len(plain) == 1:
                    addends.append(self._linear(plain[0], value, unit))
                else:
                    addends.append(self._product(plain[0], plain[1], value, unit))
        return rounded(number), _merged(addends)

    def _products(
        self, factors: tuple[Factor, ...], coefficient: float
    ) -> Iterator[tuple[tuple[Factor, ...], float]]:
        """Yield a product of at most two factors as products of words with middle 0."""
        pairs: list[tuple[tuple[Factor, ...], float]] = [((), coefficient)]
        for factor in factors:
            middle = self._word(factor).middle if isinstance(factor, int) else 0.0
            pairs = [
                one
                for found, value in pairs
                for one in (((*found, factor), value), (found, value * middle))
                if one[1]
            ]
        yield from pairs

    def _linear(self, factor: Factor, coefficient: float, unit: float) -> Addend:
        """Return an addend: a word times a constant, or a table that includes the constant."""
        if isinstance(factor, int):
            word = self._word(factor)
            return Linear(word.node, rounded(coefficient * word.unit / unit))
        node, scale = self._table(factor, coefficient / unit)
        return Linear(node, scale)

    def _product(self, one: Factor, other: Factor, coefficient: float, unit: float) -> Addend:
        """Return the product of two words in a unit; tables include constant factors."""
        constant = coefficient / unit
        if isinstance(one, int) and isinstance(other, int):
            a, b = self._word(one), self._word(other)
            factor = constant * a.unit * b.unit
            if is_power(factor):
                return Product(a.node, b.node, signed_power(factor))
            multiple, scale = self._multiple(a.node, factor)
            return Product(multiple, b.node, scale)
        if isinstance(one, int):
            one, other = other, one
        if isinstance(other, int):
            word = self._word(other)
            node, scale = self._table(one, constant * word.unit)
            return Product(node, word.node, scale)
        node, scale = self._table(other, fraction(constant))
        plain, rest = self._table(one, constant / fraction(constant))
        return Product(plain, node, scale * rest)

    def _multiple(self, node: int, factor: float) -> tuple[int, float]:
        """Return a word that is a multiple of another, and the remaining power of two."""
        scale = math.copysign(power_of_two(abs(factor)), factor)
        return self.maker.add(WordSum((Linear(node, rounded(factor / scale)),), 0.0)), scale

    # tables ------------------------------------------------------------------------------------

    def _table(self, factor: Factor, times: float) -> tuple[int, float]:
        """Return the table of a multiple of a function, and the remaining power of two."""
        if isinstance(factor, int):
            raise TypeError("a word needs no table")
        root = self.of.root(factor)
        function = self._function(factor, root)
        if isinstance(root, int):
            word = self._word(root)
            low, high = self._ends(root, function)
            curve = Curve(word.node, function, word.unit, word.middle, 1.0, low, high)
            return self._scaled(
                curve, np.asarray((np.linspace(low, high, POINTS) - word.middle) / word.unit), times
            )
        x = np.asarray(np.arange(POINTS) * (2 * math.pi / POINTS) - math.pi)
        turned = Curve(self.maker.angle(root), function, angle=True)
        if (waves := waves_of(turned, x)) is not None:
            return self._scaled(waves, x, times)
        low, high = self._stops(root)
        return self._scaled(replace(turned, low=low, high=high), x, times)

    def _scaled(self, table: Curve | Waves, x: Floats, times: float) -> tuple[int, float]:
        size = float(np.abs(table.at(x)).max()) * abs(times)
        scale = math.copysign(power_of_two(size), times) if size else 1.0
        inside = times / scale
        if isinstance(table, Curve):
            return self.maker.add(replace(table, factor=rounded(inside))), scale
        parts = tuple((k, rounded(a * inside), rounded(b * inside)) for k, a, b in table.parts)
        return self.maker.add(Waves(table.source, parts)), scale

    def _ends(self, root: int, function: Straight) -> tuple[float, float]:
        """Return the range of an argument: that of samples with a margin, if defined there.

        For an input it is the range in which the logic must be valid.
        """
        low, high = float(self.of.low[root]), float(self.of.high[root])
        step = self.of.steps.nodes[root]
        if step.kind == "input":
            reach = self.of.problem.input(step.name).reach
            return reach.low, reach.high
        margin = WIDER * (high - low)
        return _defined(function, low, low - margin), _defined(function, high, high + margin)

    def _stops(self, root: Angle) -> tuple[float, float]:
        """Return the range of a function of an angle: infinite, unless the angle has stops."""
        (name, multiple), *others = root
        word = self.words[name]
        if others or multiple != 1 or word.wraps or word.part is None:
            return -math.inf, math.inf
        border = word.range.low + math.pi
        return word.reach.low - border, word.reach.high - border

    def _function(self, factor: Mixed, root: Root) -> Straight:
        """Return a function of its root as steps with one input, x."""
        nodes: list[Operation] = [Operation("input", name="x")]
        places: dict[int, int] = {}
        if isinstance(root, int):
            places[root] = 0

        def put(operation: Operation) -> int:
            nodes.append(operation)
            return len(nodes) - 1

        for place in self._between([place for _, place in factor.parts], places):
            found = self.of.roots[place]
            if isinstance(found, KnownNumber):
                places[place] = put(Operation("constant", value=found.value))
            elif isinstance(found, Turned):
                places[place] = self._argument(found, put)
            else:
                step = self.of.steps.nodes[place]
                operands = tuple(places[k] for k in step.operands)
                places[place] = put(replace(step, operands=operands, task=""))
        total = -1
        for value, place in factor.parts:
            part = places[place]
            if value != 1.0:
                part = put(Operation("mul", (put(Operation("constant", value=value)), part)))
            total = part if total < 0 else put(Operation("add", (total, part)))
        return Straight(tuple(nodes), (Returned("y", total),))

    def _between(self, results: Sequence[int], known: Container[int]) -> list[int]:
        """Return the steps from a root to `results`, in order."""
        needed: set[int] = set()
        waiting = [place for place in results if place not in known]
        while waiting:
            place = waiting.pop()
            if place not in needed:
                needed.add(place)
                if isinstance(self.of.roots[place], RootFunction):
                    operands = self.of.steps.nodes[place].operands
                    waiting += [k for k in operands if k not in known]
        return sorted(needed)

    def _argument(self, turned: Turned, put: Callable[[Operation], int]) -> int:
        """Return a sum of angles as a multiple of x: the turn of a primitive sum's word."""
        _, common, flipped = primitive(turned.multiples)
        phase = turned.phase
        for name, multiple in turned.multiples:
            word = self.words[name]
            phase += multiple * (0.0 if word.part is None else word.range.low + math.pi)
        times = put(Operation("constant", value=float(-common if flipped else common)))
        product = put(Operation("mul", (times, 0)))
        if not phase:
            return product
        return put(Operation("add", (product, put(Operation("constant", value=phase)))))


def _defined(function: Straight, inside: float, outside: float) -> float:
    """Return the outer end of a range if the function is defined up to it, else the inner end."""
    with np.errstate(all="ignore"):
        x = inside + (outside - inside) * np.linspace(0.0, 1.0, POINTS)
        there = np.isfinite(function.evaluate([x])[0])
    return float(outside if there.all() else inside)


def _merged(addends: Sequence[Addend]) -> list[Addend]:
    """Add the factors of linear addends of the same word."""
    linear: dict[int, float] = {}
    for addend in addends:
        if isinstance(addend, Linear):
            linear[addend.node] = linear.get(addend.node, 0.0) + addend.factor
    products = [addend for addend in addends if isinstance(addend, Product)]
    return [*(Linear(node, factor) for node, factor in linear.items() if factor), *products]


# --------------------------------------------------------------------------------------------------
# Factors of terms that are calculated first, such as a curve of one word or a clipped sum.
#
# Their steps become words like those of any calculation. In the sketch of terms they are linear
# inputs, with the units of these words as cells.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The nodes so far, and every prepared factor as a linear word and by its node."""

    maker: SketchNodes
    words: dict[str, Quantity]
    places: Mapping[str, int]


def prepared_words(terms: Terms, words: Mapping[str, Quantity], steps: Sequence[float]) -> Prepared:
    """Return the prepared factors of terms, for outputs in these units.

    Their sums of angles lose no bit, because a small difference of large angles may matter.
    """
    if terms.prepared is None:
        raise TypeError("these terms have no prepared factors")
    problem, prepared = terms.problem, lowered(terms.problem, terms.prepared)
    preferred = _preferred_units(terms, steps)
    units = [preferred.get(one.name) for one in prepared.outputs]
    emitter = Emitter(Structure(problem, prepared), words, units, exact=True)
    made, places = {}, {}
    for one, word in zip(prepared.outputs, emitter.results(), strict=True):
        size = Interval(-word.unit, word.unit)
        made[one.name] = Quantity(
            one.name, size, bits=1, turns=False, reach=size, group=len(problem.groups)
        )
        places[one.name] = word.node
    return Prepared(emitter.maker, made, places)


def _preferred_units(terms: Terms, steps: Sequence[float]) -> dict[str, float]:
    """Return the units with which single factors in outputs need no constant."""
    votes: dict[str, Counter[float]] = {}
    for output, step in zip(terms.outputs, steps, strict=True):
        for term in output:
            waves = term.waves()
            alone = len(term.factor) == 1 and len(waves) == 1
            if alone and not waves[0].multiples and not waves[0].powers:
                (one,) = term.factor
                votes.setdefault(one.name, Counter())[abs(step / waves[0].cosine)] += 1
    return {name: min(found, key=lambda c: (-found[c], c)) for name, found in votes.items()}
