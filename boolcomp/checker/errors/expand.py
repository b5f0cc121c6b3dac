"""An output as a polynomial: monomials of linear inputs times waves of the angles.

Waves are kept as Σ c·exp(2πi Σ k·angle), both conjugates: a product is a product term by term.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.checker.claims.nodes import Curve, Given, Powers, Turns, Waves
from boolcomp.checker.spans import NOTHING, Span, exactly, two_pi
from boolcomp.checker.steps import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.checker.claims.stands import Claim

Exponents: TypeAlias = tuple[tuple[str, int], ...]  # (input, how often), sorted; none of 0
Complex: TypeAlias = tuple[Span, Span]
Series: TypeAlias = dict[Exponents, Complex]  # by multiples of angles
Poly: TypeAlias = dict[Exponents, Series]  # by powers of linear inputs

MOST = 200_000  # products of two terms
NUMBER: Complex = (exactly(1), NOTHING)


def expanded(claim: Claim, place: int) -> Poly:
    """Return a function that is no angle as a polynomial."""
    function = claim.functions[place]
    total: Poly = {}
    if isinstance(function, Given) and not function.angle:
        return {((function.name, 1),): {(): NUMBER}}
    if isinstance(function, Waves):
        _add_waves(total, function, angles(claim, function.source))
    elif isinstance(function, Powers):
        for each in reversed(function.coefficients):
            total = product(total, expanded(claim, function.source))
            _add(total, (), (), (exactly(each), NOTHING))
    elif isinstance(function, Curve | Given | Turns) or function.turning:
        raise NotCoveredError
    else:
        _add(total, (), (), (exactly(function.constant), NOTHING))
        for factor, read in function.addends:
            part: Poly = {(): {(): (exactly(factor), NOTHING)}}
            for one in read:
                part = product(part, expanded(claim, one))
            for powers, series in part.items():
                for turned, c in series.items():
                    _add(total, powers, turned, c)
    return total


def _add_waves(total: Poly, waves: Waves, angle: Exponents) -> None:
    for k, real, imaginary in waves.parts:
        a, b = (exactly(part).times(Fraction(1, 2)) for part in (real, imaginary))
        _add(total, (), _sum((), tuple((name, k * n) for name, n in angle)), (a, b))
        _add(total, (), _sum((), tuple((name, -k * n) for name, n in angle)), (a, -b))


def angles(claim: Claim, place: int) -> Exponents:
    """Return how often an angle holds each of the inputs."""
    function = claim.functions[place]
    if isinstance(function, Given):
        return ((function.name, 1),)
    if not isinstance(function, Turns):
        raise NotCoveredError
    total: Exponents = ()
    for multiple, item in function.items:
        total = _sum(total, tuple((name, multiple * k) for name, k in angles(claim, item)))
    return total


def product(one: Poly, two: Poly) -> Poly:
    """Return a product."""
    if sum(map(len, one.values())) * sum(map(len, two.values())) > MOST:
        raise NotCoveredError
    total: Poly = {}
    for left, series in one.items():
        for right, others in two.items():
            powers = _sum(left, right)
            for turned, (a, b) in series.items():
                for other, (c, d) in others.items():
                    _add(total, powers, _sum(turned, other), (a * c - b * d, a * d + b * c))
    return total


def _sum(one: Exponents, two: Exponents) -> Exponents:
    total = dict(one)
    for name, k in two:
        total[name] = total.get(name, 0) + k
    return tuple(sorted((name, k) for name, k in total.items() if k))


def _add(total: Poly, powers: Exponents, turned: Exponents, c: Complex) -> None:
    series = total.setdefault(powers, {})
    old = series.get(turned, (NOTHING, NOTHING))
    series[turned] = old[0] + c[0], old[1] + c[1]


def slope(
    poly: Mapping[Exponents, Series], name: str, times: int, reach: Mapping[str, Span]
) -> Span:
    """Return what no derivative of this order by an input exceeds, where inputs are in reach."""
    total = NOTHING
    for powers, series in poly.items():
        for turned, (a, b) in series.items():
            size, often = a.around + b.around, dict(powers).get(name, 0)
            k = abs(dict(turned).get(name, 0))
            for one in range(times):
                size = size * (two_pi().times(Fraction(k)) if k else exactly(max(0, often - one)))
            for other, degree in powers:
                for _ in range(degree if other != name or k else max(0, degree - times)):
                    size = size * reach[other].around
            total = total + size.around
    return total
