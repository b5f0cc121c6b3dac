"""Sketches of grouped terms: Horner's rule with shared factors and products.

An output is a polynomial in linear inputs with waves as coefficients. Horner's rule takes out
inputs of the last group first, then the most frequent one: P = P0 + v·P1, where P1 becomes one
word. A part without linear variables is a sum of tables, one for every angle sum. Common factors of
products are multiplied once, and large constants of factors are added by signed digits.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from boolcomp.compact.sketch import (
    SAME,
    Addend,
    Angle,
    Linear,
    Poly,
    Powers,
    Product,
    Quantity,
    Series,
    Sketch,
    SketchNodes,
    SourceWord,
    Waves,
    WordSum,
    add_into,
    constant,
    divided,
    is_power_of_two,
    output_polys,
    power_of_two,
    primitive,
    pruned,
    quantities,
    rounded,
    scaled,
    signed_digits,
    substituted,
    variables,
    without_constant,
)
from boolcomp.compact.sketch_steps import direct_sketch, prepared_words
from boolcomp.terms.extract import number_terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from boolcomp.compact.sketch import Table
    from boolcomp.compact.sketch_steps import Prepared
    from boolcomp.problem.problem import PartHint, SumHint
    from boolcomp.problem.words import Interval
    from boolcomp.terms.extract import Terms
    from boolcomp.terms.terms import Term, Wave


LINEAR = 2  # coefficients
FINE = 6  # binary places of a constant from 1 to 2 that is multiplied
NEARLY_CONSTANT = 3.0  # ratio of a constant to a word's variation from which it is separate


def is_multiple(node: Table) -> bool:
    """Tell whether a table is a word times a constant of few binary places."""
    if not isinstance(node, Powers) or len(node.coefficients) != LINEAR or node.coefficients[0]:
        return False
    return math.ldexp(node.coefficients[1], FINE).is_integer()


@dataclass(frozen=True, slots=True)
class Formulation:
    """A choice between equal expressions; searches try several.

    `speeds`, `accelerations`: use the sums of hints of these kinds. `chained`: an output that is a
    part of another is computed once. `shared`: a product of two outputs is a separate word.
    `exact`: sums of angles lose no bit (see `AngleSum`). `direct`: use the steps of the calculation
    (see `direct_sketch`). `tabled`: an input times a constant is a table, unless the constant is a
    power of two. `multiplied`: such a constant has few digits, so that fine tables are products.
    """

    speeds: bool = True
    accelerations: bool = False
    chained: bool = False
    shared: bool = True
    exact: bool = field(default=False, repr=False)
    direct: bool = field(default=False, repr=False)
    tabled: bool = field(default=False, repr=False)
    multiplied: bool = field(default=False, repr=False)

    def __str__(self) -> str:
        text = "as it is calculated" if self.direct else repr(self)
        return f"{text} with exact angles" if self.exact else text


def build_sketch(
    terms: Terms, bits: Mapping[str, int], steps: Sequence[float], form: Formulation | None = None
) -> Sketch:
    """Return the sketch of all outputs, in units of their steps, over inputs of these widths."""
    chosen = form or Formulation()
    problem = terms.problem
    words, begun = quantities(problem, bits), None
    if terms.steps is not None and (chosen.direct or not terms.outputs):
        return direct_sketch(problem, terms.steps, words, steps, exact=chosen.exact)
    if terms.prepared is not None:
        begun = prepared_words(terms, words, steps)
        words = {**words, **begun.words}
    polys = output_polys(terms, words, steps)
    sums: dict[str, tuple[tuple[str, float], ...]] = {}
    kinds = {"commands": True, "speeds": chosen.speeds, "accelerations": chosen.accelerations}
    for kind, taken in kinds.items():
        for hint in problem.sums if taken else ():
            if hint.kind == kind:
                polys = _with_sum(polys, words, hint, sums)
    parts = _parts(polys, problem.parts, steps) if chosen.chained else {}
    for whole, (part, ratio) in parts.items():
        add_into(polys[whole], scaled(polys[part], -ratio))
    polys = [pruned(poly) for poly in polys]
    record: dict[object, list[float]] = {}
    _make(_SketchMaker(words, sums, record, chosen, begun, recording=True), polys, {})
    maker = _SketchMaker(words, sums, record, chosen, begun, recording=False)
    return _make(maker, polys, parts)


def _with_sum(
    polys: list[Poly],
    words: Mapping[str, Quantity],
    hint: SumHint,
    sums: dict[str, tuple[tuple[str, float], ...]],
) -> list[Poly]:
    """Replace the second of two inputs by their sum or difference, if steps allow."""
    leader = hint.first.split("+")[0]
    first, second = words.get(leader), words.get(hint.second)
    if first is None or second is None or (leader != hint.first and hint.first not in sums):
        return polys
    if abs(first.step - hint.gain * second.step) > SAME * first.step:
        return polys
    name = f"{hint.first}+{second.name}"
    sums[name] = ((hint.first, 1.0), (second.name, float(hint.sign)))
    linear: Poly = {
        ((name, 1),): {(): complex(hint.sign)},
        ((hint.first, 1),): {(): complex(-hint.sign)},
    }
    return [substituted(poly, second.name, linear) for poly in polys]


def _parts(
    polys: Sequence[Poly], hints: Iterable[PartHint], steps: Sequence[float]
) -> dict[int, tuple[int, float]]:
    """Return, for outputs that contain another one as a part, its place and factor."""
    found = {}
    for hint in hints:
        ratio = hint.sign * steps[hint.part] / steps[hint.whole]
        if math.frexp(abs(ratio))[0] == 0.5 and polys[hint.part]:
            found[hint.whole] = (hint.part, ratio)
    return found


def _make(
    maker: _SketchMaker, polys: Sequence[Poly], parts: Mapping[int, tuple[int, float]]
) -> Sketch:
    maker.register_commands()
    maker.register(polys)
    outputs: dict[int, int] = {}
    for place in reversed(range(len(polys))):
        addends, number = maker.addends(polys[place])
        if place in parts:
            part, ratio = parts[place]
            addends.append(Linear(outputs[part], ratio))
        outputs[place] = maker.add(WordSum(tuple(addends), number), fresh=True)
    return Sketch(tuple(maker.nodes), tuple(outputs[k] for k in range(len(polys))))


class _SketchMaker(SketchNodes):
    """A builder of the nodes of polynomials, by Horner's rule."""

    def __init__(
        self,
        words: Mapping[str, Quantity],
        sums: Mapping[str, tuple[tuple[str, float], ...]],
        record: dict[object, list[float]],
        form: Formulation,
        begun: Prepared | None,
        *,
        recording: bool,
    ) -> None:
        super().__init__(words, exact=form.exact, begun=begun.maker if begun else None)
        self.prepared = begun.places if begun else {}
        self.sums, self.record = sums, record
        self.form, self.recording = form, recording
        self._shared: dict[object, tuple[int, float]] = {}

    def register_commands(self) -> None:
        """Make sums of three words and more first, so that their products are recognised."""
        for name in self.sums:
            if name.count("+") > 1:
                self.variable(name)

    def register(self, polys: Sequence[Poly]) -> None:
        """Make all angle sums, short ones first, which long ones use."""
        angles = {
            primitive(angle)[0]
            for poly in polys
            for series in poly.values()
            for angle in series
            if angle
        }
        for angle in sorted(angles, key=lambda a: (sum(abs(m) for _, m in a), a)):
            self.angle(angle)

    def variable(self, name: str) -> int:
        """Return the node of a linear variable."""
        if name in self.sums:
            parts = tuple(Linear(self.variable(n), factor) for n, factor in self.sums[name])
            return self.add(WordSum(parts, 0.0))
        if name in self.prepared:
            return self.prepared[name]
        word = self.words[name]
        return self.add(SourceWord(name, word.bits, angle=False, exact=word.exact))

    def _next_variable(self, poly: Poly) -> str:
        """Return the next variable to take out: of the last group, then the most frequent."""

        def rank(name: str) -> tuple[int, int, str]:
            first = name.split("+", maxsplit=1)[0]
            count = sum(any(n == name for n, _ in m) for m in poly)
            return -self.words[first].group, -count, name

        return min(variables(poly), key=rank)

    def addends(self, poly: Poly) -> tuple[list[Addend], float]:
        """Return the addends and the constant of a polynomial."""
        names = variables(poly)
        if not names:
            return self._tables(poly.get((), {}))
        if len(names) == 1 and not any(angle for series in poly.values() for angle in series):
            return self._power_table(names[0], poly)
        name = self._next_variable(poly)
        quotient, rest = divided(poly, name)
        addends, number = self.addends(rest)
        again, plain = divided(quotient, name)
        if again and not plain and name not in variables(again):
            square = self.add(Powers(self.variable(name), (0.0, 0.0, 1.0)))
            return self._factored([*addends, *self._product(square, again)]), number
        return self._factored([*addends, *self._product(self.variable(name), quotient)]), number

    def _factored(self, addends: list[Addend]) -> list[Addend]:
        """Factor out words of several products: a·c + b·c is (a + b)·c."""
        products = [a for a in addends if isinstance(a, Product)]
        read = Counter(k for one in products for k in {one.a, one.b})
        common, count = min(read.items(), key=lambda item: (-item[1], item[0]), default=(0, 0))
        if count < 2:
            return addends
        alike = [one for one in products if common in (one.a, one.b)]
        first = alike[0].factor
        parts = [Linear(one.b if one.a == common else one.a, one.factor / first) for one in alike]
        inner = self.add(WordSum(tuple(parts), 0.0))
        rest = [one for one in addends if one not in alike]
        return self._factored([*rest, Product(inner, common, first)])

    def _tables(self, series: Series) -> tuple[list[Addend], float]:
        groups: dict[Angle, dict[int, complex]] = {}
        for angle, coefficient in series.items():
            if angle:
                base, k, flipped = primitive(angle)
                group = groups.setdefault(base, {})
                value = coefficient.conjugate() if flipped else coefficient
                group[k] = group.get(k, 0) + value
        addends: list[Addend] = [self._table(base, parts) for base, parts in sorted(groups.items())]
        return addends, series.get((), 0j).real

    def _table(self, base: Angle, parts: Mapping[int, complex]) -> Linear:
        factor = power_of_two(max(abs(c) for c in parts.values()))
        first = parts[min(k for k in parts if k)]
        factor *= _sign(first)
        harmonics = tuple(
            (k, rounded(c.real / factor), rounded(c.imag / factor))
            for k, c in sorted(parts.items())
        )
        return Linear(self.add(Waves(self.angle(base), harmonics)), factor)

    def _power_table(self, name: str, poly: Poly) -> tuple[list[Addend], float]:
        powers = {dict(m).get(name, 0): s[()].real for m, s in poly.items()}
        number = powers.pop(0, 0.0)
        if set(powers) == {1}:
            return [self._multiple(self.variable(name), powers[1])], number
        if set(powers) == {2}:
            square = self.add(Powers(self.variable(name), (0.0, 0.0, 1.0)))
            return [Linear(square, powers[2])], number
        coefficients = tuple(rounded(powers.get(k, 0.0)) for k in range(max(powers) + 1))
        return [Linear(self.add(Powers(self.variable(name), coefficients)), 1.0)], number

    def _multiple(self, node: int, number: float) -> Linear:
        """Return a word times a constant, as a table of an input if tables are cheap."""
        if not self.form.tabled or is_power_of_two(number):
            return Linear(node, number)
        if not isinstance(self.nodes[node], SourceWord):
            return Linear(node, number)
        factor = power_of_two(abs(number)) * math.copysign(1.0, number)
        slope = rounded(number / factor)
        if self.form.multiplied:
            slope = math.ldexp(round(math.ldexp(slope, FINE)), -FINE)
        return Linear(self.add(Powers(node, (0.0, slope))), factor)

    def _product(self, node: int, poly: Poly) -> list[Addend]:
        """Return the addends of node·poly; a product in several sums becomes one word."""
        varying, number = without_constant(poly), constant(poly)
        if not varying:
            return [self._multiple(node, number)]
        normal, factor = _normal(varying)
        key = (self.nodes[node], _key(normal))
        if self.recording:
            known = key in self.record
            self.record.setdefault(key, []).append(number / factor)
            if known:
                return [Linear(node, 1.0)]
        elif self.form.shared and len(self.record.get(key, ())) > 1:
            return self._shared_product(key, node, normal, factor, number)
        # Signed digits add a large constant, so that the varying part is a shorter word.
        alone = _size(varying) * NEARLY_CONSTANT <= abs(number)
        place, scale = self.operand(varying if alone else poly)
        return [*[Linear(node, number)] * alone, Product(node, place, scale)]

    def _shared_product(
        self, key: object, node: int, normal: Poly, factor: float, number: float
    ) -> list[Addend]:
        if key not in self._shared:
            inside = min(self.record[key], key=lambda c: (_digits(self.record[key], c), abs(c)))
            whole = {m: dict(s) for m, s in normal.items()}
            add_into(whole, {(): {(): complex(inside)}})
            place, scale = self.operand(pruned(whole))
            product = self.add(WordSum((Product(node, place, scale),), 0.0))
            self._shared[key] = (product, inside)
        product, inside = self._shared[key]
        rest = number - inside * factor
        outside = [Linear(node, rest)] if abs(rest) > SAME * abs(factor) else []
        return [Linear(product, factor), *outside]

    def operand(self, poly: Poly) -> tuple[int, float]:
        """Return a word and a power of two whose product is a polynomial."""
        normal, factor = _normal(poly)
        if not variables(normal):
            series = normal[()]
            bases = {primitive(angle)[0] for angle in series if angle}
            if len(bases) == 1:
                base = next(iter(bases))
                parts: dict[int, complex] = {}
                for angle, coefficient in series.items():
                    if angle:
                        _, k, flipped = primitive(angle)
                        value = coefficient.conjugate() if flipped else coefficient
                        parts[k] = parts.get(k, 0) + value
                    else:
                        parts[0] = complex(coefficient.real)
                table = self._table(base, parts)
                return table.node, factor * table.factor
        addends, number = self.addends(normal)
        alone = addends[0]
        bare = len(addends) == 1 and not number and isinstance(alone, Linear)
        if bare and isinstance(alone, Linear) and is_power_of_two(alone.factor):
            return alone.node, factor * alone.factor
        return self.add(WordSum(tuple(addends), rounded(number))), factor


