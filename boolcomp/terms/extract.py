"""Split outputs into terms: a factor of some inputs times a Fourier sum over others (`Spectra`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.problem.expressions.straight import Operation, Straight
from boolcomp.problem.spectra import held
from boolcomp.terms.term import Term
from boolcomp.terms.terms import Exponents, Monomial, Wave, collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from boolcomp.problem.problem import Input, Output, Problem
    from boolcomp.problem.spectra import Series, Spectra, Summand

Form = Literal["grouped", "amplitude-phase", "products"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class Terms:
    """Every output of a problem as a sum of terms, in one of three forms.

    Where one is no sum of waves there are no terms, but `steps` that calculate all outputs; else
    steps may be known as well. Factors of terms may be calculated first, by steps that are
    `prepared`.
    """

    problem: Problem
    form: Form
    outputs: tuple[tuple[Term, ...], ...]
    steps: Straight | None = None
    prepared: Straight | None = None

    @property
    def plain(self) -> bool:
        """Whether outputs are sums of waves and powers of the inputs, and of nothing else."""
        return bool(self.outputs) and self.prepared is None

    @property
    def waves(self) -> int:
        """How many waves all terms have."""
        return sum(len(term.waves()) for terms in self.outputs for term in terms)

    def required(self) -> Terms:
        """Return these, for a use that needs terms: what has none is a `UsageError`."""
        if self.plain:
            return self
        raise UsageError(
            f"{self.problem.name} is no sum of waves and powers of its inputs: it has no terms, "
            "nor tables of them; compact mode compiles it"
        )

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
        raise UsageError(f"form {form!r}{suggestion(form, FORMS)}: forms are {listing(FORMS)}")
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
    """Return steps in which an output without any term is zero, not a sum that cancels."""
    zero = len(steps.nodes)
    returned = tuple(
        one if terms else replace(one, node=zero)
        for one, terms in zip(steps.outputs, outputs, strict=True)
    )
    return Straight((*steps.nodes, Operation("constant", value=0.0)), returned)


def number_terms(symbol: str, terms: Iterable[Term]) -> tuple[Term, ...]:
    """Name the terms of an output as the paper does: T11, T12, …; T1.01, … from ten on."""
    listed = tuple(terms)
    style = "{}{}" if len(listed) < 10 else "{}.{:0" + str(len(str(len(listed)))) + "}"
    return tuple(term.named(style.format(symbol, k)) for k, term in enumerate(listed, 1))


def _free(
    spectra: Spectra, summands: Sequence[Summand]
) -> Iterable[tuple[tuple[Input, ...], Series]]:
    """Return an output's factors and series with inputs that are single values put in."""
    axes = spectra.axes
    factors = {one for summand in summands for one in summand.factor}
    if not any(one.range.single for one in (*axes, *factors)):
        return [(summand.factor, summand.coefficient) for summand in summands]
    found: dict[tuple[Input, ...], dict[tuple[int, ...], complex]] = {}
    for summand in summands:
        value = math.prod(v.range.low for v in summand.factor if v.range.single)
        left = tuple(v for v in summand.factor if not v.range.single)
        series = found.setdefault(left, {})
        for numbers, coefficient in held(axes, summand.coefficient).items():
            series[numbers] = series.get(numbers, 0) + value * coefficient
    return sorted(found.items(), key=lambda item: not item[0])  # what has no factor comes last


def _term(
    spectra: Spectra, output: Output, factor: tuple[Input, ...], part: tuple[Wave | Monomial, ...]
) -> Term:
    names = frozenset[str]().union(*(piece.names for piece in part))
    arguments = tuple(axis for axis in spectra.axes if axis.name in names)
    return Term("", output.title, part, arguments, factor)


def _parts(spectra: Spectra, series: Series, form: Form) -> list[tuple[Wave | Monomial, ...]]:
    """Return the coefficient cut into the pieces that this form makes terms of."""
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
    # + 0.0 turns a rounded -0.0 into 0.0, so that no text says "-0".
    cosine = round(wave.cosine, spectra.decimals) + 0.0
    sine = round(wave.sine, spectra.decimals) + 0.0
    return Wave(wave.multiples, wave.powers, cosine, sine)


def _monomials(spectra: Spectra, series: Series) -> Iterator[Monomial]:
    """Yield the series as monomials: per angle powers of its cosine, times its sine or not."""
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
    """Return a series with an angle's harmonics turned into rows 1, cos, sin, cos², cos·sin, …."""
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
    less = tuple(-x for x in sines)  # cos q cos(k-1)q - (1 - cos² q) sin(k-1)q / sin q
    return _added((0, *cosines), less, (0, 0, *sines)), _added(cosines, (0, *sines))


def _added(*several: Iterable[int]) -> tuple[int, ...]:
    return tuple(sum(each) for each in zip_longest(*several, fillvalue=0))
