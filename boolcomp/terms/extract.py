"""Split torques into terms by sampling Newton-Euler: Fourier analysis, no computer algebra.

The inertia matrix is a trigonometric polynomial of degree 2 in every angle and a polynomial of
degree 2 in every sliding position; gravity is of degree 1 in each; neither the mass nor the
choice of frames changes that. So 5 (3) equispaced samples an axis determine M(q) and 3 determine
G(q), exactly. The velocity terms follow in the Fourier domain from Christoffel's symbols

    τ_i = Σ_j M_ij q̈_j + Σ_jk c_ijk q̇_j q̇_k + G_i
    c_ijk = ½ (∂M_ij/∂q_k + ∂M_ik/∂q_j - ∂M_jk/∂q_i)

M does not depend on the first joint, which moves the arm as a whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.common.errors import DataError, UsageError, listing, suggestion
from boolcomp.problem.dynamics import gravity_torques, inertia_matrix
from boolcomp.terms.term import Term
from boolcomp.terms.variables import Variable, acceleration, position, speed
from boolcomp.terms.waves import Exponents, Monomial, Wave, collect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from boolcomp.problem.robot import Robot

Form = Literal["grouped", "amplitude-phase", "products"]
FORMS: tuple[Form, ...] = get_args(Form)
NOISE = 1e-12  # below this, relative to the largest coefficient, an amplitude is rounding error
DIGITS = 13  # and above it this many digits are kept, so that 15.75 is 15.75 on every machine
MOST_BYTES = 1 << 30  # of samples of M(q) and their transforms: eight turning joints
BYTES_AN_ENTRY = 64  # of M(q) at one point: twice as float64, three times as complex128
_SLIDES = np.array([0.0, 1.0, -1.0])


@dataclass(frozen=True, slots=True)
class Torques:
    """Every torque of a robot as a sum of terms, in one of three forms."""

    robot: Robot
    form: Form
    joints: tuple[tuple[Term, ...], ...]

    def __str__(self) -> str:
        lines = []
        for joint, terms in enumerate(self.joints, 1):
            lines.append(f"T{joint} = {' + '.join(term.name for term in terms) or '0'}")
            for term in terms:
                text = term.phase_text() if self.form == "amplitude-phase" else str(term)
                lines.append(f"  {term.name} = {text}")
        return "\n".join(lines)


def split_torques(robot: Robot, form: str = "grouped") -> Torques:
    """Return the torques as sums of terms.

    `grouped`: one term per factor (an acceleration, two speeds, or none). `amplitude-phase`: one
    per factor and angle sum. `products`: one per factor and monomial in cos q, sin q (degree 2 as
    cos² and cos·sin) and sliding positions.
    """
    chosen = next((known for known in FORMS if known == form), None)
    if chosen is None:
        raise UsageError(f"form {form!r}{suggestion(form, FORMS)}: forms are {listing(FORMS)}")
    analysis = _analyse(robot)
    joints = []
    for i in range(robot.joints):
        terms = [
            _term(robot, i, factor, part)
            for factor, spectrum in _free_factors(robot, analysis, i)
            for part in _parts(robot, analysis, spectrum, chosen)
            if part
        ]
        joints.append(number_terms(i + 1, terms))
    return Torques(robot, chosen, tuple(joints))


def number_terms(joint: int, terms: list[Term]) -> tuple[Term, ...]:
    """Name the terms of torque `joint` as the paper does: T11, T12, …; T1.01, … from ten on."""
    style = "T{}{}" if len(terms) < 10 else "T{}.{:0" + str(len(str(len(terms)))) + "}"
    return tuple(term.named(style.format(joint, k)) for k, term in enumerate(terms, 1))


@dataclass(frozen=True, slots=True)
class _Analysis:
    """Fourier (polynomial) coefficients of M and G over one axis a joint, and their scale."""

    revolute: tuple[bool, ...]
    inertia: NDArray[np.complex128]
    gravity: NDArray[np.complex128]
    noise: float
    decimals: int


def _analyse(robot: Robot) -> _Analysis:
    revolute = tuple(link.revolute for link in robot.links)
    n = robot.joints
    grid = [1] + [5 if turns else 3 for turns in revolute[1:]]
    needed = math.prod(grid) * n * n * BYTES_AN_ENTRY
    if needed > MOST_BYTES:
        raise DataError(
            f"{robot.name}: the terms of {n} joints need {needed / 1e9:.3g} GB, and at most "
            f"{MOST_BYTES / 1e9:.2g} are used: terms are found for up to eight turning joints"
        )
    sampled = inertia_matrix(robot, _points(revolute, grid)).reshape(*grid, n, n)
    inertia = _transform(revolute, sampled)
    grid = [3] * n
    sampled = gravity_torques(robot, _points(revolute, grid)).reshape(*grid, n)
    gravity = _transform(revolute, sampled)
    scale = max(np.abs(inertia).max(), np.abs(gravity).max(), 1e-300)
    decimals = DIGITS - 1 - int(np.floor(np.log10(scale)))
    return _Analysis(revolute, inertia, gravity, NOISE * float(scale), decimals)


def _points(revolute: tuple[bool, ...], grid: list[int]) -> NDArray[np.float64]:
    axes = [
        2 * np.pi * np.arange(size) / size if turns else _SLIDES[:size]
        for turns, size in zip(revolute, grid, strict=True)
    ]
    return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=-1)


def _transform(revolute: tuple[bool, ...], sampled: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Take a DFT along every angle's axis, and powers 1, d, d² from d = 0, 1, -1 elsewhere."""
    result = sampled.astype(np.complex128)
    for axis, turns in enumerate(revolute):
        if turns:
            result = np.fft.fft(result, axis=axis, norm="forward")
        elif result.shape[axis] == 3:
            at_0, at_1, at_minus_1 = np.moveaxis(result, axis, 0)
            powers = [at_0, (at_1 - at_minus_1) / 2, (at_1 + at_minus_1) / 2 - at_0]
            result = np.stack(powers, axis=axis)
    return result