def _sign(value: complex) -> float:
    if abs(value.real) > SAME * abs(value):
        return math.copysign(1.0, value.real)
    return math.copysign(1.0, value.imag)


def _normal(poly: Poly) -> tuple[Poly, float]:
    """Return a polynomial with largest coefficient in 1 .. 2, and its divisor."""
    largest = max(abs(c) for series in poly.values() for c in series.values())
    monomial = next(iter(sorted(poly)))
    first = poly[monomial][next(iter(sorted(poly[monomial])))]
    factor = power_of_two(largest) * _sign(first)
    return scaled(poly, 1 / factor), factor


def _size(poly: Poly) -> float:
    """Return a bound of a polynomial; infinity if it has linear variables."""
    if variables(poly):
        return math.inf
    return sum(abs(c) for c in poly[()].values())


def _key(poly: Poly) -> object:
    return tuple(
        (m, tuple((a, round(c.real, 9), round(c.imag, 9)) for a, c in sorted(s.items())))
        for m, s in sorted(poly.items())
    )


def _digits(numbers: Sequence[float], inside: float) -> int:
    return sum(len(signed_digits(c - inside, 2.0**-6)) for c in numbers)


# --------------------------------------------------------------------------------------------------
# Terms without their smallest waves, which rounding would hide.
# --------------------------------------------------------------------------------------------------

