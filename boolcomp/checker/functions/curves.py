"""Functions of sums that are no sums: each is a variable more, and is found again by its argument.

Two arguments that differ by no more than e have values that differ by no more than L·e, where L is
the largest slope between them. Such a difference is a variable, too: a number between -1 and 1.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from flint import acb, arb

from boolcomp.checker.functions.waves import Space, Variable, number, turned
from boolcomp.checker.steps import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.checker.claims.nodes import Operation
    from boolcomp.checker.functions.waves import Sum

SAME = 1e-6  # arguments that differ by more are others
EXACT, TURNING = " ", "~"  # before the name of an angle: as a number, or but for whole turns
RISING = ("exp", "log", "sqrt", "atan", "tanh")


class Functions(Space):
    """Sums over variables, and over functions of them."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        super().__init__(variables)
        self.known: list[tuple[str, Sum, Sum]] = []

    def named(self, name: str, low: arb, high: arb) -> Sum:
        """Return a variable more, between these numbers."""
        if name not in self.variables:
            ends = float(low.lower()) - 1e-12, float(high.upper()) + 1e-12
            if not all(abs(end) < 1e100 for end in ends):
                raise NotCoveredError(f"{name}: it may be any number, as far as is known")
            self.variables[name] = len(self.variables), Variable(name, False, *ends)  # noqa: FBT003
        return self.value(name)

    def angle(self, name: str, mark: str = EXACT) -> Sum:
        """Return an angle as a number, or as one that is known but for whole turns."""
        _, one = self.variables[name]
        return self.named(f"{mark}{name}", arb(one.low), arb(one.high))

    def beside(self, size: arb) -> Sum:
        """Return a number of which nothing but its size is known."""
        name = f"± {len(self.variables)}"
        return number(0) if size == 0 else self.named(name, arb(-1), arb(1)).times(size.upper())

    def apply(self, kind: str, read: Sequence[Sum]) -> Sum:
        """Return what an operation makes of sums."""
        if kind in ("add", "sub", "mul", "neg"):
            one, other = read[0], read[-1]
            return {"add": one + other, "sub": one - other, "neg": -one}.get(kind) or one * other
        if kind == "div":
            return read[0] * self._function("inverse", read[1])
        if kind == "atan2":
            raise NotCoveredError("the angle of a point is no function that the checker knows")
        if kind in ("sin", "cos") and (wave := self._wave(read[0])):
            one, other, away = wave
            found = one + other if kind == "cos" else (other - one).times(acb(0, 1))
            return found.times(0.5) + self.beside(away)
        return self._function(kind, read[0])

    def step(self, step: Operation, values: Sequence[Sum], x: Sum) -> Sum:
        """Return a step of a calculation, after the values of those before it; `x` is its input."""
        if step.kind == "x":
            return x
        if step.kind == "constant":
            return number(step.value)
        return self.apply(step.kind, [values[k] for k in step.operands])

    def _wave(self, x: Sum) -> tuple[Sum, Sum, arb] | None:
        """Return exp(ix) and exp(-ix) of a sum of whole multiples of angles, and how far it is."""
        found, other, away = number(1), number(1), arb(0)
        for key, c in x.parts.items():
            if not key:
                found, other = found.times(turned(c.real)), other.times(turned(-c.real))
                continue
            (one, power), *others = self.exponents(key)
            k = round(float(c.real.mid()))
            size = abs(c - k) * max(abs(one.low), abs(one.high))
            if others or power != 1 or one.name[0] not in EXACT + TURNING or not size < SAME:
                return None
            found, other = found * self.wave(one.name[1:], k), other * self.wave(one.name[1:], -k)
            away += size
        return found, other, away

    def _function(self, kind: str, x: Sum) -> Sum:
        if any(v.name[0] == TURNING for key in x.parts for v, _ in self.exponents(key)):
            raise NotCoveredError(f"{kind} of an angle that is known but for whole turns")
        low, high = self.reached(x)
        if not set(x.parts) - {0}:
            return number(_value(kind, low.union(high)))
        for name, argument, value in self.known:
            away = self.most(x - argument)
            if name == kind and away < SAME:
                return value + self.beside(_slope(kind, low - away, high + away) * away)
        ends = _value(kind, low), _value(kind, high)
        if kind not in RISING:
            ends = (_value(kind, low.union(high)),) * 2
        made = self.named(f"{kind} {len(self.variables)}", *ends)
        self.known.append((kind, x, made))
        return made

    def reached(self, x: Sum) -> tuple[arb, arb]:
        """Return between which numbers a sum lies, product by product."""
        low = high = arb(0)
        for key, c in x.parts.items():
            listed = list(self.exponents(key))
            ends = [-abs(c), abs(c)] if any(one.angle for one, _ in listed) else [c.real]
            for one, k in ((one, k) for one, k in listed if not one.angle):
                powers = [arb(one.low) ** k, arb(one.high) ** k]
                powers += [arb(0)] * (one.low < 0 < one.high)
                found = [a * b for a in ends for b in powers]
                ends = [reduce(arb.min, found), reduce(arb.max, found)]
            low, high = low + ends[0], high + ends[-1]
        return arb(low.lower()), arb(high.upper())


def _value(kind: str, x: arb) -> arb:
    """Return a function's value, for all of a ball."""
    if kind == "inverse":
        found = 1 / x
    elif kind == "abs":
        found = abs(x)
    elif kind in (*RISING, "sin", "cos", "asin", "acos"):
        found = getattr(x, kind)()
    else:
        raise NotCoveredError(f"{kind} is no function that the checker knows")
    if not found.is_finite():
        raise NotCoveredError(f"{kind} of a number that may be anything, as far as is known")
    return found


def _slope(kind: str, low: arb, high: arb) -> arb:
    """Return the largest slope of a function between two numbers."""
    found = arb(1)  # of sin, cos, atan, tanh and abs
    if kind == "exp":
        found = high.exp()
    elif kind in ("log", "sqrt", "inverse", "asin", "acos"):
        near, far = arb(low.union(high).abs_lower()), arb(low.union(high).abs_upper())
        flat = (1 - far * far).sqrt()
        found = 1 / {"log": near, "sqrt": 2 * near.sqrt(), "inverse": near * near}.get(kind, flat)
    if not found.is_finite():
        raise NotCoveredError(f"the slope of {kind} may be anything, as far as is known")
    return found.upper()
