"""Terms of outputs: a factor of some inputs times a Fourier sum over others.

Also verdicts on output ranges, the effect of a payload, and outputs that are zero at rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.base.errors import BoolcompError, UsageError, short, unknown
from boolcomp.base.results import ResultColumn
from boolcomp.problem.dynamics import one_kilogram
from boolcomp.problem.fourier import with_constants
from boolcomp.problem.functions import is_linear_in_load
from boolcomp.problem.problem import MARGIN, SAMPLES, Problem, extremes
from boolcomp.problem.sources import load_source, problem_of
from boolcomp.problem.tape import Operation, Straight
from boolcomp.problem.words import MOST_SIZE, round_above, width_problem
from boolcomp.terms.extrema import amplitude
from boolcomp.terms.terms import Exponents, Monomial, Term, Wave, collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from boolcomp.problem.fourier import Series, Spectra, Summand
    from boolcomp.problem.sources import Source
    from boolcomp.problem.words import Input, Output


Form = Literal["grouped", "amplitude-phase", "products"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class Terms:
    """Every output of a problem as a sum of terms, in one of three forms.

    If an output is not a sum of waves, there are no terms, but `steps` that calculate all outputs.
    Otherwise `steps` are optional. `prepared` are steps that calculate factors of terms.
    """

    problem: Problem
    form: Form
    outputs: tuple[tuple[Term, ...], ...]
    steps: Straight | None = None
    prepared: Straight | None = None

    @property
    def plain(self) -> bool:
        return bool(self.outputs) and self.prepared is None

    @property
    def waves(self) -> int:
        return sum(len(term.waves()) for terms in self.outputs for term in terms)

    def required(self) -> Terms:
        """Return self, or raise a `UsageError` if there are no terms."""
        if self.plain:
            return self
        raise UsageError(
            f"{self.problem.name} is no sum of waves and powers of its inputs, so it has no "
            "terms and no tables of them", "compact mode compiles it",
        )  # fmt: skip

    def __str__(self) -> str:
        if not self.outputs:
            return str(self.steps)
        lines = [] if self.prepared is None else str(self.prepared).splitlines()[1:]
        for output, terms in zip(self.problem.outputs, self.outputs, strict=True):
            lines.append(f"{output.symbol} = {' + '.join(term.name for term in terms) or '0'}")
            for term in terms:
                text = term.phase_text() if self.form == "amplitude-phase" else str(term)
                lines.append(f"  {term.name} = {text}")
        return "\n".join(lines)


def split(problem: Problem, form: str = "grouped") -> Terms:
    """Return a problem's outputs as sums of terms.

    `grouped`: one term per factor. `amplitude-phase`: one per factor and angle sum. `products`:
    one per factor and monomial in the cosines and sines of angles (degree 2 as cos² and cos·sin)
    and in other inputs.
    """
    chosen = next((known for known in FORMS if known == form), None)
    if chosen is None:
        raise unknown("form", form, FORMS)
    spectra = problem.form()
    if isinstance(spectra, Straight):
        return Terms(problem, chosen, (), spectra)
    outputs = []
    for output, summands in zip(problem.outputs, spectra.outputs, strict=True):
        terms = [
            _term(spectra, output, factor, part)
            for factor, spectrum in _free(spectra, summands)
            for part in _parts(spectra, spectrum, chosen)
            if part
        ]
        outputs.append(number_terms(output.stem, terms))
    steps = problem.calculation() if problem.calculation else None
    return Terms(
        problem, chosen, tuple(outputs), steps and _with_zeros(steps, outputs), spectra.prepared
    )


def _with_zeros(steps: Straight, outputs: Sequence[Sequence[Term]]) -> Straight:
    """Return steps in which an output without terms is the constant zero."""
    zero = len(steps.nodes)
    returned = tuple(
        one if terms else replace(one, node=zero)
        for one, terms in zip(steps.outputs, outputs, strict=True)
    )
    return Straight((*steps.nodes, Operation("constant", value=0.0)), returned)


def number_terms(symbol: str, terms: Iterable[Term]) -> tuple[Term, ...]:
    """Name the terms of an output as in the paper: T11, T12, …; T1.01, … from ten on."""
    listed = tuple(terms)
    style = "{}{}" if len(listed) < 10 else "{}.{:0" + str(len(str(len(listed)))) + "}"
    return tuple(term.named(style.format(symbol, k)) for k, term in enumerate(listed, 1))


def _free(
    spectra: Spectra, summands: Sequence[Summand]
) -> Iterable[tuple[tuple[Input, ...], Series]]:
    """Return an output's factors and series, with the values of constant inputs inserted."""
    axes = spectra.axes
    factors = {one for summand in summands for one in summand.factor}
    if not any(one.range.single for one in (*axes, *factors)):
        return [(summand.factor, summand.coefficient) for summand in summands]
    found: dict[tuple[Input, ...], dict[tuple[int, ...], complex]] = {}
    for summand in summands:
        value = math.prod(v.range.low for v in summand.factor if v.range.single)
        left = tuple(v for v in summand.factor if not v.range.single)
        series = found.setdefault(left, {})
        for numbers, coefficient in with_constants(axes, summand.coefficient).items():
            series[numbers] = series.get(numbers, 0) + value * coefficient
    return sorted(found.items(), key=lambda item: not item[0])  # without factor last


