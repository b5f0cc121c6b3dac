"""Tables of functions that are no waves: between which numbers they are near every word.

Each step of the calculation is enclosed by balls; what rises is known by its ends.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError
from boolcomp.proof.bound.enclosure import ZERO, Enclosure, exactly, of_ball
from boolcomp.proof.bound.known import NONE, Error, Known
from boolcomp.proof.bound.waves import ball, precise

if TYPE_CHECKING:
    from collections.abc import Callable

    from flint import arb

    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.proof.bound.meaning import CurveTable
    from boolcomp.proof.bound.tables import Read
    from boolcomp.proof.bound.waves import Sampled

RISING = ("exp", "atan", "tanh")
WITHIN = {"sqrt": (0, None), "log": (0, None), "asin": (-1, 1), "acos": (-1, 1)}


def curve_known(
    table: CurveTable, source: Known, read: Read | None, found: Sampled | None
) -> Known:
    """Return what is known of a curve; `found` is what its words say at all words that it reads."""
    if read is None or found is None:
        whole = curve_within(table, source.exact - source.inputs)
        return Known(whole, whole, NONE, whole - whole)
    error, beside = source.error.total, source.error.total + source.inputs
    missed, passed, inputs, exact = [], [], [], []
    ends = table.low, table.high
    values = _values_of(table.function, table.unit, table.middle, table.factor, ends, table.angle)

    def within(x: Enclosure) -> Enclosure:
        if x not in values:
            values[x] = curve_within(table, x)
        return values[x]

    for word, said in zip(read.words.tolist(), found.values, strict=True):
        at = exactly(read.line.value(word))
        here = within(at)
        moved = within(at - error) if error != ZERO else here
        near = within(at - beside)
        missed.append(Enclosure(said, said + found.slack) - here)
        passed.append(here - moved if error != ZERO else ZERO)
        inputs.append(here - near if error == ZERO else moved - near)
        exact.append(moved)
    errors = Error(_all(missed), _all(passed))
    return Known(_all(exact), found.hull, errors, _all(inputs)).tightened()


@lru_cache(maxsize=4)
def _values_of(*curve: object) -> dict[Enclosure, Enclosure]:
    """Return the enclosures of a curve found so far; several bounds of a search need the same."""
    del curve
    return {}


def _all(found: list[Enclosure]) -> Enclosure:
    return Enclosure(min(one.low for one in found), max(one.high for one in found))


def curve_within(table: CurveTable, x: Enclosure) -> Enclosure:
    """Return what a curve is for all x of an enclosure."""
    place = ball(x)
    if table.angle:
        place = place * 2 * precise().pi()
    place = place * table.unit + table.middle
    low, high = place.lower(), place.upper()
    if low < table.low:
        low = precise()(table.low)
    if low > table.high:
        low = precise()(table.high)
    high = max(low, high)
    if high > table.high:
        high = max(low, precise()(table.high))
    inside = _hull(low, high)
    value = evaluated(table.function, inside) * table.factor
    if not value.is_finite():
        raise DataError("a curve has no bound where its function has none: x / x, say, about 0")
    return of_ball(value)


def _hull(low: arb, high: arb) -> arb:
    return low.union(high)


def evaluated(function: Straight, x: arb) -> arb:
    """Return what a function of one input is for all of a ball."""
    values: list[arb] = []
    for node in function.nodes:
        if node.kind == "input":
            values.append(x)
        elif node.kind == "constant":
            values.append(precise()(node.value))
        else:
            values.append(_step(node.kind, [values[k] for k in node.operands], node.operands))
    return values[function.outputs[0].node]


def _step(kind: str, read: list[arb], places: tuple[int, ...]) -> arb:
    a = read[0]
    if kind in _ARITHMETIC:
        if kind == "mul" and places[0] == places[1]:
            size = abs(a)
            return (
                _hull((size * size).lower(), (size * size).upper())
                if size.lower() > 0
                else (_hull(precise()(0), (size.upper() * size.upper()).upper()))
            )
        return _ARITHMETIC[kind](a, read[1])
    if kind in RISING:
        return _hull(getattr(a.lower(), kind)(), getattr(a.upper(), kind)())
    if kind in WITHIN:
        least, most = WITHIN[kind]
        low, high = a.lower(), a.upper()
        low = low if least is None or low > least else precise()(least)
        high = high if most is None or high < most else precise()(most)
        high = max(low, high)
        return _hull(getattr(low, kind)(), getattr(high, kind)())
    return _OTHERS[kind](*read)


_ARITHMETIC: dict[str, Callable[[arb, arb], arb]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


def _sign(a: arb) -> arb:
    low = 1 if a.lower() > 0 else 0 if a.lower() >= 0 else -1
    high = -1 if a.upper() < 0 else 0 if a.upper() <= 0 else 1
    return _hull(precise()(low), precise()(high))


def _positive(a: arb) -> arb:
    return _hull(precise()(1 if a.lower() > 0 else 0), precise()(0 if a.upper() <= 0 else 1))


def _wrapped(a: arb) -> arb:
    pi = precise().pi()
    turns = (a / (2 * pi) + precise()(0.5)).floor()
    if turns.is_exact():
        return a - 2 * pi * turns
    return _hull((-pi).lower(), pi.upper())


_OTHERS: dict[str, Callable[..., arb]] = {
    "neg": lambda a: -a,
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
    "abs": abs,
    "atan2": lambda a, b: precise().atan2(a, b),
    "sign": _sign,
    "step": _positive,
    "wrap": _wrapped,
}