SHARE = 0.03  # part of the allowed mean square for omitted waves


def without_small_waves(terms: Terms, allowed: Sequence[float], steps: Sequence[float]) -> Terms:
    """Return terms without their smallest waves, within a part of the allowed mean squares.

    `allowed` are mean squares in steps. That of a wave is its average over whole turns and over the
    ranges of its other inputs; waves are assumed to be independent.
    """
    outputs = []
    for output, parts, square, step in zip(
        terms.problem.outputs, terms.outputs, allowed, steps, strict=True
    ):
        sizes = sorted(
            (_mean_square(terms, term, wave) / step**2, k, j)
            for k, term in enumerate(parts)
            for j, wave in enumerate(term.waves())
        )
        room, dropped = SHARE * square, set()
        for size, k, j in sizes:
            room -= size
            if room < 0:
                break
            dropped.add((k, j))
        kept = [
            term.part([wave for j, wave in enumerate(term.waves()) if (k, j) not in dropped])
            for k, term in enumerate(parts)
        ]
        outputs.append(number_terms(output.stem, [term for term in kept if term.coefficient]))
    return replace(terms, outputs=tuple(outputs))


def _mean_square(terms: Terms, term: Term, wave: Wave) -> float:
    """Return the mean square of a wave times the factor of its term."""
    powers: dict[str, int] = dict(wave.powers)
    for one in term.factor:
        powers[one.name] = powers.get(one.name, 0) + 1
    found = wave.amplitude**2 / (2 if wave.multiples else 1)
    return found * math.prod(
        _mean_power(terms.problem.input(name).range, 2 * power) for name, power in powers.items()
    )


def _mean_power(where: Interval, power: int) -> float:
    """Return the mean of x^power over an interval."""
    low, high, above = where.low, where.high, power + 1
    return float((high**above - low**above) / (above * (high - low)))