def _term(
    spectra: Spectra, output: Output, factor: tuple[Input, ...], part: tuple[Wave | Monomial, ...]
) -> Term:
    names = frozenset[str]().union(*(piece.names for piece in part))
    arguments = tuple(axis for axis in spectra.axes if axis.name in names)
    return Term("", output.title, part, arguments, factor)


def _parts(spectra: Spectra, series: Series, form: Form) -> list[tuple[Wave | Monomial, ...]]:
    """Split a coefficient into the coefficients of terms of this form."""
    if form == "products":
        return [(piece,) for piece in _monomials(spectra, series)]
    waves = _waves(spectra, series)
    return [waves] if form == "grouped" else [(wave,) for wave in waves]


def _waves(spectra: Spectra, series: Series) -> tuple[Wave, ...]:
    parts: list[tuple[Exponents, Exponents, complex]] = []
    for numbers, coefficient in series.items():
        if abs(coefficient) > spectra.noise:
            named = [(one, k) for one, k in zip(spectra.axes, numbers, strict=True) if k]
            multiples = tuple((one.name, k) for one, k in named if one.angle)
            powers = tuple((one.name, k) for one, k in named if not one.angle)
            parts.append((multiples, powers, coefficient))
    waves = (_rounded(spectra, wave) for wave in collect(parts))
    return tuple(wave for wave in waves if wave.amplitude)


def _rounded(spectra: Spectra, wave: Wave) -> Wave:
    # + 0.0 turns a rounded -0.0 into 0.0, so that no text contains "-0".
    cosine = round(wave.cosine, spectra.decimals) + 0.0
    sine = round(wave.sine, spectra.decimals) + 0.0
    return Wave(wave.multiples, wave.powers, cosine, sine)


