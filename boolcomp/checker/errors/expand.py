"""An output as a polynomial: monomials of linear inputs times waves of the angles.

Waves are kept as Σ c·exp(2πi Σ k·angle), both conjugates. Angles count turns, other inputs cells.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from flint import arb

from boolcomp.checker.claims.nodes import Given
from boolcomp.checker.functions.curves import Functions
from boolcomp.checker.functions.waves import Variable, precise
from boolcomp.checker.problem import Angle, Expansion
from boolcomp.checker.spans import NOTHING, Span, exactly, of_ball, two_pi
from boolcomp.checker.steps import NotCoveredError
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.checker.claims.nodes import Curve, Total
    from boolcomp.checker.claims.stands import Claim
    from boolcomp.checker.functions.waves import Sum

Exponents: TypeAlias = tuple[tuple[str, int], ...]  # (input, how often), sorted; none of 0
Complex: TypeAlias = tuple[Span, Span]
Series: TypeAlias = dict[Exponents, Complex]  # by multiples of angles
Poly: TypeAlias = dict[Exponents, Series]  # by powers of linear inputs


class InCells(Expansion):
    """The same as for the section `sketch`, of inputs as words count them; curves are refused."""

    def given(self, node: Given) -> Sum | Angle:
        """Return an input as its words count it."""
        return Angle({node.name: 1}, arb(0)) if node.angle else self.space.value(node.name)

    def curve(self, node: Curve) -> Sum:
        """Refuse a curve."""
        raise NotCoveredError(f"an output holds a curve of s{node.source}")

    def turning(self, found: Sum, node: Total) -> Angle:
        """Refuse a sum that counts parts of a turn."""
        del found, node
        raise NotCoveredError("an output holds an angle that is a sum of numbers")


def expanded(claim: Claim, place: int) -> Poly:
    """Return a function that is no angle as a polynomial."""
    given = [one for one in claim.functions if isinstance(one, Given)]
    space = Functions([Variable(one.name, one.angle, 0.0, 0.0) for one in given])
    total: Poly = {}
    try:
        with precise():
            nodes = {k: claim.functions[k] for k in claim.needed(place)}
            for key, c in InCells(nodes, {}, space).sums[place].parts.items():
                listed = sorted((one.angle, one.name, k) for one, k in space.exponents(key))
                powers = tuple((name, k) for angle, name, k in listed if not angle)
                turned = tuple((name, k) for angle, name, k in listed if angle)
                total.setdefault(powers, {})[turned] = of_ball(c.real), of_ball(c.imag)
    except DataError as error:  # too large
        raise NotCoveredError(str(error)) from error
    return total


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