def _derivative(
    analysis: _Analysis, spectrum: NDArray[np.complex128], axis: int
) -> NDArray[np.complex128]:
    rows = np.moveaxis(spectrum, axis, 0)
    size = len(rows)
    if size == 1:
        return np.zeros_like(spectrum)
    if analysis.revolute[axis]:
        harmonics = 1j * np.fft.fftfreq(size, 1 / size)
        rows = rows * harmonics.reshape(-1, *[1] * (rows.ndim - 1))
    else:
        rows = np.stack([rows[1], 2 * rows[2], np.zeros_like(rows[0])])
    return np.moveaxis(rows, 0, axis)


def _factors(
    robot: Robot, analysis: _Analysis, i: int
) -> Iterator[tuple[tuple[Variable, ...], NDArray[np.complex128]]]:
    """Yield torque i's (factor, spectrum): accelerations, squares, products of speeds, gravity."""
    n, M = robot.joints, analysis.inertia
    for j in range(n):
        yield (acceleration(robot, j + 1),), M[..., i, j]
    pairs = [(j, j) for j in range(n)] + [(j, k) for j in range(n) for k in range(j + 1, n)]
    for j, k in pairs:
        symbol = _derivative(analysis, M[..., i, j], k) + _derivative(analysis, M[..., i, k], j)
        symbol = (symbol - _derivative(analysis, M[..., j, k], i)) / 2
        factor = (speed(robot, j + 1), speed(robot, k + 1))
        yield factor, symbol if j == k else 2 * symbol
    yield (), analysis.gravity[..., i]


def _free_factors(
    robot: Robot, analysis: _Analysis, i: int
) -> Iterator[tuple[tuple[Variable, ...], NDArray[np.complex128]]]:
    """Yield torque i's factors and spectra with variables that are single values put in."""
    links = robot.links
    if not any(v.single for x in links for v in (x.position, x.velocity, x.acceleration)):
        yield from _factors(robot, analysis, i)
        return
    found: dict[tuple[Variable, ...], NDArray[np.complex128]] = {}
    shape = tuple(
        max(pair) for pair in zip(analysis.inertia.shape, analysis.gravity.shape, strict=False)
    )
    for factor, spectrum in _factors(robot, analysis, i):
        value = math.prod(v.range.low for v in factor if v.range.single)
        left = tuple(v for v in factor if not v.range.single)
        part = value * _held(robot, _spread(analysis, spectrum, shape))
        found[left] = found[left] + part if left in found else part
    yield from sorted(found.items(), key=lambda item: not item[0])  # gravity last


def _spread(
    analysis: _Analysis, spectrum: NDArray[np.complex128], sizes: tuple[int, ...]
) -> NDArray[np.complex128]:
    """Return a spectrum of so many harmonics (powers) an axis; the new ones are zero."""
    for axis, turns in enumerate(analysis.revolute):
        size = spectrum.shape[axis]
        places = np.arange(size) if not turns else np.fft.fftfreq(size, 1 / size).astype(int)
        wider = np.zeros(
            (*spectrum.shape[:axis], sizes[axis], *spectrum.shape[axis + 1 :]), complex
        )
        np.moveaxis(wider, axis, 0)[places] = np.moveaxis(spectrum, axis, 0)
        spectrum = wider
    return spectrum