def _monomials(spectra: Spectra, series: Series) -> Iterator[Monomial]:
    """Yield the series as monomials: powers of every angle's cosine, with or without its sine."""
    rows = series
    for place, axis in enumerate(spectra.axes):
        if axis.angle:
            rows = _in_products(rows, place)
    for numbers, coefficient in sorted(rows.items()):
        if abs(coefficient) > spectra.noise:
            named = [(one, k) for one, k in zip(spectra.axes, numbers, strict=True) if k]
            # Rows are 1, cos, sin, cos², cos·sin, cos³, …: every even one has a sine.
            angles = tuple(
                (one.name, (k + 1) // 2 - (1 - k % 2), 1 - k % 2) for one, k in named if one.angle
            )
            powers = tuple((one.name, k) for one, k in named if not one.angle)
            yield Monomial(angles, powers, round(coefficient.real, spectra.decimals))


def _in_products(series: Series, place: int) -> Series:
    """Convert an angle's harmonics in a series to rows 1, cos, sin, cos², cos·sin, …."""
    found: dict[tuple[int, ...], complex] = {}
    for numbers, coefficient in series.items():
        before, k, after = numbers[:place], numbers[place], numbers[place + 1 :]
        mirror = (*before, -k, *after)
        if k < 0 and mirror in series:
            continue
        other = series.get(mirror, 0) if k else 0
        sides = (coefficient + other, math.copysign(1, k) * 1j * (coefficient - other))
        for weights, first, side in zip(_in_cosines(abs(k)), (-1, 2), sides, strict=True):
            for power, weight in enumerate(weights):
                if weight:
                    key = (*before, max(0, first + 2 * power), *after)
                    found[key] = found.get(key, 0) + weight * side
    return found


@cache
def _in_cosines(k: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return cos kq, and sin kq over sin q, by powers of cos q."""
    if not k:
        return (1,), ()
    cosines, sines = _in_cosines(k - 1)
    negated = tuple(-x for x in sines)  # cos q cos(k-1)q - (1 - cos² q) sin(k-1)q / sin q
    return _added((0, *cosines), negated, (0, 0, *sines)), _added(cosines, (0, *sines))


def _added(*several: Iterable[int]) -> tuple[int, ...]:
    return tuple(sum(each) for each in zip_longest(*several, fillvalue=0))


# --------------------------------------------------------------------------------------------------
# Verdicts on output ranges, from extremes found by sampling and climbing.
# --------------------------------------------------------------------------------------------------

DUST = 1e-9  # of the largest output: smaller ones are rounding errors


@dataclass(frozen=True, slots=True)
class Verdict:
    """An output's range and the extremes that a search found, in its unit.

    `beyond` is the share of uniform samples outside of the range. `better` is a round range if this
    one saturates or wastes a bit and a robot file may contain the other, else None.
    """

    output: Output
    low: float
    high: float
    range: float
    beyond: float
    samples: int = SAMPLES

    @property
    def reach(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def wasted_bits(self) -> int:
        """The number of leading bits of the word's size that never change."""
        if not self.reach:
            return 0
        return max(0, math.floor(math.log2(self.range / self.reach) + 1e-9))

    @property
    def saturates(self) -> bool:
        return self.reach > self.range * (1 + 1e-9)

    @property
    def tight(self) -> bool:
        return not self.saturates and self.reach * MARGIN > self.range * (1 + 1e-9)

    @property
    def better(self) -> float | None:
        """The least round range that holds the extremes, if this one does not suit."""
        if not self.saturates and not self.wasted_bits:
            return None
        found = round_above(self.reach * MARGIN)
        return None if found > MOST_SIZE or width_problem(-found, found) else found

    def __str__(self) -> str:
        if not self.reach:
            return f"this {self.output.noun} is always zero"
        if self.saturates:
            beyond = round(self.beyond * self.samples)
            if not beyond:
                return f"saturates (found by climbing; none of {self.samples} samples)"
            return f"saturates: {beyond} of {self.samples} samples beyond"
        if self.wasted_bits:
            return f"wastes {self.wasted_bits} bit{'s' * (self.wasted_bits > 1)}"
        used = f"{short(100 * self.reach / self.range, 3)} % of it is used"
        if self.tight:
            return f"tight: compact mode may take a bit more ({used})"
        return f"suits: {used}"


VERDICTS = (
    ResultColumn("", "torque", "output.symbol", left=True),
    ResultColumn("", "least", "low", ".5g"),
    ResultColumn("", "largest", "high", ".5g"),
    ResultColumn("", "range", "range", lambda x: f"±{short(x)}"),
    ResultColumn("", "unit", "output.unit", left=True),
    ResultColumn("", "verdict", str, left=True),
)


def judge_outputs(problem: Problem) -> tuple[Verdict, ...]:
    """Search the extremes of all outputs over the inputs' ranges, which takes seconds."""
    values, found = extremes(problem.exact, problem.bounds())
    sizes = np.abs(found).max(axis=0)
    real = sizes > max(DUST * float(sizes.max()), problem.dust)
    found = found * real
    limits = np.array([output.range.high for output in problem.outputs])
    beyond = (np.abs(values) > limits).mean(axis=0) * real
    return tuple(
        Verdict(output, 0.0 - float(least), 0.0 + float(largest), output.range.high, float(share))
        for output, largest, least, share in zip(problem.outputs, *found, beyond, strict=True)
    )


# --------------------------------------------------------------------------------------------------
# The effect of a payload, in which outputs are affine.
# --------------------------------------------------------------------------------------------------

UP = 1 + 1e-9  # coefficients have 13 digits


def per_kilogram(source: Source, of: str) -> tuple[float, ...]:
    """Return an upper bound of the change of every output by a payload of one kilogram.

    It is the sum of the bounds of all terms of the function, for the robot without other masses.
    Empty if the function is not known to be affine in the mass.
    """
    loaded = load_source(source) if isinstance(source, str | Path) else source
    if isinstance(loaded, Problem) or not is_linear_in_load(of):
        return ()
    try:
        terms = split(problem_of(one_kilogram(loaded), of))
    except BoolcompError:  # too many waves, or words of a load
        return ()
    return tuple(UP * sum(amplitude(term).bound for term in each) for each in terms.outputs)


# --------------------------------------------------------------------------------------------------
# Outputs that are zero at rest: all their terms have inputs as factors.
# --------------------------------------------------------------------------------------------------

NEARLY = 1e-9  # of a word's range


def resting(terms: Terms) -> tuple[tuple[str, ...] | None, ...]:
    """Return, for every output with a zero code, the inputs at whose zeros it is zero, or None.

    These are the factors of its terms, such as speeds and accelerations; their words must be
    symmetric about zero. Outputs that are not sums of waves have none.
    """
    problem = terms.problem
    if not terms.outputs or not any(one.format.tread for one in problem.outputs):
        return ()
    order = [one.name for one in problem.inputs]
    return tuple(
        _factors(parts, order) if output.format.tread else None
        for output, parts in zip(problem.outputs, terms.outputs, strict=True)
    )


def _factors(parts: tuple[Term, ...], order: list[str]) -> tuple[str, ...] | None:
    """Return the factors of terms; None if a term has none, or one with an asymmetric word."""
    if any(not part.factor for part in parts):
        return None
    found = {one.name: one for part in parts for one in part.factor}
    if any(abs(one.word.centre) > NEARLY * one.word.width for one in found.values()):
        return None
    return tuple(sorted(found, key=order.index))
