"""Functions over an interval around every word: their values at both ends, and how they bend.

A function lies within the chord between two places, but for its largest second derivative times an
eighth of their squared distance.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.checker.claims.nodes import Curve, Powers, Waves
from boolcomp.checker.spans import (
    NOTHING,
    ONE,
    PLACES,
    Span,
    balls,
    exactly,
    of_ball,
    two_pi,
    waves_at,
)
from boolcomp.checker.steps import DoesNotHoldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flint import arb

MONOTONE = ("exp", "atan", "tanh", "sqrt", "log", "asin", "acos")
DOMAIN = {"sqrt": (0.0, math.inf), "log": (0.0, math.inf), "asin": (-1.0, 1.0),
          "acos": (-1.0, 1.0)}  # fmt: skip


def near_words(function: Waves | Powers | Curve, x: Span, exact: Span) -> Span:
    """Return a function over every interval of arrays; what x may be as a whole lies in `exact`.

    An angle is in turns, and may be whole turns more.
    """
    if isinstance(function, Waves):
        return waves_near(function, x)
    if isinstance(function, Powers):
        return _powers_near(function, x)
    found = [_curve_near(function, low, high, exact) for low, high in zip(x.low, x.high,
             strict=True)]  # fmt: skip
    return Span(
        *(np.array([getattr(one, end) for one in found], object) for end in ("low", "high"))
    )


def waves_near(function: Waves, x: Span) -> Span:
    """Return waves over every interval of an angle."""
    tall = bends = still = NOTHING
    parts = [(k, exactly(real), exactly(imaginary)) for k, real, imaginary in function.parts]
    for k, a, b in parts:
        size = Span(0, math.isqrt(a.size**2 + b.size**2) + 1)
        tall, still = (tall + size, still) if k else (tall, still + a)
        bends = bends + size * (two_pi() * two_pi()).times(Fraction(k * k))
    found = _within(waves_at(parts, x.low), waves_at(parts, x.high), bends, x)
    return found.meet(still + tall.around)


def _within(one: Span, two: Span, bends: Span, x: Span) -> Span:
    wide = Span(x.high - x.low, x.high - x.low)
    beside = (bends.around * wide * wide).times(Fraction(1, 8))
    return one.join(two) + beside


def _powers_near(function: Powers, x: Span) -> Span:
    c = [exactly(each) for each in function.coefficients]
    bends = _horner([each.times(Fraction(k * (k - 1))) for k, each in enumerate(c)][2:], x.hull)
    one, two = (_horner(c, Span(end, end)) for end in (x.low, x.high))
    return _within(one, two, bends, x)


def _horner(coefficients: Sequence[Span], x: Span) -> Span:
    total = Span(x.low * 0, x.high * 0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def _curve_near(curve: Curve, low: int, high: int, exact: Span) -> Span:
    """Return a curve over an interval; of an angle, over those whole turns away that may be."""
    if not curve.angle:
        return _curve(curve, Span(low, high))
    found = None
    for turn in range(-((high - exact.low) // ONE), (exact.high - low) // ONE + 1):
        here = Span(max(low + turn * ONE, exact.low), min(high + turn * ONE, exact.high))
        if here.low <= here.high:
            value = _curve(curve, here)
            found = found.join(value) if found else value
    return found or _curve(curve, Span(low, high))


def _curve(curve: Curve, x: Span) -> Span:
    arb = balls()
    place = [arb(end) * arb(2) ** -PLACES for end in (x.low, x.high)]
    inside = place[0].union(place[1])
    if curve.angle:
        inside = inside * 2 * arb.pi()
    inside = inside * arb(curve.unit) + arb(curve.middle)
    inside = inside.max(arb(curve.low)).min(arb(curve.high))
    return of_ball(_evaluated(curve, inside) * arb(curve.factor))


def _evaluated(curve: Curve, x: arb) -> arb:
    values: list[arb] = []
    for step in curve.steps:
        if step.kind == "constant":
            values.append(balls()(step.value))
        elif step.kind == "x":
            values.append(x)
        else:
            values.append(_operation(step.kind, step.operands, [values[k] for k in step.operands]))
    return values[-1]


def _operation(name: str, places: Sequence[int], read: Sequence[arb]) -> arb:
    a, arb = read[0], balls()
    if name in MONOTONE:
        ends = [a.lower(), a.upper()]
        least, largest = DOMAIN.get(name, (-math.inf, math.inf))  # rounding may put it beside
        ends = [end.max(arb(least)).min(arb(largest)) for end in ends]
        return _ends(*(getattr(end, name)() for end in ends))
    if name == "mul" and places[0] == places[1]:
        size = abs(a)
        return _ends(size.lower().max(arb(0)) ** 2, size.upper() ** 2)
    if name in ("sign", "step"):
        least = -1 if name == "sign" else 0
        low = 1 if a.lower() > 0 else 0 if a.lower() >= 0 else least
        return _ends(arb(low), arb(1 if a.upper() > 0 else 0 if a.upper() >= 0 else least))
    if name == "wrap":
        turns = (a / (2 * arb.pi()) + arb(0.5)).floor()
        return a - 2 * arb.pi() * turns if turns.is_exact() else _ends(-arb.pi(), arb.pi())
    simple: dict[str, Any] = {
        "add": lambda: a + read[1], "sub": lambda: a - read[1], "mul": lambda: a * read[1],
        "div": lambda: a / read[1], "neg": lambda: -a, "sin": a.sin, "cos": a.cos,
        "abs": lambda: abs(a),
        "atan2": lambda: arb.atan2(a, read[1]),
    }  # fmt: skip
    if name not in simple:
        raise DoesNotHoldError(f"a function has a step {name!r}, which is not known")
    return simple[name]()  # type: ignore[no-any-return]  # one of the above


def _ends(low: arb, high: arb) -> arb:
    return low.union(high)