def _held(robot: Robot, spectrum: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """Return a spectrum with positions that are single values put in."""
    for axis, link in enumerate(robot.links):
        if link.position.single:
            rows, q = np.moveaxis(spectrum, axis, 0), link.position.low
            size = len(rows)
            harmonics = np.fft.fftfreq(size, 1 / size)
            basis = np.exp(1j * q * harmonics) if link.revolute else q ** np.arange(size)
            spectrum = np.tensordot(basis, rows, 1)[np.newaxis]
            spectrum = np.moveaxis(spectrum, 0, axis)
    return spectrum


def _term(
    robot: Robot, i: int, factor: tuple[Variable, ...], part: tuple[Wave | Monomial, ...]
) -> Term:
    joints = sorted(frozenset[int]().union(*(piece.joints for piece in part)))
    positions = tuple(position(robot, joint) for joint in joints)
    return Term("", i + 1, part, positions, factor)


def _parts(
    robot: Robot, analysis: _Analysis, spectrum: NDArray[np.complex128], form: Form
) -> list[tuple[Wave | Monomial, ...]]:
    """Return the coefficient cut into the pieces that this form makes terms of."""
    if form == "products":
        return [(piece,) for piece in _monomials(analysis, spectrum)]
    waves = _waves(robot, analysis, spectrum)
    return [waves] if form == "grouped" else [(wave,) for wave in waves]


def _kept(analysis: _Analysis, spectrum: NDArray[np.complex128]) -> list[tuple[int, ...]]:
    return [tuple(map(int, index)) for index in np.argwhere(np.abs(spectrum) > analysis.noise)]


def _waves(robot: Robot, analysis: _Analysis, spectrum: NDArray[np.complex128]) -> tuple[Wave, ...]:
    sizes = spectrum.shape
    parts: list[tuple[Exponents, Exponents, complex]] = []
    for index in _kept(analysis, spectrum):
        multiples: list[tuple[int, int]] = []
        powers: list[tuple[int, int]] = []
        for joint, (k, size) in enumerate(zip(index, sizes, strict=True), 1):
            if k and robot.links[joint - 1].revolute:
                multiples.append((joint, k if k <= size // 2 else k - size))
            elif k:
                powers.append((joint, k))
        parts.append((tuple(multiples), tuple(powers), complex(spectrum[index])))
    waves = (_rounded(analysis, wave) for wave in collect(parts))
    return tuple(wave for wave in waves if wave.amplitude)


def _rounded(analysis: _Analysis, wave: Wave) -> Wave:
    # + 0.0 turns a rounded -0.0 into 0.0, so that no text says "-0".
    cosine = round(wave.cosine, analysis.decimals) + 0.0
    sine = round(wave.sine, analysis.decimals) + 0.0
    return Wave(wave.multiples, wave.powers, cosine, sine)


def _monomials(analysis: _Analysis, spectrum: NDArray[np.complex128]) -> Iterator[Monomial]:
    """Yield the spectrum as monomials: per angle 1, cos, sin, cos², cos·sin."""
    rows = spectrum
    for axis, turns in enumerate(analysis.revolute):
        if turns and rows.shape[axis] > 1:
            z = np.moveaxis(rows, axis, 0)
            basis = [z[0], z[1] + z[-1], 1j * (z[1] - z[-1])]
            if len(z) == 5:  # cos 2q = 2 cos² q - 1, sin 2q = 2 cos q sin q
                cos_2q, sin_2q = z[2] + z[-2], 1j * (z[2] - z[-2])
                basis = [basis[0] - cos_2q, *basis[1:], 2 * cos_2q, 2 * sin_2q]
            rows = np.moveaxis(np.stack(basis), 0, axis)
    exponents = ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1))
    for index in _kept(analysis, rows):
        angles = tuple(
            (joint, *exponents[k])
            for joint, k in enumerate(index, 1)
            if k and analysis.revolute[joint - 1]
        )
        powers = tuple(
            (joint, k) for joint, k in enumerate(index, 1) if k and not analysis.revolute[joint - 1]
        )
        yield Monomial(angles, powers, round(float(rows[index].real), analysis.decimals))
