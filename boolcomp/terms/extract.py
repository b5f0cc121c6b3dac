"""Split outputs into terms: a factor of some inputs times a Fourier sum over others (`Spectra`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.problem.spectra import held, widened
from boolcomp.terms.term import Term
from boolcomp.terms.waves import Exponents, Monomial, Wave, collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from boolcomp.problem.problem import Input, Output, Problem
    from boolcomp.problem.spectra import Complex, Spectra, Summand

Form = Literal["grouped", "amplitude-phase", "products"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class Terms:
    """Every output of a problem as a sum of terms, in one of three forms."""

    problem: Problem
    form: Form
    outputs: tuple[tuple[Term, ...], ...]

    def __str__(self) -> str:
        lines = []
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
    outputs = []
    for output, summands in zip(problem.outputs, spectra.outputs, strict=True):
        terms = [
            _term(spectra, output, factor, part)
            for factor, spectrum in _free(spectra, summands)
            for part in _parts(spectra, spectrum, chosen)
            if part
        ]
        outputs.append(number_terms(output.symbol, terms))
    return Terms(problem, chosen, tuple(outputs))


def number_terms(symbol: str, terms: Iterable[Term]) -> tuple[Term, ...]:
    """Name the terms of an output as the paper does: T11, T12, …; T1.01, … from ten on."""
    listed = tuple(terms)
    style = "{}{}" if len(listed) < 10 else "{}.{:0" + str(len(str(len(listed)))) + "}"
    return tuple(term.named(style.format(symbol, k)) for k, term in enumerate(listed, 1))


def _free(
    spectra: Spectra, summands: Sequence[Summand]
) -> Iterable[tuple[tuple[Input, ...], Complex]]:
    """Return an output's factors and spectra with inputs that are single values put in."""
    axes = spectra.axes
    factors = {one for summand in summands for one in summand.factor}
    if not any(one.range.single for one in (*axes, *factors)):
        return [(summand.factor, summand.coefficient) for summand in summands]
    sizes = np.max([summand.coefficient.shape for summand in summands], axis=0).tolist()
    found: dict[tuple[Input, ...], Complex] = {}
    for summand in summands:
        value = float(np.prod([v.range.low for v in summand.factor if v.range.single]))
        left = tuple(v for v in summand.factor if not v.range.single)
        part = value * held(axes, widened(axes, summand.coefficient, sizes))
        found[left] = found[left] + part if left in found else part
    return sorted(found.items(), key=lambda item: not item[0])  # what has no factor comes last


def _term(
    spectra: Spectra, output: Output, factor: tuple[Input, ...], part: tuple[Wave | Monomial, ...]
) -> Term:
    names = frozenset[str]().union(*(piece.names for piece in part))
    arguments = tuple(axis for axis in spectra.axes if axis.name in names)
    return Term("", output.title, part, arguments, factor)


def _parts(spectra: Spectra, spectrum: Complex, form: Form) -> list[tuple[Wave | Monomial, ...]]:
    """Return the coefficient cut into the pieces that this form makes terms of."""
    if form == "products":
        return [(piece,) for piece in _monomials(spectra, spectrum)]
    waves = _waves(spectra, spectrum)
    return [waves] if form == "grouped" else [(wave,) for wave in waves]


def _kept(spectra: Spectra, spectrum: Complex) -> list[tuple[int, ...]]:
    return [tuple(map(int, index)) for index in np.argwhere(np.abs(spectrum) > spectra.noise)]


def _waves(spectra: Spectra, spectrum: Complex) -> tuple[Wave, ...]:
    sizes = spectrum.shape
    parts: list[tuple[Exponents, Exponents, complex]] = []
    for index in _kept(spectra, spectrum):
        multiples: list[tuple[str, int]] = []
        powers: list[tuple[str, int]] = []
        for axis, k, size in zip(spectra.axes, index, sizes, strict=True):
            if k and axis.angle:
                multiples.append((axis.name, k if k <= size // 2 else k - size))
            elif k:
                powers.append((axis.name, k))
        parts.append((tuple(multiples), tuple(powers), complex(spectrum[index])))
    waves = (_rounded(spectra, wave) for wave in collect(parts))
    return tuple(wave for wave in waves if wave.amplitude)


def _rounded(spectra: Spectra, wave: Wave) -> Wave:
    # + 0.0 turns a rounded -0.0 into 0.0, so that no text says "-0".
    cosine = round(wave.cosine, spectra.decimals) + 0.0
    sine = round(wave.sine, spectra.decimals) + 0.0
    return Wave(wave.multiples, wave.powers, cosine, sine)


def _monomials(spectra: Spectra, spectrum: Complex) -> Iterator[Monomial]:
    """Yield the spectrum as monomials: per angle 1, cos, sin, cos², cos·sin."""
    rows = spectrum
    for place, axis in enumerate(spectra.axes):
        if axis.angle and rows.shape[place] > 1:
            z = np.moveaxis(rows, place, 0)
            basis = [z[0], z[1] + z[-1], 1j * (z[1] - z[-1])]
            if len(z) == 5:  # cos 2q = 2 cos² q - 1, sin 2q = 2 cos q sin q
                cos_2q, sin_2q = z[2] + z[-2], 1j * (z[2] - z[-2])
                basis = [basis[0] - cos_2q, *basis[1:], 2 * cos_2q, 2 * sin_2q]
            rows = np.moveaxis(np.stack(basis), 0, place)
    exponents = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1))
    for index in _kept(spectra, rows):
        angles = tuple(
            (axis.name, *exponents[k])
            for axis, k in zip(spectra.axes, index, strict=True)
            if k and axis.angle
        )
        powers = tuple(
            (axis.name, k)
            for axis, k in zip(spectra.axes, index, strict=True)
            if k and not axis.angle
        )
        yield Monomial(angles, powers, round(float(rows[index].real), spectra.decimals))
